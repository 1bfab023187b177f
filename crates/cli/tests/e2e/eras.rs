//! Both eras of the protocol over the real binary: the handshake, and 2026-07-28 without one.

use crate::harness::{McpHarness, assert_names};
use serde_json::{Value, json};
use tabmux_testkit::Message;

/// The specification fixes name and version; title and description are for people.
fn about() -> Value {
    let version = env!("CARGO_PKG_VERSION");
    json!({
        "name": "browser",
        "version": "1.0.0",
        "title": "tabmux",
        "description": format!(
            "tabmux {version}: browsers, their tabs and the tools of their pages, shared by MCP clients."
        ),
    })
}

/// Spec: dynamic-tools 59, 60.
#[tokio::test]
async fn the_handshake_names_the_server_and_its_capability() {
    let Some(harness) = McpHarness::silent(&[]) else {
        return;
    };
    let mut answer = harness.client.initialize().await;
    answer.as_object_mut().unwrap().remove("instructions");
    assert_eq!(
        answer,
        json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {"resources": {"subscribe": true}, "tools": {"listChanged": true}},
            "serverInfo": about(),
        })
    );
    harness.client.assert_no_notification().await;
}

#[tokio::test]
async fn instructions_name_tools_that_can_be_called() {
    for flags in [
        &["--tools=progressive"][..],
        &["--tools=static"],
        &["--tools=static", "--pageActions=off"],
    ] {
        let Some(harness) = McpHarness::silent(flags) else {
            return;
        };
        let answer = harness.client.initialize().await;
        let text = answer["instructions"].as_str().unwrap();
        assert!(text.len() <= 1_200, "{} bytes", text.len());
        let words = text.split(|c: char| !(c.is_ascii_lowercase() || c == '_'));
        for tool in words.filter(|word| word.contains('_')) {
            // Only a tool that does not exist is a protocol error.
            let call = json!({"name": tool, "arguments": {"wrong": 1}});
            let answer = harness.client.request("tools/call", call).await;
            assert!(answer.is_ok(), "{tool} with {flags:?}: {answer:?}");
        }
    }
}

/// Spec: dynamic-tools 56, 61.
#[tokio::test]
async fn a_client_without_handshake_discovers_lists_calls_and_listens() {
    let Some(mut harness) = McpHarness::silent(&[]) else {
        return;
    };
    harness.client.speak_2026();
    let discovered = harness
        .client
        .request("server/discover", json!({}))
        .await
        .unwrap();
    assert_eq!(
        discovered["capabilities"],
        json!({"resources": {"subscribe": true}, "tools": {"listChanged": true}})
    );
    assert!(discovered["instructions"].is_string(), "{discovered}");
    assert_eq!(
        discovered["_meta"]["io.modelcontextprotocol/serverInfo"],
        about()
    );

    let list = harness
        .client
        .request("tools/list", json!({}))
        .await
        .unwrap();
    assert_eq!(list["tools"][0]["name"], "connect_browser");
    assert_eq!(
        (&list["ttlMs"], &list["cacheScope"]),
        (&json!(0), &json!("private"))
    );

    let filter = json!({"notifications": {"toolsListChanged": true}});
    let listening = harness.client.begin("subscriptions/listen", filter).await;
    let told = |messages: &[Message]| {
        let received = messages.iter().filter_map(Message::as_received);
        let changes = received.filter(|m| m["method"] == "notifications/tools/list_changed");
        Some(changes.count())
    };
    harness
        .client
        .wait("the subscription to be confirmed", |messages| {
            let mut received = messages.iter().filter_map(Message::as_received);
            received
                .any(|m| m["method"] == "notifications/subscriptions/acknowledged")
                .then_some(())
        })
        .await;
    harness
        .text("connect_browser", json!({"launch": true}))
        .await;
    assert_eq!(harness.client.wait("changes", told).await, 1);
    assert_names(&harness.names().await, &["list_tabs", "open_tab"]);
    let url = harness.pages.url("a");
    harness.text("open_tab", json!({"url": url})).await;
    assert_eq!(harness.client.wait("changes", told).await, 2);
    assert_eq!(harness.evaluate("() => document.title").await, "A");
    assert!(!listening.is_answered());
}

/// The three revisions that current clients use.
#[tokio::test]
async fn older_clients_get_answers_in_their_own_revision() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18"] {
        let Some(harness) = McpHarness::silent(&[]) else {
            return;
        };
        let answer = harness.client.initialize_as(version).await;
        assert_eq!(answer["protocolVersion"], version);
        assert_names(&harness.names().await, &["connect_browser"]);
    }
}

/// Without a flag, the client's name decides.
/// Spec: decisions 16.
#[tokio::test]
async fn a_client_gets_the_list_that_suits_it() {
    let names = async |client: Option<&str>| {
        let mut harness = McpHarness::silent(&["--tools=auto"])?;
        match client {
            None => harness.client.speak_2026(),
            Some(name) => {
                let params = json!({
                    "protocolVersion": "2025-11-25",
                    "capabilities": {},
                    "clientInfo": {"name": name, "version": "0"},
                });
                harness.client.request("initialize", params).await.unwrap();
                harness
                    .client
                    .notify("notifications/initialized", json!({}))
                    .await;
            }
        }
        Some(harness.names().await)
    };
    let Some(progressive) = names(Some("claude-code")).await else {
        return;
    };
    assert_names(&progressive, &["connect_browser"]);
    for client in [Some("codex-mcp-client"), Some("a-new-framework"), None] {
        let fixed = names(client).await.unwrap();
        assert_eq!(fixed[0], "list_pages", "{fixed:?}");
    }
}
