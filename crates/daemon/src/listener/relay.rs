//! Workers of the page library that come through an extension, because Chrome keeps public pages from this
//! machine. The extension has proved itself, and the origin is Chrome's word.

use super::page_socket::{self, Wire};
use super::{Shared, origin};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tabmux_browser::text::one_line;
use tabmux_protocol::extension::{FromExtension, ToExtension};
use tabmux_protocol::page::LONGEST_FRAME;
use tokio::sync::mpsc;
use tokio_tungstenite::tungstenite::Utf8Bytes;

/// The workers behind one extension. They go with it.
pub(super) struct Relays {
    shared: Arc<Shared>,
    out: mpsc::Sender<ToExtension>,
    inboxes: HashMap<u32, Inbox>,
}

/// What a worker has said and nobody has read yet.
struct Inbox {
    frames: mpsc::Sender<String>,
    bytes: Arc<AtomicUsize>,
}

impl Relays {
    pub(super) fn new(shared: Arc<Shared>, out: mpsc::Sender<ToExtension>) -> Self {
        Self {
            shared,
            out,
            inboxes: HashMap::new(),
        }
    }

    /// Takes what concerns pages, and gives back everything else.
    pub(super) fn hear(&mut self, message: FromExtension) -> Option<FromExtension> {
        match message {
            FromExtension::PageOpened { connection, origin } => self.open(connection, &origin),
            FromExtension::PageSaid { connection, text } => self.say(connection, text),
            FromExtension::PageEnded { connection } => drop(self.inboxes.remove(&connection)),
            other => return Some(other),
        }
        None
    }

    /// A page that may not come learns nothing, not even that somebody is here. One that may gets an empty
    /// word first.
    fn open(&mut self, connection: u32, told: &str) {
        // Those that ended on our side.
        self.inboxes.retain(|_, inbox| !inbox.frames.is_closed());
        let known = origin::of_page(told).ok_or_else(|| "This is no page's origin.".to_owned());
        let allowed = known.and_then(|origin| self.shared.origins.check(&origin).map(|()| origin));
        let origin = match allowed {
            Ok(origin) => origin,
            Err(reason) => {
                let origin = one_line(told, 200);
                tracing::warn!(origin, reason, "refused a page behind an extension");
                return self.end(connection);
            }
        };
        let text = String::new();
        let opens = ToExtension::PageTold { connection, text };
        if self.out.try_send(opens).is_err() {
            return; // It is too busy for this one, which comes again later.
        }
        let (frames, read) = mpsc::channel(MOST_UNREAD);
        let bytes = Arc::<AtomicUsize>::default();
        let wire = Relayed {
            connection,
            frames: read,
            bytes: Arc::clone(&bytes),
            out: self.out.clone(),
        };
        self.inboxes.insert(connection, Inbox { frames, bytes });
        let shared = Arc::clone(&self.shared);
        tokio::spawn(async move {
            if let Some(guest) = shared.unwelcomed.enter().await {
                page_socket::serve(wire, guest, &origin, &shared).await;
            }
        });
    }

    /// Whoever says more than is read comes again later: nobody else behind this extension waits for it.
    fn say(&mut self, connection: u32, text: String) {
        let Some(inbox) = self.inboxes.get(&connection) else {
            return;
        };
        let bytes = inbox.bytes.fetch_add(text.len(), Ordering::Relaxed);
        let fits = text.len() <= LONGEST_FRAME && bytes <= MOST_UNREAD_BYTES;
        if !fits || inbox.frames.try_send(text).is_err() {
            self.inboxes.remove(&connection);
        }
    }

    fn end(&self, connection: u32) {
        tell_end(&self.out, connection);
    }
}

/// Nobody waits for that, and it is not lost where the extension has much to read.
fn tell_end(out: &mpsc::Sender<ToExtension>, connection: u32) {
    let told = out.try_send(ToExtension::PageEnded { connection });
    if let Err(mpsc::error::TrySendError::Full(ended)) = told {
        let out = out.clone();
        tokio::spawn(async move {
            let _ = out.send(ended).await;
        });
    }
}

/// One worker's way through its extension.
struct Relayed {
    connection: u32,
    frames: mpsc::Receiver<String>,
    bytes: Arc<AtomicUsize>,
    out: mpsc::Sender<ToExtension>,
}

impl Wire for Relayed {
    async fn hear(&mut self) -> Option<Utf8Bytes> {
        let frame = self.frames.recv().await?;
        self.bytes.fetch_sub(frame.len(), Ordering::Relaxed);
        Some(frame.into())
    }

    async fn say(&mut self, text: String) -> bool {
        let connection = self.connection;
        let told = self.out.send(ToExtension::PageTold { connection, text });
        told.await.is_ok()
    }

    /// What comes through an extension is bounded where the extension says it.
    fn open(&mut self, _origin: &str, _shared: &Shared) {}
}

impl Drop for Relayed {
    fn drop(&mut self) {
        tell_end(&self.out, self.connection);
    }
}

const MOST_UNREAD: usize = 10_000;
const MOST_UNREAD_BYTES: usize = 32 * 1024 * 1024;
