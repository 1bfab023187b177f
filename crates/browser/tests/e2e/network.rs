//! The network: every request with its response, bodies inline or in files, redirects, websockets.

use crate::harness::{BrowserHarness, refused};
use serde_json::{Value, json};
use std::time::Duration;
use tabmux_browser::Tab;
use tabmux_testkit::Response;

async fn list(harness: &BrowserHarness, tab: &Tab, arguments: Value) -> String {
    harness.text(tab, "list_network_requests", arguments).await
}

async fn show(harness: &BrowserHarness, tab: &Tab, part: &str, mut arguments: Value) -> String {
    let list = list(harness, tab, json!({ "includePreservedRequests": true })).await;
    let line = list
        .lines()
        .find(|line| line.contains(part))
        .unwrap_or_else(|| panic!("{list}"));
    let number: u64 = line.split(['=', ' ']).nth(1).unwrap().parse().unwrap();
    arguments["reqid"] = number.into();
    harness.text(tab, "get_network_request", arguments).await
}

/// Spec: multi-browser 67.
#[tokio::test]
async fn requests_are_listed_from_the_first_byte_on() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    harness.server.route("/old", Response::redirect("/page"));
    harness.server.route("/page", Response::html("<link rel=stylesheet href=/s.css><img src=/missing.png><script>fetch('/api', {method: 'POST', body: 'ping'}).then((r) => r.text())</script>"));
    harness
        .server
        .route("/s.css", Response::new(200, "text/css", "b {}"));
    harness
        .server
        .route("/api", Response::json(&json!({"pong": true})));
    let tab = harness.open("old").await;
    tab.until(Duration::from_secs(10), |state| state.in_flight.is_empty())
        .await
        .unwrap();
    let text = list(&harness, &tab, json!({})).await;
    let base = harness.server.url("");
    assert!(
        text.contains(&format!("GET {base}page [200] document")),
        "{text}"
    );
    assert!(
        text.contains(&format!("GET {base}missing.png [404] image")),
        "{text}"
    );
    assert!(
        text.contains(&format!("POST {base}api [200] fetch")),
        "{text}"
    );
    let only = list(&harness, &tab, json!({ "resourceTypes": ["stylesheet"] })).await;
    assert!(
        only.starts_with("1 to 1 of 1 requests.") && only.contains("s.css"),
        "{only}"
    );

    let document = show(&harness, &tab, "document", json!({})).await;
    assert!(
        document.contains(&format!("Redirected with 302 from {base}old")),
        "{document}"
    );
    assert!(document.contains("Timing: "), "{document}");
    let api = show(&harness, &tab, "/api", json!({})).await;
    assert!(api.contains("Request body (4 bytes):\nping"), "{api}");
    assert!(
        api.contains("Response body (13 bytes):\n{\"pong\":true}"),
        "{api}"
    );
    assert!(api.contains("Content-Type: application/json"), "{api}");
    let error = harness
        .error(&tab, "get_network_request", json!({ "reqid": 999 }))
        .await;
    assert!(error.contains("list_network_requests"), "{error}");
}

/// Spec: multi-browser 67.
#[tokio::test]
async fn large_bodies_go_to_files() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let big = "line\n".repeat(20_000);
    harness.server.route(
        "/page",
        Response::html(
            "<script>for (const it of ['/big', '/bin']) fetch(it).then((r) => r.arrayBuffer())</script>",
        ),
    );
    harness.server.route("/big", Response::text(big.clone()));
    harness.server.route(
        "/bin",
        Response::new(200, "application/octet-stream", vec![0_u8, 159, 146, 150]),
    );
    let tab = harness.open("page").await;
    tab.until(Duration::from_secs(10), |state| state.in_flight.is_empty())
        .await
        .unwrap();
    let text = show(&harness, &tab, "/big", json!({})).await;
    assert!(
        text.len() < 12_000 && text.contains("responseFilePath saves all of it"),
        "{}",
        text.len()
    );
    let text = show(&harness, &tab, "/bin", json!({})).await;
    assert!(text.contains("Response body: 4 bytes, not text."), "{text}");
    let text = show(
        &harness,
        &tab,
        "/big",
        json!({ "responseFilePath": "big.txt" }),
    )
    .await;
    assert!(text.contains("saved to"), "{text}");
    assert_eq!(
        std::fs::read_to_string(harness.files.path().join("big.txt")).unwrap(),
        big
    );
    let failed = show_error(
        &harness,
        &tab,
        "/big",
        json!({ "responseFilePath": "/etc/big.txt" }),
    )
    .await;
    assert!(failed.contains("outside"), "{failed}");
}

async fn show_error(
    harness: &BrowserHarness,
    tab: &Tab,
    part: &str,
    mut arguments: Value,
) -> String {
    let list = list(harness, tab, json!({})).await;
    let line = list.lines().find(|line| line.contains(part)).unwrap();
    let number: u64 = line.split(['=', ' ']).nth(1).unwrap().parse().unwrap();
    arguments["reqid"] = number.into();
    harness.error(tab, "get_network_request", arguments).await
}

/// Spec: multi-browser 67.
#[tokio::test]
async fn requests_survive_three_navigations() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    for n in 1..=5 {
        harness
            .server
            .route(&format!("/{n}"), Response::html(format!("{n}")));
    }
    let tab = harness.open("1").await;
    for n in 2..=5 {
        harness
            .text(
                &tab,
                "navigate_page",
                json!({ "url": harness.server.url(&n.to_string()) }),
            )
            .await;
    }
    let now = list(&harness, &tab, json!({})).await;
    assert!(
        now.contains("/5 [200]") && !now.contains("/4 [200]"),
        "{now}"
    );
    let all = list(&harness, &tab, json!({ "includePreservedRequests": true })).await;
    assert!(
        all.contains("/2 [200]") && !all.contains("/1 [200]"),
        "{all}"
    );
    // The error says that the body is gone.
    let old = show(&harness, &tab, "/2 [200]", json!({})).await;
    assert!(old.contains("Response body"), "{old}");
}

/// Spec: multi-browser 67.
#[tokio::test]
async fn websocket_messages_are_kept() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let port = echo_server().await;
    let html = format!(
        "<script>const s = new WebSocket('ws://127.0.0.1:{port}/chat'); s.onopen = () => s.send('hello');\
         s.onmessage = (e) => {{ document.title = e.data }}</script>"
    );
    harness.server.route("/page", Response::html(html));
    let tab = harness.open("page").await;
    let heard = tab.until(Duration::from_secs(20), |state| {
        state.network.iter().any(|it| it.frames.count == 2)
    });
    assert!(heard.await.unwrap());
    let text = show(&harness, &tab, "websocket", json!({})).await;
    assert!(text.contains("[101] websocket"), "{text}");
    assert!(
        text.contains("→ hello") && text.contains("← hello"),
        "{text}"
    );
}

/// An echo server for one websocket.
async fn echo_server() -> u16 {
    use futures_util::{SinkExt, StreamExt};
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        let (socket, _) = listener.accept().await.unwrap();
        let mut socket = tokio_tungstenite::accept_async(socket).await.unwrap();
        while let Some(Ok(message)) = socket.next().await {
            if message.is_text() {
                socket.send(message).await.unwrap();
            }
        }
    });
    port
}

#[test]
fn a_request_has_to_be_named_by_its_number() {
    let files = json!({ "responseFilePath": "x.txt" });
    for arguments in [json!({}), json!({ "reqid": null }), files] {
        let error = refused("get_network_request", arguments);
        assert!(
            error.contains("give `reqid`, a number that list_network_requests shows"),
            "{error}"
        );
    }
}
