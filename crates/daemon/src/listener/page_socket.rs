//! One connection of a page's worker: what it says goes to the main loop, and the other way round.

use super::Shared;
use super::page_words::{Head, Word};
use axum::extract::ws::{Message, Utf8Bytes, WebSocket};
use std::collections::HashSet;
use std::time::Duration;
use tabmux_browser::pace::Pace;
use tabmux_protocol::page::{FromPage, PAGE_PROTOCOL, ToPage};
use tokio::sync::mpsc;
use tokio::time::Instant;

/// The way that a worker's words take.
pub(super) trait Wire: Send {
    /// The next frame, or nothing at the end. What was begun and not finished loses nothing.
    fn hear(&mut self) -> impl Future<Output = Option<Utf8Bytes>> + Send;
    /// Says something. False if nobody hears it.
    fn say(&mut self, text: String) -> impl Future<Output = bool> + Send;
}

impl Wire for WebSocket {
    async fn hear(&mut self) -> Option<Utf8Bytes> {
        loop {
            match self.recv().await {
                Some(Ok(Message::Text(text))) => return Some(text),
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                _ => return None,
            }
        }
    }

    async fn say(&mut self, text: String) -> bool {
        self.send(Message::Text(text.into())).await.is_ok()
    }
}

/// Serves a worker until it goes, falls silent, or the daemon stops.
pub(super) async fn serve(mut wire: impl Wire, origin: &str, shared: &Shared) {
    let refusal = match hello(&mut wire).await {
        None => return,
        Some(version) if version != PAGE_PROTOCOL => Some(format!(
            "This daemon speaks version {PAGE_PROTOCOL} of the page protocol, and the page version \
             {version}. Bring both up to date."
        )),
        Some(_) => shared.origins.check(origin).err(),
    };
    if let Some(reason) = refusal {
        tracing::warn!(origin, reason, "refused a page");
        say(&mut wire, &ToPage::Refused { reason }).await;
        return;
    }
    let welcome = ToPage::Welcome {
        version: PAGE_PROTOCOL,
    };
    if !say(&mut wire, &welcome).await {
        return;
    }
    let (out, mut outbox) = mpsc::channel(OUTBOX);
    let Some(mut connection) = shared.hub.open_pages(origin, out).await else {
        return;
    };
    tracing::info!(origin, "a page's worker is connected");
    let mut pace = Pace::new(MESSAGES_PER_SECOND, BURST);
    let mut called = HashSet::new();
    let mut heard_at = Instant::now();
    loop {
        let going_on = tokio::select! {
            () = shared.stop.cancelled() => false,
            heard = tokio::time::timeout_at(heard_at + SILENCE_LIMIT, wire.hear()) => match heard {
                Ok(Some(text)) => {
                    heard_at = Instant::now();
                    pace.next(1).await;
                    let head = Head::read(&text);
                    match head.answers() {
                        // An answer is taken once, and only if it was asked for; the caller waits for it.
                        Some(call) if !called.remove(call) => continue,
                        Some(_) => {}
                        // Until there is room for it, nothing more is read: it waits on the page's side.
                        None => connection.pace(text.len()).await,
                    }
                    match head.whole(&text) {
                        Word::News(FromPage::Ping) => match no_longer(shared, origin) {
                            None => say(&mut wire, &ToPage::Pong).await,
                            Some(refusal) => {
                                say(&mut wire, &refusal).await;
                                false
                            }
                        },
                        Word::News(FromPage::Pong | FromPage::Hello { .. }) | Word::Noise => true,
                        Word::News(message) | Word::Answer(message) => {
                            connection.say(message, text.len()).await
                        }
                        Word::Refused(answer) => say(&mut wire, &answer).await,
                    }
                }
                _ => false,
            },
            message = outbox.recv() => match message {
                Some(message) => {
                    let message = no_longer(shared, origin).unwrap_or(message);
                    match &message {
                        ToPage::CallTool { call_id, .. } => {
                            called.insert(call_id.clone());
                        }
                        ToPage::CancelCall { call_id } => {
                            called.remove(call_id);
                        }
                        _ => {}
                    }
                    let last = matches!(message, ToPage::Refused { .. });
                    say(&mut wire, &message).await && !last
                }
                None => false,
            },
        };
        if !going_on {
            return;
        }
    }
}

/// The person may have changed their mind. Looked at before a call goes out, and with each sign of life.
fn no_longer(shared: &Shared, origin: &str) -> Option<ToPage> {
    let reason = shared.origins.check(origin).err()?;
    Some(ToPage::Refused { reason })
}

/// The worker's first word: the protocol that it speaks.
async fn hello(wire: &mut impl Wire) -> Option<u32> {
    let first = tokio::time::timeout(HELLO_LIMIT, wire.hear()).await;
    match serde_json::from_str(&first.ok()??) {
        Ok(FromPage::Hello { version }) => Some(version),
        _ => None,
    }
}

async fn say(wire: &mut impl Wire, message: &ToPage) -> bool {
    let Ok(text) = serde_json::to_string(message) else {
        return true;
    };
    let said = tokio::time::timeout(SEND_LIMIT, wire.say(text)).await;
    said.unwrap_or(false)
}

/// A worker speaks for all tabs of its application, and says everything again after a reconnect: 800 tabs with
/// five tools each at once, and more of them a little later.
const BURST: u32 = 5_000;
const MESSAGES_PER_SECOND: u32 = 2_000;
const OUTBOX: usize = 512;
const HELLO_LIMIT: Duration = Duration::from_secs(5);
/// A worker says something every 20 s.
const SILENCE_LIMIT: Duration = Duration::from_secs(60);
const SEND_LIMIT: Duration = Duration::from_secs(10);
