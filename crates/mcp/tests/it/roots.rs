//! The folders that a client works in: requested, requested again when they change, and waited for only briefly.

use crate::server_harness::ServerHarness;
use serde_json::{Value, json};
use std::path::PathBuf;
use tabmux_testkit::McpClient;

async fn with_roots() -> (ServerHarness, McpClient) {
    let (server_harness, mut client) = ServerHarness::set_silent();
    client.can(json!({"roots": {"listChanged": true}}));
    client.initialize().await;
    (server_harness, client)
}

fn temporary() -> PathBuf {
    let folder = std::env::temp_dir().canonicalize();
    folder.expect("there is a folder for temporary files")
}

fn roots(uris: &[String]) -> Value {
    let roots: Vec<_> = uris
        .iter()
        .map(|uri| json!({"uri": uri, "name": "x"}))
        .collect();
    json!({ "roots": roots })
}

#[tokio::test]
async fn a_client_with_roots_is_asked_for_them_and_again_when_they_change() {
    let (mut server_harness, client) = with_roots().await;
    let asked = client.nth_request(0).await;
    assert_eq!(asked["method"], "roots/list");
    let uris = [
        format!("file://{}", temporary().display()),
        "https://example.com/x".into(),
    ];
    client.answer(&asked, roots(&uris)).await;
    assert_eq!(server_harness.next_roots().await, [temporary()]);

    client
        .notify("notifications/roots/list_changed", json!({}))
        .await;
    let asked = client.nth_request(1).await;
    client.answer(&asked, roots(&[])).await;
    assert_eq!(server_harness.next_roots().await, Vec::<PathBuf>::new());
}

#[tokio::test]
async fn the_list_comes_when_the_roots_are_known() {
    let (mut server_harness, client) = with_roots().await;
    let asked = client.nth_request(0).await;
    let list = client.begin("tools/list", json!({})).await;
    client
        .answer(
            &asked,
            roots(&[format!("file://{}", temporary().display())]),
        )
        .await;
    list.answer().await.unwrap();
    assert!(server_harness.has_roots());
}

#[tokio::test]
async fn a_client_that_does_not_say_its_roots_gets_its_list_and_its_answers() {
    let (mut server_harness, client) = with_roots().await;
    assert_eq!(client.tool_names().await, ["zebra", "ant"]);
    let pending = client.begin_call("ant", json!({})).await;
    server_harness.next_call().await.reply("done");
    assert_eq!(pending.tool_reply().await.ok().text(), "done");
    assert!(!server_harness.has_roots());
}

#[tokio::test]
async fn nonsense_for_roots_changes_nothing() {
    for nonsense in [
        json!({}),
        json!({"roots": 5}),
        json!({"roots": [{"name": "x"}]}),
    ] {
        let (mut server_harness, client) = with_roots().await;
        let asked = client.nth_request(0).await;
        client.answer(&asked, nonsense).await;
        assert_eq!(client.tool_names().await, ["zebra", "ant"]);
        assert!(!server_harness.has_roots());
    }
    let (mut server_harness, client) = with_roots().await;
    let asked = client.nth_request(0).await;
    let many = vec![format!("file://{}", temporary().display()); 1_000];
    client.answer(&asked, roots(&many)).await;
    assert_eq!(server_harness.next_roots().await.len(), 32);
}

#[tokio::test]
async fn a_client_without_roots_is_not_asked() {
    let (mut server_harness, client) = ServerHarness::set().await;
    client
        .notify("notifications/roots/list_changed", json!({}))
        .await;
    client.list_tools().await;
    let asked = client.received();
    let asked = asked.iter().filter(|it| it.get("method").is_some());
    assert_eq!(asked.count(), 0);
    assert!(!server_harness.has_roots());
}
