//! The listener for pages: its addresses, message limits, and what other clients learn from it.

use crate::fake_extension::pass;
use crate::page_harness::{Daemon, Worker, changed, listed, request, text};
use futures_util::{SinkExt, StreamExt};
use serde_json::json;
use std::time::Duration;
use tabmux_protocol::Backend;
use tabmux_protocol::page::LONGEST_FRAME;
use tabmux_protocol::session::ToolMode;
use tabmux_testkit::{patiently, say_skipped};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::http::HeaderMap;

/// Spec: security 9.
#[tokio::test]
async fn a_frame_that_is_too_long_ends_its_worker_only() {
    let daemon = Daemon::start().await;
    let session = daemon.session(ToolMode::Static).await;
    let mut bystander = daemon.worker().await;
    bystander.tab("calm").await;
    bystander.tool("calm", "who").await;
    changed(&session).await;
    let mut flood = daemon.worker().await;
    flood.tab("flood").await;
    flood.tool("flood", "drown").await;
    changed(&session).await;
    let padded = |size: usize| {
        let answer = |error: &str| json!({"type": "TOOL_CALL_RESULT", "callId": "0", "success": false, "error": error});
        let padding = "x".repeat(size - answer("").to_string().len());
        answer(&padding).to_string()
    };
    // The longest allowed message is accepted.
    let most = Message::text(padded(LONGEST_FRAME));
    flood.0.send(most).await.unwrap();
    flood.is_heard().await;

    // The daemon may close the connection before all of it is sent.
    let _ = flood.0.send(Message::text(padded(LONGEST_FRAME + 1))).await;
    let end = async {
        while let Some(Ok(word)) = flood.0.next().await {
            assert!(!word.is_text(), "{word}");
        }
    };
    patiently(end, || "the end of the worker".to_owned()).await;
    changed(&session).await;
    assert_eq!(listed(&session, "drown").await, None);
    let who = request("who", &json!({}));
    let (reply, _) = tokio::join!(session.call(who), bystander.answers());
    assert_eq!(text(&reply.unwrap()), "I am calm");
}

#[tokio::test]
async fn the_overview_names_the_version_of_the_library_of_each_origin() {
    let daemon = Daemon::start().await;
    let rows = async || daemon.hub.overview().await.unwrap().libraries;
    assert_eq!(rows().await, []);
    let mut workers = Vec::new();
    for library in [
        json!("0.0.9"),
        json!("0.0.9"),
        json!(7),
        json!("x".repeat(500)),
    ] {
        let address = format!("127.0.0.1:{}", daemon.port);
        let headers = [
            ("Host", address.as_str()),
            ("Origin", "http://localhost:5173"),
        ];
        let (mut worker, _) = Worker::dial(&address, &headers).await.unwrap();
        worker
            .say(json!({"type": "HELLO", "version": 1, "library": library}))
            .await;
        assert_eq!(worker.hear().await["type"], "WELCOME");
        worker.is_heard().await;
        workers.push(worker);
    }
    let found = rows().await;
    assert!(
        found
            .iter()
            .all(|row| row.origin == "http://localhost:5173"),
        "{found:?}"
    );
    let versions: Vec<_> = found.iter().map(|row| row.version.as_str()).collect();
    assert_eq!(versions[..2], ["", "0.0.9"]);
    assert!(
        versions.len() == 3 && versions[2].chars().count() <= 41,
        "{versions:?}"
    );
}

#[tokio::test]
async fn a_silent_worker_is_closed_even_if_it_receives_messages() {
    let daemon = Daemon::start().await;
    let session = daemon.session(ToolMode::Static).await;
    let mut worker = daemon.worker().await;
    worker.tab("tab-1").await;
    worker.tool("tab-1", "who").await;
    changed(&session).await;
    for _ in 0..3 {
        let called = async { while worker.hear().await["type"] != "CALL_TOOL" {} };
        tokio::select! {
            reply = session.call(request("who", &json!({}))) => panic!("{reply:?}"),
            () = called => {}
        }
        pass(Duration::from_secs(25)).await;
    }
    let end = async { while let Some(Ok(_)) = worker.0.next().await {} };
    patiently(end, || "the end of the worker".to_owned()).await;
    changed(&session).await;
    assert_eq!(listed(&session, "who").await, None);
}

