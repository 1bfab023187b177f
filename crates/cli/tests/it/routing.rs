//! `--routing`, all the way: the flag, the daemon, and a page's worker that the test plays.

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use tabmux_testkit::{McpClient, patiently};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

#[tokio::test]
async fn r001_28_hybrid_routing_keeps_to_the_tab_in_front_and_smart_routing_finds_the_tool() {
    let home = Home::new();
    let hybrid = home.client("hybrid").await;
    let smart = home.client("smart").await;
    // The first list comes from the daemon, so now there is one.
    hybrid.list_tools().await;
    smart.list_tools().await;
    let mut page = home.page().await;
    for tab in ["tab-1", "tab-2"] {
        page.say(json!({
            "type": "REGISTER_TAB", "tabId": tab, "documentId": tab, "url": "http://localhost/", "title": tab
        }))
        .await;
    }
    page.offers("tab-1").await;
    page.say(json!({"type": "SET_ACTIVE_TAB", "tabId": "tab-2", "at": 1}))
        .await;
    page.is_heard().await;

    let refused = hybrid.call_tool("who", json!({})).await.expect_error();
    assert_eq!(
        refused,
        "Tool 'who' not available in tab 'tab-2'. Available tabs: tab-1"
    );
    let (found, ()) = tokio::join!(smart.call_tool("who", json!({})), page.answers());
    assert_eq!(found.ok().text(), "I am tab-1");

    // Once the tab in front has it, both go there; a tab that is named goes before all.
    page.offers("tab-2").await;
    page.is_heard().await;
    for client in [&hybrid, &smart] {
        let (found, ()) = tokio::join!(client.call_tool("who", json!({})), page.answers());
        assert_eq!(found.ok().text(), "I am tab-2");
        let first = json!({"tabId": "tab-1"});
        let (found, ()) = tokio::join!(client.call_tool("who", first), page.answers());
        assert_eq!(found.ok().text(), "I am tab-1");
    }
}

/// A daemon's place. The daemon ends with it.
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

    /// The worker of a local page, at this home's daemon.
    async fn page(&self) -> Page {
        let status = tabmux(self.0.path()).args(["status", "--json"]).output();
        let status: Value = serde_json::from_slice(&status.unwrap().stdout).unwrap();
        let url = format!("ws://127.0.0.1:{}/page", status["port"]);
        let mut request = url.into_client_request().unwrap();
        let origin = "http://localhost".parse().unwrap();
        request.headers_mut().insert("Origin", origin);
        let mut page = Page(connect_async(request).await.unwrap().0);
        page.say(json!({"type": "HELLO", "version": 1})).await;
        assert_eq!(page.hear().await["type"], "WELCOME");
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

struct Page(WebSocketStream<MaybeTlsStream<TcpStream>>);

impl Page {
    async fn say(&mut self, message: Value) {
        let message = Message::text(message.to_string());
        self.0.send(message).await.unwrap();
    }

    async fn hear(&mut self) -> Value {
        let word = patiently(self.0.next(), || "a word of the daemon".to_owned()).await;
        serde_json::from_str(word.unwrap().unwrap().to_text().unwrap()).unwrap()
    }

    async fn offers(&mut self, tab: &str) {
        self.say(json!({
            "type": "REGISTER_TOOL", "tabId": tab, "name": "who", "description": "Says who it is.",
            "inputSchema": {"type": "object", "properties": {}}
        }))
        .await;
    }

    /// What was said before has been heard when the answer comes.
    async fn is_heard(&mut self) {
        self.say(json!({"type": "PING"})).await;
        assert_eq!(self.hear().await["type"], "PONG");
    }

    /// Answers the next call with the name of its tab.
    async fn answers(&mut self) {
        let call = self.hear().await;
        assert_eq!(call["type"], "CALL_TOOL", "{call}");
        let text = format!("I am {}", call["targetTabId"].as_str().unwrap());
        self.say(json!({
            "type": "TOOL_CALL_RESULT", "callId": call["callId"], "success": true,
            "result": {"content": [{"type": "text", "text": text}]}
        }))
        .await;
    }
}
