//! A client that poses as workers of the page library, at the daemon's port.

use super::Library;
use crate::page_worker::{self, PageWorker, Socket};
use futures_util::SinkExt;
use futures_util::future::join_all;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;

/// Attacks forever; signals when it is running.
pub(super) async fn attack(kind: Library, port: u16, under_way: &watch::Sender<bool>) {
    match kind {
        Library::Registrations(count) => {
            let floods = (0..count).map(|number| register_tools(port, number, under_way));
            join_all(floods).await;
        }
        Library::Tabs => register_tabs(port, under_way).await,
        Library::Places(count) => {
            let held = join_all((0..count).map(|_| come_in(port))).await;
            under_way.send_replace(true);
            std::future::pending::<()>().await;
            drop(held);
        }
        Library::Answers => answer(port, under_way).await,
    }
}

/// Reconnects whenever it is disconnected, and never reads.
async fn register_tools(port: u16, number: usize, under_way: &watch::Sender<bool>) {
    let tab = format!("flood-{number}");
    let properties: Value = (0..480)
        .map(|it| {
            (
                format!("property_{it}"),
                json!({"type": "string", "description": "d".repeat(72)}),
            )
        })
        .collect::<serde_json::Map<_, _>>()
        .into();
    let schema = json!({"type": "object", "properties": properties}).to_string();
    let mut said = 0;
    loop {
        let mut socket = again_and_again(port, under_way).await;
        while send(&mut socket, tab_of(&tab)).await
            && {
                // Every message is different, so that none of it can be cached.
                let mut going_on = true;
                for _ in 0..TOOLS_OF_A_TAB {
                    said += 1;
                    let text = format!(
                        r#"{{"type":"REGISTER_TOOL","tabId":"{tab}","name":"tool_{}","description":"{said}","inputSchema":{schema},"handlerType":"proxy","webMcp":false}}"#,
                        said % 60
                    );
                    going_on = going_on && socket.send(Message::text(text)).await.is_ok();
                    under_way.send_replace(true);
                }
                going_on
            }
        {}
    }
}

async fn register_tabs(port: u16, under_way: &watch::Sender<bool>) {
    let mut number = 0;
    loop {
        let mut socket = again_and_again(port, under_way).await;
        loop {
            number += 1;
            let tab = format!("tab-{number}");
            let gone = json!({"type": "UNREGISTER_TAB", "tabId": tab});
            if !send(&mut socket, tab_of(&tab)).await || !send(&mut socket, gone).await {
                break;
            }
            under_way.send_replace(true);
        }
    }
}

/// Offers tools and answers their calls as no library would.
async fn answer(port: u16, under_way: &watch::Sender<bool>) {
    let socket = again_and_again(port, under_way).await;
    let mut worker = PageWorker(socket);
    worker.tab("answers").await;
    for name in ["twice", "never", "picture", "strange", "for_others"] {
        worker.tool("answers", name).await;
    }
    under_way.send_replace(true);
    loop {
        let call = worker.hear().await;
        let result = |id: &Value, result: Value| json!({"type": "TOOL_CALL_RESULT", "callId": id, "success": true, "result": result});
        let text = |text: &str| json!({"content": [{"type": "text", "text": text}]});
        let id = &call["callId"];
        match call["toolName"].as_str() {
            Some("twice") => {
                worker.say(result(id, text("one"))).await;
                worker.say(result(id, text("two"))).await;
            }
            Some("picture") => {
                let data = "\u{1}".repeat(3 * 1024 * 1024);
                let picture =
                    json!({"content": [{"type": "image", "mimeType": "image/png", "data": data}]});
                worker.say(result(id, picture)).await;
            }
            Some("strange") => worker.say(result(id, json!([[[[]]], null]))).await,
            Some("for_others") => {
                for other in 0..1_000 {
                    worker
                        .say(result(&json!(other.to_string()), text("not asked")))
                        .await;
                }
                worker.say(result(id, text("done"))).await;
            }
            _ => {}
        }
    }
}

async fn again_and_again(port: u16, under_way: &watch::Sender<bool>) -> Socket {
    loop {
        if let Some(socket) = come_in(port).await {
            return socket;
        }
        // Being refused is a possible outcome of the attack.
        under_way.send_replace(true);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// A connection that has said hello, if it was accepted.
async fn come_in(port: u16) -> Option<Socket> {
    let address = format!("ws://127.0.0.1:{port}/page");
    let opening = page_worker::open(&address, &[("Origin", "http://localhost:5173")]);
    let (mut socket, _) = timeout(LIMIT, opening).await.ok()?.ok()?;
    let hello = json!({"type": "HELLO", "version": 1, "library": "0", "worker": "shared"});
    send(&mut socket, hello).await.then_some(())?;
    let mut worker = PageWorker(socket);
    let welcome = timeout(LIMIT, futures_util::StreamExt::next(&mut worker.0)).await;
    let welcome = welcome.ok()??.ok()?;
    welcome
        .to_text()
        .ok()?
        .contains("WELCOME")
        .then_some(worker.0)
}

async fn send(socket: &mut Socket, message: Value) -> bool {
    socket
        .send(Message::text(message.to_string()))
        .await
        .is_ok()
}

fn tab_of(id: &str) -> Value {
    json!({
        "type": "REGISTER_TAB", "tabId": id, "documentId": format!("doc-{id}"),
        "url": format!("http://localhost:5173/{id}"), "title": id, "visible": true, "focused": false, "lastSeen": 0
    })
}

const TOOLS_OF_A_TAB: usize = 600;
const LIMIT: Duration = Duration::from_secs(2);
