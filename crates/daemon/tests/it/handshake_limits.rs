//! Limits and formats of requests and of the first message.

use crate::page_harness::Daemon;
use serde_json::json;
use tabmux_testkit::patiently;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;

#[tokio::test]
async fn a_hello_is_short_and_what_comes_after_the_welcome_may_be_long() {
    let daemon = Daemon::start().await;
    for (size, is_welcome) in [(1_900, true), (2_100, false), (3_000_000, false)] {
        let host = format!("127.0.0.1:{}", daemon.port);
        let worker = daemon.dial(&host, Some("http://localhost:5173")).await;
        let mut worker = worker.ok().unwrap();
        let hello = json!({"type": "HELLO", "version": 1, "library": "x".repeat(size)});
        use futures_util::{SinkExt, StreamExt};
        // The daemon may close the connection before all of it is sent.
        let _ = worker.0.send(Message::text(hello.to_string())).await;
        let answer = patiently(worker.0.next(), || "an answer, or the end".to_owned()).await;
        let answer = answer.and_then(Result::ok).filter(Message::is_text);
        assert_eq!(answer.is_some(), is_welcome, "{size}: {answer:?}");
        if is_welcome {
            worker.tab("long").await;
            worker
                .offer(
                    "long",
                    "who",
                    json!({"type": "object", "title": "x".repeat(30_000)}),
                )
                .await;
            worker.is_heard().await;
        }
    }
}

#[tokio::test]
async fn a_request_names_us_once_and_in_one_way() {
    let daemon = Daemon::start().await;
    let port = daemon.port;
    let ours = format!("Host: localhost:{port}\r\n");
    assert_eq!(status(port, "/page", &ours).await, "101");
    for (target, hosts) in [
        ("/page", format!("Host: localhost:{port}#@evil.example\r\n")),
        ("/page", format!("Host: me@localhost:{port}\r\n")),
        ("/page", format!("Host: localhost:{port}/\r\n")),
        ("/page", "Host: localhost\r\n".to_owned()),
        ("/page", format!("{ours}{ours}")),
        ("/page", format!("{ours}Host: evil.example\r\n")),
        ("/page", format!("Host: evil.example\r\n{ours}")),
        ("/page", String::new()),
        ("http://evil.example/page", ours.clone()),
    ] {
        let status = status(port, target, &hosts).await;
        assert!(
            status == "403" || status == "400",
            "{target} {hosts}: {status}"
        );
    }
}

/// The answer to a websocket request with these lines.
async fn status(port: u16, target: &str, hosts: &str) -> String {
    let mut socket = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let request = format!(
        "GET {target} HTTP/1.1\r\n{hosts}Origin: http://localhost:5173\r\nConnection: Upgrade\r\n\
         Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    socket.write_all(request.as_bytes()).await.unwrap();
    let mut answer = [0; 12];
    let reading = socket.read_exact(&mut answer);
    patiently(reading, || "an answer".to_owned()).await.unwrap();
    String::from_utf8_lossy(&answer[9..]).into_owned()
}
