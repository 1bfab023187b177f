//! Connecting to a websocket: what is sent, and what the errors say.

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tabmux_cdp::{ConnectError, Connection, WebSocketTransport, types::runtime::Evaluate};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};
use tokio_tungstenite::{accept_async, tungstenite::Message};

#[tokio::test]
async fn headers_are_sent_and_an_origin_is_not() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("ws://{}/devtools/browser/x", listener.local_addr().unwrap());
    let headers = [("X-Token".to_owned(), "abc".to_owned())];
    let (connected, head) = tokio::join!(WebSocketTransport::connect(&url, &headers), async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.unwrap());
        }
        stream
            .write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n")
            .await
            .unwrap();
        String::from_utf8(head).unwrap().to_lowercase()
    });
    assert!(head.starts_with("get /devtools/browser/x http/1.1\r\n"));
    assert!(head.contains("\r\nx-token: abc\r\n"));
    assert!(!head.contains("\r\norigin:"));
    assert!(!head.contains("sec-websocket-extensions"));
    assert_eq!(
        connected.unwrap_err(),
        ConnectError::Refused { status: 404 }
    );
}

#[tokio::test]
async fn frames_go_both_ways_until_the_browser_closes() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("ws://{}/", listener.local_addr().unwrap());
    let browser = async {
        let (stream, _) = listener.accept().await.unwrap();
        let mut socket = accept_async(stream).await.unwrap();
        let command = socket.next().await.unwrap().unwrap();
        let command: Value = serde_json::from_str(command.to_text().unwrap()).unwrap();
        socket
            .send(Message::Ping("are you there".into()))
            .await
            .unwrap();
        let answer = json!({ "id": command["id"], "result": {} });
        socket
            .send(Message::text(answer.to_string()))
            .await
            .unwrap();
        assert!(socket.next().await.unwrap().unwrap().is_pong());
        socket.close(None).await.unwrap();
    };
    let client = async {
        let transport = WebSocketTransport::connect(&url, &[]).await.unwrap();
        let (session, mut events) = Connection::start(transport);
        session.send(Evaluate::default()).await.unwrap();
        assert!(events.next().await.is_none());
        session.connection().closed().await;
    };
    tokio::join!(browser, client);
}

#[tokio::test]
async fn invalid_addresses_and_headers_are_refused_before_connecting() {
    for url in [
        "",
        "wss://localhost/",
        "http://localhost/",
        "localhost:9222",
        "ws://",
        "ws:// /",
    ] {
        let error = WebSocketTransport::connect(url, &[]).await.unwrap_err();
        assert_eq!(error, ConnectError::BadUrl);
    }
    for (name, value, told) in [("a b", "c", None), ("a", "b\nc", Some("a")), ("", "", None)] {
        let headers = [(name.to_owned(), value.to_owned())];
        let error = WebSocketTransport::connect("ws://localhost/", &headers)
            .await
            .unwrap_err();
        assert_eq!(
            error,
            ConnectError::BadHeader {
                name: told.map(str::to_owned)
            }
        );
    }
}

#[tokio::test]
async fn nothing_at_the_address_is_an_error() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("ws://{}/", listener.local_addr().unwrap());
    drop(listener);
    let error = WebSocketTransport::connect(&url, &[]).await.unwrap_err();
    assert!(matches!(error, ConnectError::Unreachable { .. }), "{error}");
}
