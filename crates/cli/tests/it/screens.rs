//! Output of commands, compared with `snapshots/`: each without a width limit and at 60 columns.
//! `INSTA_UPDATE=always` accepts the new output; read the diff.

use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tabmux_testkit::{FixtureServer, McpClient, Response, patiently, process};
use tempfile::TempDir;

#[test]
fn status_without_a_daemon() {
    let home = EmptyHome::new();
    assert_snapshot_is("status-no-daemon", &home.screens(&["status"]));
}

#[tokio::test]
async fn status_of_an_idle_daemon() {
    let home = EmptyHome::new();
    let mut daemon = home.daemon().await;
    assert_snapshot_is("status-idle", &home.screens(&["status"]));
    daemon.kill().unwrap();
    daemon.wait().unwrap();
}

#[tokio::test]
async fn status_of_a_daemon_with_two_sessions() {
    let Some(browser) = tabmux_testkit::real_browser() else {
        return;
    };
    let home = EmptyHome::new();
    let pages = FixtureServer::start();
    let title = "A page whose title is longer than any column of a table should be";
    let body = format!("<!doctype html><title>{title}</title>");
    pages.route("/long", Response::html(body));
    let mut clients = Vec::new();
    for _ in 0..2 {
        let client = home.client(&browser).await;
        let to = json!({"url": pages.url("long")});
        client.call_tool("navigate_page", to).await.ok();
        clients.push(client);
    }
    let screens = ["status", "tabs", "sessions"].map(|what| home.screens(&[what]));
    assert_snapshot_is("status-busy", &screens.join("\n"));
    drop(clients);
    home.tabmux(&["daemon", "stop"], None);
    process::wait_until_none_with(&home.mark()).await;
}

#[test]
fn doctor_of_a_new_user() {
    let home = EmptyHome::new();
    assert_snapshot_is("doctor-new-user", &home.screens(&["doctor"]));
}

#[test]
fn doctor_with_failures() {
    let home = EmptyHome::new();
    let folder = home.home.path().join("run/tabmux");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("daemon.sock"), "").unwrap();
    fs::create_dir(folder.join("daemon.log")).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
    let screens = home.screens(&["doctor", "--executablePath=/nowhere/chrome"]);
    assert_snapshot_is("doctor-trouble", &screens);
}

#[test]
fn install_as_a_dry_run_for_every_client() {
    let home = EmptyHome::new();
    let clients = [
        "claude-code",
        "claude-desktop",
        "cursor",
        "vscode",
        "codex",
        "gemini",
        "windsurf",
        "opencode",
        "goose",
    ];
    // The program under test is in a build folder, whose path is not written.
    let command = "--command=/usr/bin/tabmux";
    let screens = clients.map(|client| home.screens(&["install", client, "--dry-run", command]));
    assert_snapshot_is("install-dry-run", &screens.join("\n"));
}

/// A new home, with a fake browser that only prints its version.
struct EmptyHome {
    home: TempDir,
}

impl EmptyHome {
    fn new() -> Self {
        // Line breaks depend on the length of this path, so its length is fixed.
        let home = TempDir::with_prefix_in("tabmux-screens-", "/tmp").unwrap();
        fs::create_dir(home.path().join("run")).unwrap();
        let browser = home.path().join("browser");
        fs::write(&browser, "#!/bin/sh\necho Chromium 150.0.1\n").unwrap();
        fs::set_permissions(&browser, fs::Permissions::from_mode(0o755)).unwrap();
        Self { home }
    }

    /// The output of a command, without a width limit and at 60 columns.
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

    /// Removes what differs between machines and users.
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

/// Removes the warning about root, which depends on the user who runs the test.
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

/// Compares output with its snapshot, ignoring process ids, session ids and seconds.
fn assert_snapshot_is(name: &str, screens: &str) {
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
