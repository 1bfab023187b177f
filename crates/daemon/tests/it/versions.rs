//! A daemon of another version: replaced when idle, left alone when in use.

use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use tabmux_daemon_client::SocketPath;
use tabmux_protocol::Backend;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixListener;

/// A daemon that claims version 0.0.1, until it is stopped. Returns the messages it got.
async fn old_daemon(socket: PathBuf, sessions: usize) -> Vec<String> {
    let listener = UnixListener::bind(&socket).unwrap();
    let (stream, _) = listener.accept().await.unwrap();
    let (read, mut write) = stream.into_split();
    let mut lines = BufReader::new(read).lines();
    let mut heard = Vec::new();
    while let Some(line) = lines.next_line().await.unwrap() {
        let message: Value = serde_json::from_str(&line).unwrap();
        let kind = message["type"].as_str().unwrap().to_owned();
        let id = message["id"].clone();
        let answer = match kind.as_str() {
            "PING" => json!({"type": "PONG", "id": id, "version": "0.0.1"}),
            "STATUS" => json!({
                "type": "STATUS_OK", "id": id, "extensionConnected": false, "activeSessions": sessions
            }),
            "REGISTER" => json!({
                "type": "REGISTERED", "id": id, "sessionId": "sess_old", "secret": "", "version": "0.0.1",
                "resumed": false
            }),
            "TOOLS" => json!({"type": "TOOLS_OK", "id": id, "tools": []}),
            _ => json!({"type": "STOPPING", "id": id}),
        };
        heard.push(kind.clone());
        write
            .write_all(format!("{answer}\n").as_bytes())
            .await
            .unwrap();
        if kind == "STOP" || kind == "TOOLS" {
            break;
        }
    }
    std::fs::remove_file(socket).unwrap();
    heard
}

async fn meet(sessions: usize) -> (Vec<String>, usize) {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("d.sock");
    let daemon = tokio::spawn(old_daemon(socket.clone(), sessions));
    while !socket.exists() {
        tokio::task::yield_now().await;
    }
    let (session, started) = crate::remote::open(SocketPath::choose(Some(socket)));
    let _ = session.tools().await;
    (daemon.await.unwrap(), started.load(Ordering::Relaxed))
}

/// Spec: security 31.
#[tokio::test]
async fn an_idle_daemon_of_another_version_is_replaced() {
    let (heard, started) = meet(0).await;
    assert_eq!(heard, ["PING", "STATUS", "STOP"]);
    assert!(started > 0, "a new one was started");
}

/// Spec: security 31.
#[tokio::test]
async fn a_daemon_of_another_version_that_is_in_use_stays() {
    let (heard, _) = meet(1).await;
    assert_eq!(heard, ["PING", "STATUS", "REGISTER", "TOOLS"]);
}
