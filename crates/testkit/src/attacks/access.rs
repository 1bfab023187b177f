//! Connections to the daemon that must keep working for others during an attack.

use super::Hold;
use super::calls::ask;
use crate::page_worker::{self, PageWorker};
use crate::{McpClient, SharedDaemon};
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;

/// Connects as an ordinary client, page or extension; returns what went wrong.
pub(super) async fn complaint(hold: Hold, daemon: &SharedDaemon, port: u16) -> Option<String> {
    let tried = match hold {
        Hold::ClientsComeIn => client(daemon).await,
        Hold::PagesComeIn => page(port).await,
        Hold::ExtensionsComeIn => extension(port).await,
        Hold::Disk(most) => disk(daemon, most),
        // This is checked where the answers are read.
        Hold::NoHiddenText | Hold::LastSucceeds => Ok(()),
    };
    tried.err()
}

async fn client(daemon: &SharedDaemon) -> Result<(), String> {
    let mut client = McpClient::spawn(daemon.mcp());
    let greeted = timeout(LIMIT, client.initialize()).await;
    greeted.map_err(|_| "a new client got no session".to_owned())?;
    let answer = ask(&client, "list_pages", json!({})).await;
    if answer.text().is_none() {
        return Err(format!("a new client was not served: {answer:?}"));
    }
    client.close_input().await;
    let _ = timeout(LIMIT, client.wait_for_exit()).await;
    let status = timeout(LIMIT, daemon.status()).await;
    match status {
        Ok(Some(status)) if status["pid"].is_u64() => Ok(()),
        other => Err(format!("`tabmux status` said {other:?}")),
    }
}

async fn page(port: u16) -> Result<(), String> {
    let address = format!("127.0.0.1:{port}");
    let dialling = PageWorker::dial(&address, &[("Origin", "http://localhost:4000")]);
    let dialled = timeout(LIMIT, dialling).await;
    let (mut worker, _) = match dialled {
        Ok(Ok(dialled)) => dialled,
        Ok(Err(status)) => return Err(format!("a page of another origin got status {status}")),
        Err(_) => return Err("a page of another origin was not accepted".to_owned()),
    };
    let greeted = timeout(LIMIT, worker.greet()).await;
    match greeted {
        Ok(word) if word["type"] == "WELCOME" => Ok(()),
        other => Err(format!("a page of another origin was told {other:?}")),
    }
}

async fn extension(port: u16) -> Result<(), String> {
    let address = format!("ws://127.0.0.1:{port}/");
    let headers = extension_headers();
    let opened = timeout(LIMIT, page_worker::open(&address, &headers)).await;
    let mut socket = match opened {
        Ok(Ok((socket, _))) => socket,
        Ok(Err(error)) => return Err(format!("an extension was not accepted: {error}")),
        Err(_) => return Err("an extension was not accepted".to_owned()),
    };
    let hello =
        json!({"type": "hello", "version": 1, "nonce": "0".repeat(64), "instance": "honestone"});
    let said = async {
        socket.send(Message::text(hello.to_string())).await.ok()?;
        let word = socket.next().await?.ok()?;
        serde_json::from_str::<Value>(word.to_text().ok()?).ok()
    };
    match timeout(LIMIT, said).await {
        Ok(Some(word)) if word["proof"].is_string() => Ok(()),
        other => Err(format!("an extension was not challenged: {other:?}")),
    }
}

fn disk(daemon: &SharedDaemon, most: u64) -> Result<(), String> {
    match daemon.disk_bytes() {
        bytes if bytes > most => Err(format!("{bytes} bytes are on the disk, more than {most}")),
        _ => Ok(()),
    }
}

/// The header that our extension's worker sends; any program can send it.
pub(super) fn extension_headers() -> [(&'static str, &'static str); 1] {
    [("Origin", EXTENSION_ORIGIN)]
}

/// The id follows from the key in `packages/extension/manifest.json`.
const EXTENSION_ORIGIN: &str = "chrome-extension://kidkkbhkckkggbmfgbebagoimeiebefc";
const LIMIT: Duration = Duration::from_secs(30);
