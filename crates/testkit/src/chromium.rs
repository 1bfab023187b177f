//! A Chromium with remote debugging, ended with its handle.

use crate::{PATIENCE, process};
use std::{
    io::{BufRead as _, BufReader},
    os::unix::process::CommandExt as _,
    path::Path,
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
};
use tempfile::TempDir;

/// A headless Chromium with its own profile and a debugging port on loopback: for the code under test, it is a
/// browser that tabmux did not launch. Killed, with its children, when dropped.
#[derive(Debug)]
pub struct Chromium {
    child: Child,
    websocket: String,
    profile: TempDir,
}

impl Chromium {
    /// Starts one and waits until it can be connected to.
    pub fn start(executable: &Path) -> Self {
        Self::start_with(executable, &[])
    }

    /// Starts one with more arguments.
    pub fn start_with(executable: &Path, arguments: &[&str]) -> Self {
        Self::start_on(executable, 0, arguments)
    }

    /// Starts one at this port, such as that of one that has ended.
    pub fn start_at(executable: &Path, port: u16) -> Self {
        Self::start_on(executable, port, &[])
    }

    fn start_on(executable: &Path, port: u16, arguments: &[&str]) -> Self {
        let profile = TempDir::with_prefix("tabmux-test-profile-").expect("a temporary folder");
        let mut command = Command::new(executable);
        command
            .args(QUIET_ARGUMENTS)
            .arg("--headless")
            .arg(format!("--remote-debugging-port={port}"))
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .args(arguments)
            .arg("about:blank")
            // When killed, it cannot remove the folder of its lock.
            .env("TMPDIR", profile.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .process_group(0);
        let mut child = command
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
        let websocket = websocket_address(&mut child);
        // It prints its address before it writes the file, and writes the file only for a port that it chose itself.
        while port == 0 && !profile.path().join("DevToolsActivePort").exists() {
            assert!(
                matches!(child.try_wait(), Ok(None)),
                "the browser has ended"
            );
            thread::yield_now();
        }
        Self {
            child,
            websocket,
            profile,
        }
    }

    /// The browser's websocket, e.g. `ws://127.0.0.1:40001/devtools/browser/…`.
    pub fn websocket_url(&self) -> &str {
        &self.websocket
    }

    /// Its debugging address, e.g. `http://127.0.0.1:40001`.
    pub fn http_url(&self) -> String {
        let host = self.websocket.trim_start_matches("ws://");
        let host = host.split('/').next().unwrap_or_default();
        format!("http://{host}")
    }

    /// The port of its debugging address.
    pub fn port(&self) -> u16 {
        let url = self.http_url();
        let port = url.rsplit(':').next().and_then(|port| port.parse().ok());
        port.unwrap_or_else(|| panic!("no port in {url}"))
    }

    /// Its main process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Its profile folder.
    pub fn profile(&self) -> &Path {
        self.profile.path()
    }

    /// Kills it, as a crash would.
    pub fn kill(&mut self) {
        process::kill_group_hard(self.child.id());
        let _ = self.child.wait();
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Arguments for a Chromium that makes no background connections.
pub const QUIET_ARGUMENTS: [&str; 7] = [
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
    "--no-default-browser-check",
];

fn websocket_address(child: &mut Child) -> String {
    let stderr = child.stderr.take().expect("stderr is piped");
    let (found, address) = mpsc::channel();
    // The thread reads to the end, so that the browser never blocks on a full pipe.
    thread::spawn(move || {
        let mut said = String::new();
        for line in BufReader::new(stderr).lines().map_while(Result::ok) {
            if let Some(address) = line.strip_prefix("DevTools listening on ") {
                let _ = found.send(Ok(address.trim().to_owned()));
            }
            if said.len() < 10_000 {
                said += &line;
                said.push('\n');
            }
        }
        let _ = found.send(Err(said));
    });
    match address.recv_timeout(PATIENCE) {
        Ok(Ok(address)) => address,
        Ok(Err(said)) => panic!("the browser ended at once: {said}"),
        Err(_) => panic!("the browser did not open its debugging port within {PATIENCE:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_browser_leaves_nothing_behind() {
        let Some(executable) = crate::real_browser() else {
            return;
        };
        let browser = Chromium::start(&executable);
        assert!(browser.websocket_url().starts_with("ws://127.0.0.1:"));
        assert!(browser.http_url().starts_with("http://127.0.0.1:"));
        let profile = browser.profile().display().to_string();
        let lock = browser.profile().join("SingletonSocket");
        let lock = std::fs::read_link(lock).expect("a browser locks its profile");
        assert!(lock.starts_with(&profile), "{lock:?}");
        assert!(!process::processes_with(&profile).is_empty());
        drop(browser);
        process::wait_until_none_with(&profile).await;
    }
}
