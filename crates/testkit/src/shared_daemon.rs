//! A complete tabmux in its own home folder: one daemon, one launched browser, and a client for each session.

use crate::{FixtureServer, McpClient, PATIENCE, panics_in, process};
use serde_json::Value;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use tokio::process::Command;

/// A daemon, its browser and its clients. All of it ends with this value.
#[derive(Debug)]
pub struct SharedDaemon {
    /// Pages for the tests.
    pub pages: FixtureServer,
    binary: PathBuf,
    browser: PathBuf,
    home: TempDir,
    variables: Vec<(&'static str, String)>,
}

impl SharedDaemon {
    /// A home without a running daemon: the first client starts it.
    pub fn new(binary: &Path, browser: &Path) -> Self {
        let home = TempDir::with_prefix("tabmux-shared-").expect("a temporary folder");
        std::fs::create_dir(home.path().join("work")).expect("a folder to work in");
        Self {
            pages: FixtureServer::start(),
            binary: binary.to_owned(),
            browser: browser.to_owned(),
            home,
            variables: Vec::new(),
        }
    }

    /// Adds a variable to the environment of everything that is started here.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.variables.push((name, value.into()));
        self
    }

    /// A new client, after its handshake, in the shared browser.
    pub async fn client(&self) -> McpClient {
        let client = McpClient::spawn(self.mcp());
        client.initialize().await;
        client
    }

    /// The command of a new client.
    pub fn mcp(&self) -> Command {
        let mut command = self.tabmux();
        command.args([
            "mcp",
            "--tools=static",
            "--headless",
            "--chromeArg=--disable-quic",
            "--confirm=never",
            "--categoryStorage",
        ]);
        command.arg(format!("--executablePath={}", self.browser.display()));
        let profile = self.home.path().join("profile");
        command.arg(format!("--userDataDir={}", profile.display()));
        command
    }

    /// The working folder of the clients.
    pub fn work(&self) -> PathBuf {
        self.home.path().join("work")
    }

    /// The home folder. All processes of this daemon have it in their command line, and all files are below it.
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// The daemon's process, if there is one. Does not ask the daemon, which may hang.
    pub fn pid(&self) -> Option<u32> {
        let all = process::processes_with(&self.home.path().display().to_string());
        let daemon = all.iter().find(|one| one.command.contains(" daemon run "));
        daemon.map(|one| one.pid)
    }

    /// The browser's process, if there is one.
    pub fn browser_pid(&self) -> Option<u32> {
        let children = process::descendants(self.pid()?);
        let browser = children
            .iter()
            .find(|one| one.command.contains("--remote-debugging-pipe"));
        browser.map(|one| one.pid)
    }

    /// The daemon's loopback port.
    pub async fn port(&self) -> u16 {
        let status = self.status().await;
        let status = status.expect("the daemon answers");
        let port = status["port"]
            .as_u64()
            .and_then(|port| port.try_into().ok());
        port.unwrap_or_else(|| panic!("no port in {status}"))
    }

    /// The output of `tabmux status`; `None` without a response.
    pub async fn status(&self) -> Option<Value> {
        let mut command = self.tabmux();
        command.args(["status", "--json"]).kill_on_drop(true);
        let output = tokio::time::timeout(PATIENCE, command.output()).await;
        serde_json::from_slice(&output.ok()?.ok()?.stdout).ok()
    }

    /// The panics of the daemon and its clients so far, from the daemon's log.
    pub fn panics(&self) -> Vec<String> {
        panics_in(&self.home.path().join("run/daemon.log"))
    }

    /// How much disk space the files below the home use, without the browser's profile.
    pub(crate) fn disk_bytes(&self) -> u64 {
        let mut folders = vec![self.home.path().to_owned()];
        let mut bytes = 0;
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                match entry.metadata() {
                    Ok(about) if about.is_dir() && entry.file_name() != "profile" => {
                        folders.push(entry.path());
                    }
                    Ok(about) if about.is_file() => bytes += about.len(),
                    _ => {}
                }
            }
        }
        bytes
    }

    /// The program itself, configured for this daemon. It may open 1,024 files unless it raises the limit, as on most
    /// machines.
    fn tabmux(&self) -> Command {
        let home = self.home.path();
        let mut command = Command::new("sh");
        command
            .args(["-c", "ulimit -Sn 1024; exec \"$0\" \"$@\""])
            .arg(&self.binary)
            .current_dir(home.join("work"))
            .env("TABMUX_SOCKET", home.join("run/daemon.sock"))
            .env("TABMUX_PORT", "0")
            .env("HOME", home)
            .env("TMPDIR", home);
        for name in [
            "XDG_RUNTIME_DIR",
            "XDG_DATA_HOME",
            "XDG_CONFIG_HOME",
            "XDG_CACHE_HOME",
            "DISPLAY",
            "WAYLAND_DISPLAY",
            "TABMUX_LOG",
        ] {
            command.env_remove(name);
        }
        for (name, value) in &self.variables {
            command.env(name, value);
        }
        command
    }
}

impl Drop for SharedDaemon {
    fn drop(&mut self) {
        for one in process::processes_with(&self.home.path().display().to_string()) {
            process::kill_hard(one.pid);
        }
    }
}