/// Spec: security 10.
#[tokio::test]
async fn compression_is_offered_and_not_taken() {
    let daemon = Daemon::start().await;
    let offer = [(
        "Sec-WebSocket-Extensions",
        "permessage-deflate; client_max_window_bits",
    )];
    let address = format!("127.0.0.1:{}", daemon.port);
    let (mut worker, answer) = arrive(&address, &offer).await;
    assert!(
        !answer.contains_key("Sec-WebSocket-Extensions"),
        "{answer:?}"
    );
    assert!(!shares_with_other_origins(&answer), "{answer:?}");
    assert_eq!(worker.greet().await["type"], "WELCOME");
    // A compressed frame without the extension: the reserved bit is set.
    let (mut rude, _) = arrive(&address, &offer).await;
    assert_eq!(rude.greet().await["type"], "WELCOME");
    let socket = rude.0.get_mut();
    let compressed = [0b1100_0001, 0b1000_0001, 0, 0, 0, 0, b'x'];
    socket.write_all(&compressed).await.unwrap();
    let end = async {
        while let Some(Ok(word)) = rude.0.next().await {
            assert!(!word.is_text(), "{word}");
        }
    };
    patiently(end, || "the end of the worker".to_owned()).await;
}

/// Spec: security 11.
#[tokio::test]
async fn plain_requests_get_nothing_and_no_cors_headers() {
    let daemon = Daemon::start().await;
    for method in ["GET", "HEAD", "OPTIONS", "POST"] {
        for path in ["/", "/page", "/health", "/json/version", "/%2e%2e/"] {
            for origin in ["https://evil.example", "http://localhost:5173", "null"] {
                let answer = looked(&daemon, method, path, origin).await;
                let (head, _) = answer.split_once("\r\n\r\n").unwrap();
                let status = head.split(' ').nth(1).unwrap();
                assert!(status.starts_with('4'), "{method} {path}: {answer}");
                let told = answer.to_lowercase();
                let secrets = [
                    "access-control",
                    "tabmux",
                    env!("CARGO_PKG_VERSION"),
                    "\r\nserver:",
                ];
                for secret in secrets {
                    assert!(
                        !told.contains(secret),
                        "{secret} for {method} {path}: {answer}"
                    );
                }
            }
        }
    }
}

#[tokio::test]
async fn a_worker_may_connect_over_ipv6() {
    if TcpListener::bind("[::1]:0").await.is_err() {
        say_skipped("this machine has no ::1");
        return;
    }
    let daemon = Daemon::start().await;
    let session = daemon.session(ToolMode::Static).await;
    let (mut worker, _) = arrive(&format!("[::1]:{}", daemon.port), &[]).await;
    assert_eq!(worker.greet().await["type"], "WELCOME");
    worker.tab("six").await;
    worker.tool("six", "who").await;
    changed(&session).await;
    let who = request("who", &json!({}));
    let (reply, _) = tokio::join!(session.call(who), worker.answers());
    assert_eq!(text(&reply.unwrap()), "I am six");
}

/// A worker of a local page that opens its websocket at this address, and the answer.
async fn arrive(address: &str, more: &[(&'static str, &str)]) -> (Worker, HeaderMap) {
    let mut headers = vec![("Origin", "http://localhost:5173")];
    headers.extend(more);
    Worker::dial(address, &headers).await.unwrap()
}

/// The whole answer to a plain request, as a page of this origin would make it.
async fn looked(daemon: &Daemon, method: &str, path: &str, origin: &str) -> String {
    let address = format!("127.0.0.1:{}", daemon.port);
    let mut socket = TcpStream::connect(&address).await.unwrap();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nOrigin: {origin}\r\nConnection: close\r\n\
         Access-Control-Request-Method: GET\r\nAccess-Control-Request-Headers: x-any\r\n\
         Access-Control-Request-Private-Network: true\r\nContent-Length: 0\r\n\r\n"
    );
    socket.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    let read = socket.read_to_end(&mut answer);
    patiently(read, || "an answer".to_owned()).await.unwrap();
    String::from_utf8(answer).unwrap()
}

fn shares_with_other_origins(answer: &HeaderMap) -> bool {
    let mut names = answer.keys();
    names.any(|name| name.as_str().starts_with("access-control"))
}
