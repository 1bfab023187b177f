//! Workers of the page library that connect through an extension, because Chrome does not let public pages reach this
//! machine. The extension has proved itself, and Chrome reports the origin.

use super::page_socket::{self, WorkerTransport};
use super::websocket::LONGEST_BEFORE_HELLO;
use super::{Shared, origin};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use tabmux_protocol::extension::{FromExtension, ToExtension};
use tabmux_protocol::page::LONGEST_FRAME;
use tabmux_text::one_line;
use tokio::sync::mpsc;
use tokio_tungstenite::tungstenite::Utf8Bytes;
use tokio_util::sync::CancellationToken;

/// The workers behind one extension. They end with it.
pub(super) struct Relays {
    shared: Arc<Shared>,
    out: mpsc::Sender<ToExtension>,
    inboxes: HashMap<u32, Inbox>,
}

/// Messages of a worker that are not read yet.
struct Inbox {
    frames: mpsc::Sender<Frame>,
    bytes: Arc<AtomicUsize>,
    /// Whether it has been accepted.
    welcome: Arc<AtomicBool>,
    /// Set when the worker ends; its unread messages are dropped.
    over: CancellationToken,
}

/// A message of a worker. Its bytes are counted until it is dropped.
struct Frame {
    text: String,
    _counted: [Counted; 2],
}

/// Bytes that count towards a sum, until this is dropped.
struct Counted {
    bytes: usize,
    sum: Arc<AtomicUsize>,
}

