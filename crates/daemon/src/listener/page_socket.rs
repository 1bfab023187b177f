//! One connection of a page's worker: what it says goes to the main loop, and the other way round.

use super::Shared;
use super::origin::party;
use super::page_frames::{Frame, Head, LONGEST_NEWS};
use super::places::OriginSlot;
use super::websocket::Socket;
use crate::lobby::Guest;
use std::collections::HashSet;
use std::pin::Pin;
use std::time::Duration;
use tabmux_browser::pace::Pace;
use tabmux_protocol::page::{FromPage, LONGEST_FRAME, PAGE_PROTOCOL, ToPage};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};

/// The way that a worker's words take.
pub(super) trait Wire: Send {
    /// The next frame, or nothing at the end. What was begun and not finished loses nothing.
    fn hear(&mut self) -> impl Future<Output = Option<Utf8Bytes>> + Send;
    /// The last frame was taken in, and is no more.
    fn taken(&mut self);
    /// Says something. False if nobody hears it.
    fn say(&mut self, text: String) -> impl Future<Output = bool> + Send;
    /// The worker is welcome, and may say more at once.
    fn open(&mut self, origin: &str, shared: &Shared);
}

impl Wire for Socket {
    async fn hear(&mut self) -> Option<Utf8Bytes> {
        loop {
            match self.recv().await {
                Some(Ok(Message::Text(text))) => return Some(text),
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                _ => return None,
            }
        }
    }

    fn taken(&mut self) {
        Self::release(self);
    }

    async fn say(&mut self, text: String) -> bool {
        self.send(Message::Text(text.into())).await.is_ok()
    }

    fn open(&mut self, origin: &str, shared: &Shared) {
        Self::open(
            self,
            LONGEST_FRAME,
            shared.large_of_pages.slot(&party(origin)),
        );
    }
}

/// Serves a worker until it goes, falls silent, or the daemon stops. It is a guest until it is welcome.
pub(super) async fn serve(mut wire: impl Wire, guest: Guest, origin: &str, shared: &Shared) {
    let place = tokio::select! {
        place = welcome(&mut wire, origin, shared) => place,
        () = guest.evicted() => return,
    };
    let Some(place) = place else {
        return;
    };
    drop(guest);
    let (out, mut outbox) = mpsc::channel(OUTBOX);
    let Some(mut connection) = shared.hub.open_pages(origin, out).await else {
        return;
    };
    tracing::info!(origin, "a page's worker is connected");
    let mut pace = Pace::new(MESSAGES_PER_SECOND, BURST);
    let mut called = HashSet::new();
    let mut heard_at = Instant::now();
    // What was said too fast is waited for before the next is read: nothing of it is kept meanwhile, and everything
    // else goes on.
    let mut wait: Option<Pin<Box<dyn Future<Output = ()> + Send>>> = None;
    loop {
        let going_on = tokio::select! {
            () = shared.stop.cancelled() => false,
            () = place.evicted() => {
                let reason = MAKES_ROOM.to_owned();
                tracing::warn!(origin, reason, "ended a page's connection");
                say(&mut wire, &ToPage::Refused { reason }).await;
                false
            }
            heard = hear(&mut wire, &mut wait, &mut heard_at) => match heard {
                Some(text) => {
                    heard_at = Instant::now();
                    let head = Head::read(&text);
                    let was_asked = head.answers().map(|call| called.remove(call));
                    pace.spend(1);
                    // A caller waits for an answer. After anything else, the page waits as long as it takes.
                    let bytes = match was_asked {
                        Some(true) => 0,
                        _ => text.len().min(LONGEST_NEWS),
                    };
                    wait = Some(Box::pin(connection.pace(pace.free_at(), bytes)));
                    // An answer is taken once, and only if it was asked for.
                    let word = match was_asked {
                        Some(false) => Frame::Noise,
                        _ => head.whole(&text),
                    };
                    let going_on = match word {
                        Frame::News(FromPage::Ping) => match no_longer(shared, origin).await {
                            None => say(&mut wire, &ToPage::Pong).await,
                            Some(refusal) => {
                                say(&mut wire, &refusal).await;
                                false
                            }
                        },
                        Frame::News(FromPage::Pong | FromPage::Hello { .. }) | Frame::Noise => true,
                        Frame::News(message) | Frame::Answer(message) => {
                            connection.say(message, text.len()).await
                        }
                        Frame::Refused(answer) => say(&mut wire, &answer).await,
                    };
                    drop(text);
                    wire.taken();
                    going_on
                }
                None => false,
            },
            message = outbox.recv() => match message {
                Some(message) => {
                    let message = no_longer(shared, origin).await.unwrap_or(message);
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

/// The next frame, once the wait for those before is over. None at the end, or if nothing comes for too long.
async fn hear(
    wire: &mut impl Wire,
    wait: &mut Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    heard_at: &mut Instant,
) -> Option<Utf8Bytes> {
    if let Some(waiting) = wait {
        waiting.await;
        *wait = None;
        *heard_at = Instant::now();
    }
    let heard = tokio::time::timeout_at(*heard_at + SILENCE_LIMIT, wire.hear());
    heard.await.ok()?
}

/// Hears who it is, and welcomes it. The place that it has from now on; none if it is refused.
async fn welcome(wire: &mut impl Wire, origin: &str, shared: &Shared) -> Option<OriginSlot> {
    let place = match hello(wire).await? {
        PAGE_PROTOCOL => shared.origins.check(origin).await.and_then(|()| {
            let place = shared.pages.take(&party(origin));
            place.ok_or_else(|| NO_PLACE.to_owned())
        }),
        version => Err(format!(
            "This daemon speaks version {PAGE_PROTOCOL} of the page protocol, and the page version \
             {version}. Bring both up to date."
        )),
    };
    let place = match place {
        Ok(place) => place,
        Err(reason) => {
            tracing::warn!(origin, reason, "refused a page");
            say(wire, &ToPage::Refused { reason }).await;
            return None;
        }
    };
    wire.open(origin, shared);
    let version = PAGE_PROTOCOL;
    say(wire, &ToPage::Welcome { version })
        .await
        .then_some(place)
}

/// The person may have changed their mind. Looked at before a call goes out, and with each sign of life.
async fn no_longer(shared: &Shared, origin: &str) -> Option<ToPage> {
    let reason = shared.origins.check(origin).await.err()?;
    Some(ToPage::Refused { reason })
}

/// The worker's first word: the protocol that it speaks.
async fn hello(wire: &mut impl Wire) -> Option<u32> {
    let first = tokio::time::timeout(HELLO_LIMIT, wire.hear()).await;
    match serde_json::from_str(&first.ok()??) {
        Ok(FromPage::Hello { version, .. }) => Some(version),
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

const NO_PLACE: &str = "Pages of this origin have as many connections to tabmux as there is room for. Close some of its tabs.";
const MAKES_ROOM: &str =
    "Pages of other sites need this connection's place. Close some of this site's tabs.";
/// A worker speaks for all tabs of its application, and says everything again after a reconnect: 800 tabs with
/// five tools each at once, and more of them a little later.
const BURST: u32 = 5_000;
const MESSAGES_PER_SECOND: u32 = 2_000;
const OUTBOX: usize = 512;
const HELLO_LIMIT: Duration = Duration::from_secs(5);
/// A worker says something every 20 s.
const SILENCE_LIMIT: Duration = Duration::from_secs(60);
const SEND_LIMIT: Duration = Duration::from_secs(10);
