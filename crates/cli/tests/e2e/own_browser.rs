//! A person's own browser with the extension in it, and the daemon it is paired with.

use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use tabmux_testkit::{Chromium, FixtureServer, McpClient, Response, patiently, process};
use tempfile::TempDir;

/// The daemon, the extension's folder, pages, and a browser once it is opened. Dropping it ends everything.
pub(crate) struct OwnBrowser {
    pub(crate) pages: FixtureServer,
    pub(crate) chromium: Chromium,
    daemon: Option<Child>,
    port: u16,
    home: TempDir,
}

impl OwnBrowser {
    /// A browser with the extension, connected. `None` if tests with a real browser are off.
    pub(crate) async fn open() -> Option<Self> {
        let executable = tabmux_testkit::real_browser()?;
        let home = TempDir::with_prefix("tabmux-own-").unwrap();
        let port = free_port();
        let install = tabmux(&home, port)
            .args(["extension", "install", "--wait=0", "--name=Work"])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&install.stdout).into_owned();
        assert!(
            install.status.success() && said.contains("Load unpacked"),
            "{said}"
        );
        let folder = home.path().join(".local/share/tabmux/extension");
        assert!(said.contains(&folder.display().to_string()), "{said}");
        let pages = FixtureServer::start();
        pages.route(
            "/mine",
            Response::html("<title>Mine</title><p>Private.</p>"),
        );
        pages.route(
            "/form",
            Response::html(
                "<title>Form</title><button onclick='out.textContent=\"pressed \"+event.isTrusted'>Press</button>\
                 <output id=out></output>",
            ),
        );
        let load = format!("--load-extension={}", folder.display());
        let daemon = run_daemon(&home, port);
        let own = Self {
            chromium: Chromium::start_with(&executable, &[&load]),
            pages,
            daemon: Some(daemon),
            port,
            home,
        };
        own.until_connected(true).await;
        Some(own)
    }

    /// Waits until the daemon says that an extension is connected, or that none is.
    pub(crate) async fn until_connected(&self, wanted: bool) {
        let asking = async {
            while self.status()["connected"] != wanted {
                tokio::task::yield_now().await;
            }
        };
        patiently(asking, || format!("connected: {wanted}, {}", self.log())).await;
    }

    /// The output of `tabmux extension status`.
    pub(crate) fn status(&self) -> Value {
        let output = self
            .tabmux(&["extension", "status", "--json"])
            .output()
            .unwrap();
        serde_json::from_slice(&output.stdout).unwrap_or(json!({}))
    }

    /// How many sessions the daemon has.
    pub(crate) fn sessions(&self) -> usize {
        let output = self.tabmux(&["sessions", "--json"]).output().unwrap();
        let sessions: Value = serde_json::from_slice(&output.stdout).unwrap_or(json!([]));
        sessions.as_array().map_or(0, Vec::len)
    }

    /// Kills the daemon with SIGKILL.
    pub(crate) fn kill_daemon(&mut self) {
        if let Some(mut daemon) = self.daemon.take() {
            process::kill_hard(daemon.id());
            let _ = daemon.wait();
        }
    }

    /// Stops the daemon with `tabmux daemon stop`.
    pub(crate) fn stop_daemon(&mut self) {
        let stopped = self.tabmux(&["daemon", "stop"]).status().unwrap();
        assert!(stopped.success());
        if let Some(mut daemon) = self.daemon.take() {
            let _ = daemon.wait();
        }
    }

    pub(crate) fn start_daemon(&mut self) {
        self.daemon = Some(run_daemon(&self.home, self.port));
    }

    /// An agent that works in this browser, after its handshake.
    pub(crate) async fn agent(&self, flags: &[&str]) -> McpClient {
        let mut command = self.tabmux(&["mcp"]);
        command.args(flags);
        let client = McpClient::spawn(command);
        client.initialize().await;
        client
    }

    /// An agent with a name and a fixed list.
    pub(crate) async fn agent_named(&self, name: &str, flags: &[&str]) -> McpClient {
        let mut command = self.tabmux(&["mcp", "--extension", "--tools=static"]);
        command.args(flags);
        let client = McpClient::spawn(command);
        client.initialize_named(name).await;
        client
    }

    /// The program, with the environment of this daemon.
    pub(crate) fn tabmux(&self, arguments: &[&str]) -> Command {
        let mut command = tabmux(&self.home, self.port);
        command.args(arguments);
        command
    }

    /// The daemon's log.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.home.path().join("daemon.log")).unwrap_or_default()
    }
}

impl Drop for OwnBrowser {
    fn drop(&mut self) {
        self.kill_daemon();
        let mark = self.home.path().display().to_string();
        for process in process::processes_with(&mark) {
            process::kill_hard(process.pid);
        }
    }
}

fn tabmux(home: &TempDir, port: u16) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tabmux"));
    command
        .env("TABMUX_SOCKET", home.path().join("run/daemon.sock"))
        .env("TABMUX_PORT", port.to_string())
        .env("HOME", home.path())
        .env("TMPDIR", home.path());
    for name in ["XDG_RUNTIME_DIR", "XDG_DATA_HOME", "DISPLAY", "TABMUX_LOG"] {
        command.env_remove(name);
    }
    command
}

fn run_daemon(home: &TempDir, port: u16) -> Child {
    let log: PathBuf = home.path().join("daemon.log");
    let mut command = tabmux(home, port);
    command
        .args(["daemon", "run", "--idle=0", "--logFile"])
        .arg(log);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.spawn().unwrap()
}

/// A free port.
fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}