impl Counted {
    fn new(bytes: usize, sum: &Arc<AtomicUsize>) -> Self {
        sum.fetch_add(bytes, Ordering::Relaxed);
        let sum = Arc::clone(sum);
        Self { bytes, sum }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.sum.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

impl Relays {
    pub(super) fn new(shared: Arc<Shared>, out: mpsc::Sender<ToExtension>) -> Self {
        Self {
            shared,
            out,
            inboxes: HashMap::new(),
        }
    }

    /// Handles messages of pages, and returns all others.
    pub(super) fn handle(&mut self, message: FromExtension) -> Option<FromExtension> {
        match message {
            FromExtension::PageOpened { connection, origin } => self.open(connection, &origin),
            FromExtension::PageSaid { connection, text } => self.received(connection, text),
            FromExtension::PageEnded { connection } => drop(self.inboxes.remove(&connection)),
            other => return Some(other),
        }
        None
    }

    /// A page that is not allowed gets no answer at all. One that is allowed gets an empty message first.
    fn open(&mut self, connection: u32, told: &str) {
        // Removes the workers that ended on our side.
        self.inboxes.retain(|_, inbox| !inbox.frames.is_closed());
        let told = one_line(told, 200);
        let Some(origin) = origin::of_page(&told) else {
            tracing::warn!(
                origin = told,
                "refused a page behind an extension: it has no origin"
            );
            return tell_end(&self.out, connection);
        };
        let (frames, read) = mpsc::channel(MOST_UNREAD);
        let (welcome, over) = (Arc::<AtomicBool>::default(), CancellationToken::new());
        let transport = Relayed {
            connection,
            frames: read,
            welcome: Arc::clone(&welcome),
            over: over.clone(),
            out: self.out.clone(),
        };
        let inbox = Inbox {
            frames,
            bytes: Arc::default(),
            welcome,
            over,
        };
        self.inboxes.insert(connection, inbox);
        let shared = Arc::clone(&self.shared);
        tokio::spawn(async move {
            if let Err(reason) = shared.origins.check(&origin).await {
                tracing::warn!(origin, reason, "refused a page behind an extension");
                return;
            }
            let text = String::new();
            let opens = ToExtension::PageTold { connection, text };
            if transport.out.try_send(opens).is_err() {
                return; // The queue is full; the worker will retry.
            }
            if let Some(pending) = shared.pending.enter().await {
                page_socket::serve(transport, pending, &origin, &shared).await;
            }
        });
    }

    /// A worker that sends more than is read is disconnected and may retry later: others behind the same extension do
    /// not wait for it.
    fn received(&mut self, connection: u32, text: String) {
        let Some(inbox) = self.inboxes.get(&connection) else {
            return;
        };
        let unread = inbox.bytes.load(Ordering::Relaxed);
        let fits = match inbox.welcome.load(Ordering::Relaxed) {
            true => text.len() <= LONGEST_FRAME && unread <= MOST_UNREAD_BYTES,
            false => text.len() + unread <= LONGEST_BEFORE_HELLO,
        };
        let sums = [&inbox.bytes, &self.shared.relayed];
        let frame = Frame {
            _counted: sums.map(|sum| Counted::new(text.len(), sum)),
            text,
        };
        if !fits || inbox.frames.try_send(frame).is_err() {
            return self.drop_inbox(connection);
        }
        // If the total is too large, the worker with most unread bytes is disconnected.
        if self.shared.relayed.load(Ordering::Relaxed) > MOST_UNREAD_OF_ALL {
            let unread = |inbox: &Inbox| inbox.bytes.load(Ordering::Relaxed);
            let most = self.inboxes.iter().max_by_key(|(_, inbox)| unread(inbox));
            if let Some(connection) = most.map(|(connection, _)| *connection) {
                self.drop_inbox(connection);
            }
        }
    }

    fn drop_inbox(&mut self, connection: u32) {
        if let Some(inbox) = self.inboxes.remove(&connection) {
            inbox.over.cancel();
        }
    }
}

/// If the queue is full, a task delivers it later.
fn tell_end(out: &mpsc::Sender<ToExtension>, connection: u32) {
    let told = out.try_send(ToExtension::PageEnded { connection });
    if let Err(mpsc::error::TrySendError::Full(ended)) = told {
        let out = out.clone();
        tokio::spawn(async move {
            let _ = out.send(ended).await;
        });
    }
}

/// The transport of one worker through its extension.
struct Relayed {
    connection: u32,
    frames: mpsc::Receiver<Frame>,
    welcome: Arc<AtomicBool>,
    over: CancellationToken,
    out: mpsc::Sender<ToExtension>,
}

impl WorkerTransport for Relayed {
    async fn next_frame(&mut self) -> Option<Utf8Bytes> {
        tokio::select! {
            biased;
            () = self.over.cancelled() => None,
            frame = self.frames.recv() => Some(frame?.text.into()),
        }
    }

    fn taken(&mut self) {}

    async fn send_text(&mut self, text: String) -> bool {
        let connection = self.connection;
        let told = self.out.send(ToExtension::PageTold { connection, text });
        told.await.is_ok()
    }

    fn open(&mut self, _origin: &str, _shared: &Shared) {
        self.welcome.store(true, Ordering::Relaxed);
    }
}

impl Drop for Relayed {
    fn drop(&mut self) {
        tell_end(&self.out, self.connection);
    }
}

const MOST_UNREAD: usize = 10_000;
/// The limit for unread bytes of a worker; one reply to a call may be larger. What a worker of 800 tabs sends after a
/// reconnect is less.
const MOST_UNREAD_BYTES: usize = 8 * 1024 * 1024;
/// The limit for all workers: the longest reply, and some of others.
const MOST_UNREAD_OF_ALL: usize = 32 * 1024 * 1024;

#[cfg(test)]
mod tests {
    use super::super::large_messages::LargeMessages;
    use super::super::origin_slots::OriginSlots;
    use super::super::peer_user::PeerUsers;
    use super::super::{PageOrigins, Semaphore};
    use super::*;
    use crate::handle::Hub;
    use crate::pending_slots::PendingSlots;

    fn shared() -> Arc<Shared> {
        Arc::new(Shared {
            hub: Arc::new(Hub::start()),
            origins: PageOrigins::default(),
            port: 0,
            secret: "/nonexistent/secret".into(),
            secret_turns: Arc::new(Semaphore::new(1)),
            other_users: false,
            peer_users: PeerUsers::default(),
            relayed: Arc::default(),
            heads: PendingSlots::new(1),
            pending: PendingSlots::new(10),
            unproved: PendingSlots::new(1),
            pages: OriginSlots::new(10),
            large_of_pages: LargeMessages::new(1),
            large_of_extensions: LargeMessages::new(1),
            stop: CancellationToken::new(),
        })
    }

    fn open(relays: &mut Relays, connection: u32) {
        let origin = format!("http://localhost:{connection}");
        relays.handle(FromExtension::PageOpened { connection, origin });
    }

    fn say(relays: &mut Relays, connection: u32, bytes: usize) {
        let text = "x".repeat(bytes);
        relays.handle(FromExtension::PageSaid { connection, text });
    }

    // Nothing is read meanwhile: there is one thread, and it does not wait.
    #[tokio::test]
    async fn workers_behind_extensions_have_a_bound_before_hello_and_in_all() {
        let shared = shared();
        let (out, _kept) = mpsc::channel(100);
        let mut relays = Relays::new(Arc::clone(&shared), out);
        let unread = || shared.relayed.load(Ordering::Relaxed);
        for connection in 0..6 {
            open(&mut relays, connection);
        }
        say(&mut relays, 0, 1_500);
        assert_eq!((relays.inboxes.len(), unread()), (6, 1_500));
        say(&mut relays, 0, 1_500);
        assert_eq!(relays.inboxes.len(), 5);
        for inbox in relays.inboxes.values() {
            inbox.welcome.store(true, Ordering::Relaxed);
        }
        const MIB: usize = 1024 * 1024;
        for connection in 1..5 {
            say(&mut relays, connection, 7 * MIB);
        }
        assert_eq!(relays.inboxes.len(), 5);
        say(&mut relays, 5, 3 * MIB);
        assert_eq!(relays.inboxes.len(), 5);
        say(&mut relays, 2, 2 * MIB);
        // The worker with most unread bytes is ended, and its messages are dropped.
        assert!(!relays.inboxes.contains_key(&2) && relays.inboxes.len() == 4);
        while unread() > 24 * MIB {
            tokio::task::yield_now().await;
        }
    }
}
