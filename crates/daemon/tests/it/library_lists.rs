//! Tools of the page library in a progressive session without any browser.

use crate::page_harness::{Daemon, changed, listed, request, text};
use serde_json::{Value, json};
use tabmux_daemon::{Client, Handle, SessionOptions};
use tabmux_protocol::session::{self as wire, ToolMode};
use tabmux_protocol::{Backend, CallFailure};

async fn names(session: &Handle) -> Vec<String> {
    let tools = session.tools().await.unwrap().into_iter();
    tools.map(|tool| tool.name).collect()
}

/// Spec: multi-tab 1, 25, 30.
#[tokio::test]
async fn library_tools_are_called_before_any_browser_is_connected() {
    let daemon = Daemon::start().await;
    let session = daemon.session(ToolMode::Progressive).await;
    assert_eq!(names(&session).await, ["connect_browser"]);
    let mut worker = daemon.worker().await;
    for tab in ["tab-1", "tab-2"] {
        worker.tab(tab).await;
        worker.tool(tab, "who").await;
    }
    worker
        .say(json!({"type": "SET_ACTIVE_TAB", "tabId": "tab-2", "at": 1}))
        .await;
    changed(&session).await;
    assert_eq!(
        names(&session).await,
        ["connect_browser", "who", "list_browser_tabs"]
    );
    let tool = listed(&session, "who").await.unwrap();
    assert_eq!(tool["inputSchema"]["properties"]["tabId"]["type"], "string");
    for (arguments, expected) in [
        (json!({}), "I am tab-2"),
        (json!({"tabId": "tab-1"}), "I am tab-1"),
    ] {
        let call = session.call(request("who", &arguments));
        let (reply, call) = tokio::join!(call, worker.answers());
        assert_eq!(text(&reply.unwrap()), expected);
        assert_eq!(call["args"].get("tabId"), None, "{call}");
    }
    let reply = session.call(request("list_browser_tabs", &json!({}))).await;
    let rows: Vec<Value> = serde_json::from_str(&text(&reply.unwrap())).unwrap();
    let tabs: Vec<_> = rows.iter().map(|row| row["tabId"].clone()).collect();
    assert_eq!(tabs, ["tab-1", "tab-2"]);
    for tab in ["tab-1", "tab-2"] {
        worker
            .say(json!({"type": "UNREGISTER_TAB", "tabId": tab}))
            .await;
    }
    changed(&session).await;
    assert_eq!(names(&session).await, ["connect_browser"]);
}

#[tokio::test]
async fn a_blocked_origin_offers_a_session_nothing() {
    let daemon = Daemon::start().await;
    let options = wire::SessionOptions {
        tools: ToolMode::Progressive,
        blocked_origins: vec!["http://localhost:5173".to_owned()],
        ..wire::SessionOptions::default()
    };
    let options = SessionOptions::from_wire(options).unwrap();
    let session = daemon.hub.open(options, Client::default()).await;
    let mut worker = daemon.worker().await;
    worker.tab("tab-1").await;
    worker.tool("tab-1", "who").await;
    worker.is_heard().await;
    assert_eq!(names(&session).await, ["connect_browser"]);
    let reply = session.call(request("who", &json!({}))).await;
    assert!(matches!(reply, Err(CallFailure::UnknownTool { .. })));
    let named = json!({"name": "who", "tabId": "tab-1"});
    let reply = session.call(request("call_page_tool", &named)).await;
    assert!(text(&reply.unwrap()).contains("blocked"));
}
