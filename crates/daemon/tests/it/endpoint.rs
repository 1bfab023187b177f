//! Browsers named by their address: the daemon connects with the headers of the sessions that use them now.

use crate::page_harness::request;
use serde_json::json;
use tabmux_daemon::{Client, Handle, Hub, SessionOptions};
use tabmux_protocol::Backend;
use tabmux_protocol::session::{self as wire, ToolMode};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

async fn session(hub: &Hub, address: &str, token: &str) -> Handle {
    let address = wire::EndpointAddress::WebSocket {
        url: address.into(),
        headers: vec![("X-Token".into(), token.into())],
    };
    let options = wire::SessionOptions {
        browser: wire::BrowserOptions {
            choice: wire::BrowserChoice::Endpoints {
                endpoints: vec![address.into()],
            },
            ..wire::BrowserOptions::default()
        },
        tools: ToolMode::Progressive,
        ..wire::SessionOptions::default()
    };
    let options = SessionOptions::from_wire(options).unwrap();
    hub.open(options, Client::default()).await
}

/// The token of the next connection, which is then refused.
async fn token(door: &TcpListener) -> String {
    let (mut stream, _) = door.accept().await.unwrap();
    let mut heard = Vec::new();
    while !heard.ends_with(b"\r\n\r\n") {
        assert!(stream.read_buf(&mut heard).await.unwrap() > 0);
    }
    let refusal = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n";
    stream.write_all(refusal).await.unwrap();
    let heard = String::from_utf8(heard).unwrap().to_lowercase();
    let mut lines = heard.lines();
    let line = lines.find_map(|line| line.strip_prefix("x-token: "));
    line.unwrap_or_default().to_owned()
}

#[tokio::test]
async fn the_headers_of_a_closed_session_are_not_used_for_the_next_one() {
    let door = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("ws://{}/devtools/browser/1", door.local_addr().unwrap());
    let hub = Hub::start();
    for mine in ["first", "second"] {
        let session = session(&hub, &address, mine).await;
        let connect = request("connect_browser", &json!({}));
        let (reply, heard) = tokio::join!(session.call(connect), token(&door));
        assert!(reply.unwrap().is_error);
        assert_eq!(heard, mine);
    }
}
