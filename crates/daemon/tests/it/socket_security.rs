//! What must fail on the socket: other sessions, other protocols, long lines, other users' files.

use crate::server::Server;
use crate::wire::Wire;
use serde_json::json;
use std::os::unix::fs::MetadataExt;
use tabmux_daemon::socket::{ListenError, Listening};
use tabmux_daemon_client::SocketPath;

/// Spec: security 17.
#[tokio::test]
async fn another_connections_session_does_not_exist_here() {
    let server = Server::start();
    let (mut owner, mut thief) = (
        Wire::connect(server.socket()).await,
        Wire::connect(server.socket()).await,
    );
    let session = owner.register().await;
    let call = json!({
        "type": "REQUEST", "sessionId": session, "requestId": "x:1", "action": "list_tabs", "params": {}
    });
    assert_eq!(
        thief.ask(call.clone()).await,
        json!({"type": "ERROR", "requestId": "x:1", "error": "Invalid session"})
    );
    thief.register().await;
    assert_eq!(thief.ask(call).await["error"], "Invalid session");
    let tools = json!({"type": "TOOLS", "id": "t", "sessionId": session});
    assert_eq!(thief.ask(tools.clone()).await["error"], "Invalid session");
    // Nor can it be closed from here.
    thief
        .send(json!({"type": "DISCONNECT", "sessionId": session}))
        .await;
    assert_eq!(owner.ask(tools).await["type"], "TOOLS_OK");
}

/// Spec: security 16.
#[tokio::test]
async fn http_and_endless_lines_are_cut_off_and_others_go_on() {
    let server = Server::start();
    let mut bystander = Wire::connect(server.socket()).await;
    let session = bystander.register().await;
    for verb in [
        "GET / HTTP/1.1\r\n",
        "POST /mcp HTTP/1.1\r\nHost: x\r\n\r\n{}\r\n",
    ] {
        let mut page = Wire::connect(server.socket()).await;
        page.send_bytes(verb.as_bytes()).await;
        assert_eq!(page.next().await.unwrap()["error"], "this is HTTP");
        assert_eq!(page.next().await, None);
    }
    let mut flood = Wire::connect(server.socket()).await;
    let chunk = vec![b'x'; 1024 * 1024];
    for _ in 0..100 {
        flood.send_bytes(&chunk).await;
    }
    flood.send_bytes(b"\n").await;
    assert_eq!(
        flood.next().await.map(|answer| answer["error"].clone()),
        Some("the line is too long".into())
    );
    let mut noise = Wire::connect(server.socket()).await;
    noise.send_bytes(b"\xff\xfe\x00\n").await;
    assert_eq!(
        noise.next().await.unwrap()["error"],
        "the line is not UTF-8"
    );
    let tools = json!({"type": "TOOLS", "id": "t", "sessionId": session});
    assert_eq!(bystander.ask(tools).await["type"], "TOOLS_OK");
}

#[tokio::test]
async fn an_invalid_line_gets_an_error_and_the_connection_stays() {
    let server = Server::start();
    let mut client = Wire::connect(server.socket()).await;
    for line in [
        "{}",
        "[]",
        "nonsense",
        r#"{"type":"DANCE"}"#,
        r#"{"type":"REQUEST"}"#,
    ] {
        client.send_bytes(format!("{line}\n").as_bytes()).await;
        let answer = client.next().await.unwrap();
        assert!(
            answer["error"]
                .as_str()
                .unwrap()
                .starts_with("Invalid message"),
            "{answer}"
        );
    }
    client.register().await;
}

/// Spec: security 12.
#[tokio::test]
async fn the_socket_is_ours_alone() {
    let server = Server::start();
    assert_eq!(
        std::fs::metadata(server.socket()).unwrap().mode() & 0o777,
        0o600
    );
    assert_eq!(
        std::fs::metadata(server.place.lock()).unwrap().mode() & 0o777,
        0o600
    );
}

/// Spec: security 14.
#[tokio::test]
async fn foreign_files_at_the_socket_path_are_not_removed() {
    let folder = tempfile::tempdir().unwrap();
    let place = SocketPath::choose(Some(folder.path().join("d.sock")));
    std::fs::write(place.socket(), "precious").unwrap();
    assert!(matches!(
        Listening::start(&place),
        Err(ListenError::InTheWay(_))
    ));
    assert_eq!(std::fs::read(place.socket()).unwrap(), b"precious");
    std::fs::remove_file(place.socket()).unwrap();
    // A live socket of another program.
    let squatter = std::os::unix::net::UnixListener::bind(place.socket()).unwrap();
    assert!(matches!(
        Listening::start(&place),
        Err(ListenError::Taken(_))
    ));
    drop(squatter);
}
