//! `--routing`, end to end: the flag, the daemon, and a simulated worker of a page.

use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use tabmux_testkit::{McpClient, PageWorker};

/// Spec: page-proxy 28.
#[tokio::test]
async fn hybrid_routing_keeps_to_the_tab_in_front_and_smart_routing_finds_the_tool() {
    let home = Home::new();
    let hybrid = home.client("hybrid").await;
    let smart = home.client("smart").await;
    // The first list comes from the daemon, so the daemon runs now.
    hybrid.list_tools().await;
    smart.list_tools().await;
    let mut page = home.page().await;
    for tab in ["tab-1", "tab-2"] {
        page.tab(tab).await;
    }
    page.tool("tab-1", "who").await;
    page.say(json!({"type": "SET_ACTIVE_TAB", "tabId": "tab-2", "at": 1}))
        .await;
    page.is_heard().await;

    let refused = hybrid.call_tool("who", json!({})).await.expect_error();
    assert_eq!(
        refused,
        "Tool 'who' not available in tab 'tab-2'. Available tabs: tab-1"
    );
    let (found, _) = tokio::join!(smart.call_tool("who", json!({})), page.answers());
    assert_eq!(found.ok().text(), "I am tab-1");

    // Once the tab in front has the tool, both choose it; an explicit tab comes before everything.
    page.tool("tab-2", "who").await;
    page.is_heard().await;
    for client in [&hybrid, &smart] {
        let (found, _) = tokio::join!(client.call_tool("who", json!({})), page.answers());
        assert_eq!(found.ok().text(), "I am tab-2");
        let first = json!({"tabId": "tab-1"});
        let (found, _) = tokio::join!(client.call_tool("who", first), page.answers());
        assert_eq!(found.ok().text(), "I am tab-1");
    }
}

/// The home of a daemon. Dropping it stops the daemon.
struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A client with a fixed list, after its handshake. The first one starts the daemon.
    async fn client(&self, routing: &str) -> McpClient {
        let mut command = tabmux(self.0.path());
        command.args(["mcp", "--tools=static", "--routing", routing]);
        let client = McpClient::spawn(command);
        client.initialize().await;
        client
    }

    /// The worker of a local page, connected to this daemon.
    async fn page(&self) -> PageWorker {
        let status = tabmux(self.0.path()).args(["status", "--json"]).output();
        let status: Value = serde_json::from_slice(&status.unwrap().stdout).unwrap();
        let address = format!("127.0.0.1:{}", status["port"]);
        let page = PageWorker::dial(&address, &[("Origin", "http://localhost")]).await;
        let (mut page, _) = page.unwrap();
        assert_eq!(page.greet().await["type"], "WELCOME");
        page
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = tabmux(self.0.path()).args(["daemon", "stop"]).output();
    }
}

fn tabmux(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tabmux"));
    command
        .current_dir(home)
        .env("TABMUX_SOCKET", home.join("daemon.sock"))
        .env("TABMUX_PORT", "0")
        .env("XDG_DATA_HOME", home)
        .env("HOME", home);
    command
}
