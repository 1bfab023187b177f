//! One connection of a page worker: passes its messages to the main loop, and messages of the main loop to the
//! worker.

use super::origin::{of_page, quota_owner};
use super::origin_slots::OriginSlot;
use super::page_frames::{Frame, Head, LONGEST_MESSAGE};
use super::upgrade::upgrade;
use super::websocket::Socket;
use super::{Shared, status, text_of};
use crate::pending_slots::PendingSlot;
use hyper::body::Incoming;
use hyper::{Request, Response, StatusCode, header};
use std::collections::HashSet;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tabmux_browser::pace::Pace;
use tabmux_protocol::page::{FromPage, LONGEST_FRAME, PAGE_PROTOCOL, ToPage};
use tabmux_text::one_line;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};

/// Answers a request for `/page`.
pub(super) async fn answer(request: Request<Incoming>, shared: &Arc<Shared>) -> Response<String> {
    // Only pages of browsers send an origin, and only pages may use this path.
    let origin = text_of(request.headers(), header::ORIGIN).and_then(of_page);
    let Some(origin) = origin else {
        return status(StatusCode::FORBIDDEN);
    };
    let Some(pending) = shared.pending.enter().await else {
        return status(StatusCode::SERVICE_UNAVAILABLE);
    };
    let shared = Arc::clone(shared);
    upgrade(request, move |socket| async move {
        serve(socket, pending, &origin, &shared).await;
    })
}

/// The transport of a worker's messages.
pub(super) trait WorkerTransport: Send {
    /// The next frame; `None` at the end. Cancel-safe.
    fn next_frame(&mut self) -> impl Future<Output = Option<Utf8Bytes>> + Send;
    /// The last frame was consumed and freed.
    fn taken(&mut self);
    /// Sends a message. False if the connection is closed.
    fn send_text(&mut self, text: String) -> impl Future<Output = bool> + Send;
    /// The worker is accepted, and may send longer messages from now on.
    fn open(&mut self, origin: &str, shared: &Shared);
}

