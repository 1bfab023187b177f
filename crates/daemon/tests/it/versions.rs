//! A daemon of another version: replaced when idle, left alone when in use.

use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use tabmux_daemon_client::SocketPath;
use tabmux_protocol::Backend;
use tabmux_protocol::wire::PROTOCOL;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixListener;

/// A daemon that claims version 0.0.1, until it is stopped. Returns the messages it got.
async fn old_daemon(socket: PathBuf, sessions: usize, protocol: u32) -> Vec<String> {
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
            "REGISTER" if message["protocol"] != protocol => {
                json!({"type": "ERROR", "id": id, "error": REFUSAL})
            }
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
    let (heard, started, _) = meet_speaking(PROTOCOL, sessions).await;
    (heard, started)
}

/// What the daemon got, how many others were started, and what the client was told.
async fn meet_speaking(protocol: u32, sessions: usize) -> (Vec<String>, usize, String) {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("d.sock");
    let daemon = tokio::spawn(old_daemon(socket.clone(), sessions, protocol));
    while !socket.exists() {
        tokio::task::yield_now().await;
    }
    let (session, started) = crate::remote::open(SocketPath::choose(Some(socket)));
    let told = format!("{:?}", session.tools().await);
    drop(session);
    (daemon.await.unwrap(), started.load(Ordering::Relaxed), told)
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

/// Spec: security 31.
#[tokio::test]
async fn a_daemon_of_another_protocol_that_is_in_use_stays_and_its_refusal_is_passed_on() {
    let (heard, started, told) = meet_speaking(1, 1).await;
    assert_eq!(heard, ["PING", "STATUS", "REGISTER"]);
    assert_eq!(started, 0);
    assert!(told.contains(&format!("{REFUSAL}.")), "{told}");
}

/// What a daemon of protocol 1 answers.
const REFUSAL: &str = "This daemon speaks protocol 1 (tabmux 0.0.1), the client 2 (tabmux 0.1.0). \
                       Stop the daemon with `tabmux daemon stop` and try again";
