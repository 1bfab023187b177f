//! What people see, kept as pictures in letters: `snapshots/` holds every screen at the width of a
//! file and at 60 columns. `INSTA_UPDATE=always` keeps the new ones; read their diff.

use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tabmux_testkit::{FixtureServer, McpClient, Response, patiently, process};
use tempfile::TempDir;

#[test]
fn status_without_a_daemon() {
    let house = EmptyHome::new();
    is_as_kept("status-no-daemon", &house.screens(&["status"]));
}

#[tokio::test]
async fn status_of_an_idle_daemon() {
    let house = EmptyHome::new();
    let mut daemon = house.daemon().await;
    is_as_kept("status-idle", &house.screens(&["status"]));
    daemon.kill().unwrap();
    daemon.wait().unwrap();
}

#[tokio::test]
async fn status_of_a_daemon_with_two_sessions() {
    let Some(browser) = tabmux_testkit::real_browser() else {
        return;
    };
    let house = EmptyHome::new();
    let pages = FixtureServer::start();
    let title = "A page whose title is longer than any column of a table should be";
    let body = format!("<!doctype html><title>{title}</title>");
    pages.route("/long", Response::html(body));
    let mut clients = Vec::new();
    for _ in 0..2 {
        let client = house.client(&browser).await;
        let to = json!({"url": pages.url("long")});
        client.call_tool("navigate_page", to).await.ok();
        clients.push(client);
    }
    let screens = ["status", "tabs", "sessions"].map(|what| house.screens(&[what]));
    is_as_kept("status-busy", &screens.join("\n"));
    drop(clients);
    house.tabmux(&["daemon", "stop"], None);
    process::wait_until_none_with(&house.mark()).await;
}

#[test]
fn doctor_of_a_new_user() {
    let house = EmptyHome::new();
    is_as_kept("doctor-new-user", &house.screens(&["doctor"]));
}

#[test]
fn doctor_of_somebody_in_trouble() {
    let house = EmptyHome::new();
    let folder = house.home.path().join("run/tabmux");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("daemon.sock"), "").unwrap();
    fs::create_dir(folder.join("daemon.log")).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
    let screens = house.screens(&["doctor", "--executablePath=/nowhere/chrome"]);
    is_as_kept("doctor-trouble", &screens);
}

#[test]
fn install_as_a_dry_run_for_every_client() {
    let house = EmptyHome::new();
    let clients = [
        "claude-code",
        "claude-desktop",
        "cursor",
        "vscode",
        "codex",
        "gemini",
        "windsurf",
    ];
    let screens = clients.map(|client| house.screens(&["install", client, "--dry-run"]));
    is_as_kept("install-dry-run", &screens.join("\n"));
}

/// A home in which nothing is known yet, with a browser that only knows its version.
struct EmptyHome {
    home: TempDir,
}

impl EmptyHome {
    fn new() -> Self {
        // Lines break where they do because of how long this path is, so it is always as long.
        let home = TempDir::with_prefix_in("tabmux-screens-", "/tmp").unwrap();
        fs::create_dir(home.path().join("run")).unwrap();
        let browser = home.path().join("browser");
        fs::write(&browser, "#!/bin/sh\necho Chromium 150.0.1\n").unwrap();
        fs::set_permissions(&browser, fs::Permissions::from_mode(0o755)).unwrap();
        Self { home }
    }

    /// What a command prints, as wide as it likes and at 60 columns.
    fn screens(&self, arguments: &[&str]) -> String {
        let line = arguments.join(" ");
        let wide = self.tabmux(arguments, None);
        let narrow = self.tabmux(arguments, Some("60"));
        format!("$ tabmux {line}\n{wide}\n$ COLUMNS=60 tabmux {line}\n{narrow}")
    }

    fn tabmux(&self, arguments: &[&str], columns: Option<&str>) -> String {
        let mut command = self.command();
        command.args(arguments);
        let columns = columns.map(|columns| ("COLUMNS", columns));
        let output = command.envs(columns).output().unwrap();
        assert!(output.stderr.is_empty(), "{output:?}");
        self.normal(&String::from_utf8_lossy(&output.stdout))
    }

    fn command(&self) -> Command {
        let home = self.home.path();
        let mut command = Command::new(env!("CARGO_BIN_EXE_tabmux"));
        command
            .env_clear()
            .current_dir(home)
            .env("HOME", home)
            .env("TMPDIR", home)
            .env("TABMUX_PORT", "0")
            .env("PATH", "/usr/bin:/bin")
            .env("XDG_RUNTIME_DIR", home.join("run"))
            .env("XDG_DATA_HOME", home.join("data"))
            .env("CHROME_PATH", home.join("browser"));
        command
    }

    /// A daemon that listens.
    async fn daemon(&self) -> std::process::Child {
        let mut command = self.command();
        command.args(["daemon", "run"]).stderr(Stdio::null());
        let daemon = command.spawn().unwrap();
        let socket = self.home.path().join("run/tabmux/daemon.sock");
        let listening = async {
            while !is_served(&socket) {
                tokio::task::yield_now().await;
            }
        };
        patiently(listening, || "a daemon that listens".into()).await;
        daemon
    }

    async fn client(&self, browser: &Path) -> McpClient {
        let mut command = self.command();
        let profile = self.home.path().join("profile");
        command.args(["mcp", "--tools=static", "--headless"]);
        command.arg(format!("--executablePath={}", browser.display()));
        command.arg(format!("--userDataDir={}", profile.display()));
        let client = McpClient::spawn(command);
        client.initialize().await;
        client
    }

    fn mark(&self) -> String {
        self.home.path().display().to_string()
    }

    /// The same on every machine, for every user.
    fn normal(&self, text: &str) -> String {
        let text = text
            .replace(&self.mark(), "HOME")
            .replace(env!("CARGO_BIN_EXE_tabmux"), "TABMUX");
        without_user(&text)
    }
}

impl Drop for EmptyHome {
    fn drop(&mut self) {
        for one in process::processes_with(&self.mark()) {
            process::kill_hard(one.pid);
        }
    }
}

fn is_served(socket: &PathBuf) -> bool {
    std::os::unix::net::UnixStream::connect(socket).is_ok()
}

/// Root is warned, others are not; these screens are nobody's.
fn without_user(text: &str) -> String {
    let mut kept = String::new();
    let mut in_user = false;
    for line in text.lines() {
        let continues = line.starts_with("      ");
        in_user = line.contains("  user ") || (in_user && continues);
        if !in_user {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept.replace("It works, with 1 warning.", "All checks passed.")
}

/// Compares a screen with the one that is kept, whatever the numbers of processes, sessions and
/// seconds are.
fn is_as_kept(name: &str, screens: &str) {
    let filters = [
        (r"at port \d+", "at port PORT"),
        (
            concat!("tabmux ", env!("CARGO_PKG_VERSION")),
            "tabmux VERSION",
        ),
        (r"process \d+", "process PID"),
        (r"\b\d+ s\b", "N s"),
        (r"sess_\w+", "sess_12345678"),
        (r"127\.0\.0\.1:\d+", "127.0.0.1:PORT"),
    ];
    insta::with_settings!({filters => filters, omit_expression => true}, {
        insta::assert_snapshot!(name, screens);
    });
}