impl WorkerTransport for Socket {
    async fn next_frame(&mut self) -> Option<Utf8Bytes> {
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

    async fn send_text(&mut self, text: String) -> bool {
        self.send(Message::Text(text.into())).await.is_ok()
    }

    fn open(&mut self, origin: &str, shared: &Shared) {
        Self::open(
            self,
            LONGEST_FRAME,
            shared.large_of_pages.slot(&quota_owner(origin)),
        );
    }
}

/// Serves a worker until it disconnects, is silent for too long, or the daemon stops. It uses a pending slot until it
/// is accepted.
pub(super) async fn serve(
    mut transport: impl WorkerTransport,
    pending: PendingSlot,
    origin: &str,
    shared: &Shared,
) {
    let welcomed = tokio::select! {
        welcomed = welcome(&mut transport, origin, shared) => welcomed,
        () = pending.evicted() => return,
    };
    let Some((place, library)) = welcomed else {
        return;
    };
    drop(pending);
    let (out, mut outbox) = mpsc::channel(OUTBOX);
    let Some(mut connection) = shared.hub.open_pages(origin, library, out).await else {
        return;
    };
    tracing::info!(origin, "a page's worker is connected");
    let mut pace = Pace::new(MESSAGES_PER_SECOND, BURST);
    let mut called = HashSet::new();
    let mut received_at = Instant::now();
    // Rate limit: waits before it reads the next message, so nothing is buffered meanwhile, and everything else
    // continues.
    let mut wait: Option<Pin<Box<dyn Future<Output = ()> + Send>>> = None;
    loop {
        let going_on = tokio::select! {
            () = shared.stop.cancelled() => false,
            () = place.evicted() => {
                let reason = EVICTED.to_owned();
                tracing::warn!(origin, reason, "ended a page's connection");
                send(&mut transport, &ToPage::Refused { reason }).await;
                false
            }
            received = next_frame(&mut transport, &mut wait, &mut received_at) => match received {
                Some(text) => {
                    received_at = Instant::now();
                    let head = Head::read(&text);
                    let was_asked = head.answers().map(|call| called.remove(call));
                    pace.spend(1);
                    // A reply costs nothing, because a caller waits for it. After any other message, the page waits
                    // as long as needed.
                    let bytes = match was_asked {
                        Some(true) => 0,
                        _ => text.len().min(LONGEST_MESSAGE),
                    };
                    wait = Some(Box::pin(connection.pace(pace.free_at(), bytes)));
                    // A reply is accepted once, and only for a pending call.
                    let frame = match was_asked {
                        Some(false) => Frame::Noise,
                        _ => head.whole(&text),
                    };
                    let going_on = match frame {
                        Frame::Message(FromPage::Ping) => match no_longer(shared, origin).await {
                            None => send(&mut transport, &ToPage::Pong).await,
                            Some(refusal) => {
                                send(&mut transport, &refusal).await;
                                false
                            }
                        },
                        Frame::Message(FromPage::Pong | FromPage::Hello { .. }) | Frame::Noise => true,
                        Frame::Message(message) | Frame::Answer(message) => {
                            connection.send(message, text.len()).await
                        }
                        Frame::Refused(answer) => send(&mut transport, &answer).await,
                    };
                    drop(text);
                    transport.taken();
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
                    send(&mut transport, &message).await && !last
                }
                None => false,
            },
        };
        if !going_on {
            return;
        }
    }
}

/// The next frame, after the rate-limit wait. `None` at the end, or after a silence that is too long.
async fn next_frame(
    transport: &mut impl WorkerTransport,
    wait: &mut Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    received_at: &mut Instant,
) -> Option<Utf8Bytes> {
    if let Some(waiting) = wait {
        waiting.await;
        *wait = None;
        *received_at = Instant::now();
    }
    let received = tokio::time::timeout_at(*received_at + SILENCE_LIMIT, transport.next_frame());
    received.await.ok()?
}

/// Reads the hello and accepts the worker. Returns its slot and the version of its library; `None` if it is refused.
async fn welcome(
    transport: &mut impl WorkerTransport,
    origin: &str,
    shared: &Shared,
) -> Option<(OriginSlot, String)> {
    let (version, library) = hello(transport).await?;
    let place = match version {
        PAGE_PROTOCOL => shared.origins.check(origin).await.and_then(|()| {
            let place = shared.pages.take(&quota_owner(origin));
            place.ok_or_else(|| NO_SLOT.to_owned())
        }),
        version => Err(format!(
            "This daemon speaks version {PAGE_PROTOCOL} of the page protocol, and the page version \
             {version}. Update both."
        )),
    };
    let place = match place {
        Ok(place) => place,
        Err(reason) => {
            tracing::warn!(origin, reason, "refused a page");
            send(transport, &ToPage::Refused { reason }).await;
            return None;
        }
    };
    transport.open(origin, shared);
    let version = PAGE_PROTOCOL;
    send(transport, &ToPage::Welcome { version })
        .await
        .then_some((place, library))
}

/// The person may have removed the origin. Checked before each call, and with each keep-alive.
async fn no_longer(shared: &Shared, origin: &str) -> Option<ToPage> {
    let reason = shared.origins.check(origin).await.err()?;
    Some(ToPage::Refused { reason })
}

/// The worker's hello: its protocol version, and the version of its library.
async fn hello(transport: &mut impl WorkerTransport) -> Option<(u32, String)> {
    let first = tokio::time::timeout(HELLO_LIMIT, transport.next_frame()).await;
    let first = first.ok()??;
    let Ok(FromPage::Hello { version, .. }) = serde_json::from_str(&first) else {
        return None;
    };
    // A hello is short, so all of it can be read.
    let said: serde_json::Value = serde_json::from_str(&first).ok()?;
    let library = said["library"].as_str().unwrap_or_default();
    Some((version, one_line(library, LONGEST_VERSION)))
}

async fn send(transport: &mut impl WorkerTransport, message: &ToPage) -> bool {
    let Ok(text) = serde_json::to_string(message) else {
        return true;
    };
    let sent = tokio::time::timeout(SEND_LIMIT, transport.send_text(text)).await;
    sent.unwrap_or(false)
}

const NO_SLOT: &str =
    "Pages of this origin have too many connections to tabmux. Close some of its tabs.";
const EVICTED: &str =
    "Closed to make room for pages of other sites. Close some of this site's tabs.";
/// One worker serves all tabs of its application, and repeats everything after a reconnect: 800 tabs with five tools
/// each at once, and more of them a little later.
const BURST: u32 = 5_000;
const MESSAGES_PER_SECOND: u32 = 2_000;
const OUTBOX: usize = 512;
/// Of a library's version, in characters.
const LONGEST_VERSION: usize = 40;
const HELLO_LIMIT: Duration = Duration::from_secs(5);
/// A worker sends a keep-alive every 20 s.
const SILENCE_LIMIT: Duration = Duration::from_secs(60);
const SEND_LIMIT: Duration = Duration::from_secs(10);
