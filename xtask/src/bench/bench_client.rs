//! A server under measurement and its client.

use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use tabmux_testkit::{Chromium, McpClient, process};
use tempfile::TempDir;

/// One `tabmux mcp` with its client and its own home folder.
pub(super) struct BenchClient {
    pub(super) client: McpClient,
    _home: TempDir,
}

impl BenchClient {
    /// Starts a server, without a handshake.
    pub(super) fn start(binary: &Path, flags: &[&str]) -> Self {
        #[expect(clippy::expect_used, reason = "without a folder there is no bench")]
        let home = TempDir::with_prefix("tabmux-bench-").expect("a temporary folder");
        let mut command = Command::new(binary);
        command
            .args(["mcp", "--no-daemon", "--tools=progressive"])
            .args(flags)
            .current_dir(home.path())
            .env("HOME", home.path())
            .env("TMPDIR", home.path());
        for name in ["XDG_DATA_HOME", "XDG_CONFIG_HOME", "TABMUX_LOG"] {
            command.env_remove(name);
        }
        Self {
            client: McpClient::spawn(command),
            _home: home,
        }
    }

    /// A server that has launched its own browser.
    pub(super) async fn launched(binary: &Path, browser: &Path) -> Self {
        let named = format!("--executablePath={}", browser.display());
        let flags = [
            "--headless",
            "--isolated",
            "--chromeArg=--disable-quic",
            &named,
        ];
        let bench_client = Self::start(binary, &flags);
        bench_client.client.initialize().await;
        bench_client
            .call("connect_browser", json!({"launch": true}))
            .await;
        bench_client
    }

    /// A server that is attached to a running browser.
    pub(super) async fn attached(binary: &Path, chromium: &Chromium) -> Self {
        let bench_client = Self::start(binary, &[&format!("--browserUrl={}", chromium.http_url())]);
        bench_client.client.initialize().await;
        bench_client.call("connect_browser", json!({})).await;
        bench_client
    }

    /// Calls a tool that must succeed; returns its text.
    pub(super) async fn call(&self, tool: &str, arguments: Value) -> String {
        self.client.call_tool(tool, arguments).await.ok().text()
    }

    /// Opens a page and focuses it; returns the number of the tab.
    pub(super) async fn open(&self, url: &str) -> Value {
        let opened = self.client.call_tool("open_tab", json!({"url": url})).await;
        opened.ok().json()["tab"]["id"].clone()
    }

    /// The uid of the first line of a snapshot that contains `part`.
    pub(super) async fn uid(&self, part: &str) -> String {
        let snapshot = self.call("take_snapshot", json!({})).await;
        let line = snapshot.lines().find(|line| line.contains(part));
        let line = line.unwrap_or_else(|| panic!("nothing contains {part:?} in\n{snapshot}"));
        let uid = line
            .split("uid=")
            .nth(1)
            .and_then(|rest| rest.split(' ').next());
        uid.unwrap_or_else(|| panic!("no uid in {line:?}"))
            .to_owned()
    }
}

impl Drop for BenchClient {
    /// Ends the server with its browser before its home is removed.
    fn drop(&mut self) {
        let server = self.client.pid();
        let mut family = process::descendants(server);
        process::kill_hard(server);
        let patience = Instant::now() + Duration::from_secs(5);
        while !family.is_empty() && Instant::now() < patience {
            for member in &family {
                process::kill_hard(member.pid);
            }
            std::thread::sleep(Duration::from_millis(2));
            family.retain(|member| process::is_alive(member.pid));
        }
    }
}
