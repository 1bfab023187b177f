//! `notifications/tools/list_changed`, in both eras.

use crate::{
    calls::StillAlive as _,
    eras::listen,
    server_harness::{ServerHarness, tool},
};
use serde_json::{Value, json};
use std::time::Duration;
use tabmux_protocol::CallReply;
use tabmux_testkit::McpClient;

/// Spec: dynamic-tools 61.
#[tokio::test]
async fn a_change_is_sent_once_to_a_client_after_its_handshake() {
    let (mut server_harness, client) = ServerHarness::set().await;
    client.assert_no_notification().await;
    server_harness.change_tools();
    assert_eq!(client.next_notification().await, changed());
    client.call_tool_answered_by(&mut server_harness).await;
    client.assert_no_notification().await;
}

#[tokio::test]
async fn nothing_is_sent_before_the_handshake_is_complete() {
    let (mut server_harness, client) = ServerHarness::set_silent();
    client.initialize_request("2025-11-25").await;
    server_harness.change_tools();
    server_harness.change_tools();
    client.call_tool_answered_by(&mut server_harness).await;
    client.assert_no_notification().await;
    client.notify("notifications/initialized", json!({})).await;
    assert_eq!(client.next_notification().await, changed());
    client.call_tool_answered_by(&mut server_harness).await;
    client.assert_no_notification().await;
}

#[tokio::test]
async fn without_a_change_nothing_is_sent_after_the_handshake() {
    let (mut server_harness, client) = ServerHarness::set().await;
    client.notify("notifications/initialized", json!({})).await;
    client.call_tool_answered_by(&mut server_harness).await;
    client.assert_no_notification().await;
}

#[tokio::test]
async fn subscriptions_of_2026_are_notified_until_they_are_cancelled() {
    let (mut server_harness, client) = ServerHarness::set_2026();
    let first = client.begin("subscriptions/listen", listen()).await;
    let acknowledged = client.next_notification().await;
    assert_eq!(
        acknowledged["method"],
        "notifications/subscriptions/acknowledged"
    );
    assert_eq!(subscription(&acknowledged), first.id());
    assert_eq!(
        acknowledged["params"]["notifications"],
        json!({"toolsListChanged": true})
    );
    let second = client.begin("subscriptions/listen", listen()).await;
    client.next_notification().await;

    server_harness.change_tools();
    for id in [first.id(), second.id()] {
        let told = client.next_notification().await;
        assert_eq!(told["method"], "notifications/tools/list_changed");
        assert_eq!(subscription(&told), id);
    }

    first.cancel().await;
    client.call_tool_answered_by(&mut server_harness).await;
    server_harness.change_tools();
    let told = client.next_notification().await;
    assert_eq!(subscription(&told), second.id());
    client.call_tool_answered_by(&mut server_harness).await;
    client.assert_no_notification().await;
    assert!(!first.is_answered());
}

#[tokio::test]
async fn a_client_of_2026_without_a_subscription_gets_no_notification() {
    let (mut server_harness, client) = ServerHarness::set_2026();
    server_harness.change_tools();
    client.call_tool_answered_by(&mut server_harness).await;
    let pending = client
        .begin(
            "subscriptions/listen",
            json!({"notifications": {"promptsListChanged": true}}),
        )
        .await;
    let acknowledged = client.next_notification().await;
    assert_eq!(subscription(&acknowledged), pending.id());
    server_harness.change_tools();
    client.call_tool_answered_by(&mut server_harness).await;
    client.assert_no_notification().await;
}

#[tokio::test]
async fn the_number_of_subscriptions_is_limited() {
    let (mut server_harness, client) = ServerHarness::set_2026();
    for _ in 0..64 {
        client.begin("subscriptions/listen", listen()).await;
        client.next_notification().await;
    }
    let refused = client.request("subscriptions/listen", listen()).await;
    assert_eq!(refused.unwrap_err().code, -32603);
    client.call_tool_answered_by(&mut server_harness).await;
}

#[tokio::test(start_paused = true)]
async fn a_client_that_ignored_two_notices_learns_the_names_in_its_next_answer() {
    let (mut server_harness, client) = ServerHarness::set().await;
    let text = |text: &str| json!({"type": "text", "text": text});
    let done = || CallReply::text("Done.");
    client.list_tools().await;
    server_harness.tools.lock().unwrap().push(tool("newcomer"));
    for _ in 0..2 {
        let content = content(&mut server_harness, &client, done()).await;
        assert_eq!(content, json!([text("Done.")]), "it has time");
        server_harness.change_tools();
        assert_eq!(client.next_notification().await, changed());
        tokio::time::advance(Duration::from_secs(3)).await;
    }
    let failed = CallReply::error("It failed.");
    assert_eq!(
        content(&mut server_harness, &client, failed).await,
        json!([text("It failed.")])
    );
    let news = "New tools since the list was last fetched: newcomer. They can be called by name; \
                tools/list has their schemas.";
    assert_eq!(
        content(&mut server_harness, &client, done()).await,
        json!([text("Done."), text(news)])
    );
    client.list_tools().await;
    assert_eq!(
        content(&mut server_harness, &client, done()).await,
        json!([text("Done.")]),
        "a client that fetches the list knows it"
    );
}

async fn content(
    server_harness: &mut ServerHarness,
    client: &McpClient,
    reply: CallReply,
) -> Value {
    let pending = client.begin_call("ant", json!({})).await;
    server_harness.next_call().await.finish(Ok(reply));
    pending.answer().await.expect("a call is answered")["content"].take()
}

fn changed() -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
}

fn subscription(notification: &Value) -> &Value {
    &notification["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"]
}
