//! One session's events: a bounded queue that never blocks the reader.

use std::sync::{
    Arc,
    atomic::{AtomicU64, AtomicUsize, Ordering},
};

use serde_json::value::RawValue;
use tokio::sync::mpsc::{self, error::TrySendError};

use crate::{
    session::Session,
    transport::{HEAD, MAX_EVENT, Oversize},
    types::{self, Event},
};

/// An event as received, with its parameters still raw.
#[derive(Debug)]
pub struct RawEvent {
    method: Box<str>,
    params: Option<Box<RawValue>>,
    too_large: Option<TooLarge>,
    _weight: Option<Weight>,
    /// The session that `Target.attachedToTarget` announces, with its event queue. Take it out to use it.
    pub child: Option<(Session, Events)>,
}

/// The kept part of an event that was too large.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TooLarge {
    /// The start of the message, cut at an arbitrary position.
    pub head: String,
    /// How many bytes it had.
    pub bytes: u64,
}

impl TooLarge {
    /// The first value of this name in the kept part, if it is complete: `"name":"text"` or `"name":7`.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<String> {
        let sign = format!("\"{name}\":");
        let rest = self.head.split_once(&sign)?.1;
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<types::Json>();
        let value = values.next()?.ok()?;
        // A number at the very end of the kept part may be cut.
        let is_whole = values.byte_offset() < rest.len();
        is_whole.then(|| {
            value
                .decode::<String>()
                .unwrap_or_else(|_| value.as_str().to_owned())
        })
    }
}

impl RawEvent {
    pub(crate) fn new(
        method: &str,
        params: Option<&RawValue>,
        child: Option<(Session, Events)>,
    ) -> Self {
        Self {
            method: method.into(),
            params: params.map(ToOwned::to_owned),
            too_large: None,
            _weight: None,
            child,
        }
    }

    /// The same event, with only its start kept.
    pub(crate) fn head(
        method: &str,
        params: Option<&RawValue>,
        child: Option<(Session, Events)>,
    ) -> Self {
        let params = params.map_or("", RawValue::get);
        let end = (0..=HEAD.min(params.len()))
            .rev()
            .find(|end| params.is_char_boundary(*end));
        Self {
            method: method.into(),
            params: None,
            too_large: Some(TooLarge {
                head: params[..end.unwrap_or_default()].to_owned(),
                bytes: params.len() as u64,
            }),
            _weight: None,
            child,
        }
    }

    pub(crate) fn oversize(method: &str, frame: Oversize) -> Self {
        Self {
            method: method.into(),
            params: None,
            too_large: Some(TooLarge {
                head: String::from_utf8_lossy(&frame.head).into_owned(),
                bytes: frame.length,
            }),
            _weight: None,
            child: None,
        }
    }

    /// How many bytes it holds.
    pub(crate) fn size(&self) -> usize {
        let params = self.params.as_ref().map_or(0, |params| params.get().len());
        let head = self.too_large.as_ref().map_or(0, |cut| cut.head.len());
        params + head
    }

    /// The kept part of the event, if it was too large. Then it has no parameters, and [`Self::decode`] returns
    /// `None`.
    #[must_use]
    pub fn too_large(&self) -> Option<&TooLarge> {
        self.too_large.as_ref()
    }

    /// The full name, such as `Page.frameNavigated`.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.method
    }

    /// The parameters as received; null if there were none.
    #[must_use]
    pub fn params(&self) -> &RawValue {
        self.params.as_deref().unwrap_or(RawValue::NULL)
    }

    /// The event as an `E`, if it is one and its parameters can be parsed.
    #[must_use]
    pub fn decode<E: Event>(&self) -> Option<E> {
        if *self.method != *E::METHOD || self.too_large.is_some() {
            return None;
        }
        let params = self.params.as_deref().map_or("{}", RawValue::get);
        match tabmux_text::decode(params) {
            Ok(event) => Some(event),
            Err(error) => {
                tracing::debug!(method = E::METHOD, %error, "ignored an event that cannot be parsed");
                None
            }
        }
    }
}

/// The events of one session, in the order in which the browser sent them.
#[derive(Debug)]
pub struct Events {
    queue: mpsc::Receiver<RawEvent>,
    dropped: Arc<AtomicU64>,
}

impl Events {
    /// The next event; `None` once the session or the connection has ended, or the queue has overflowed. Cancel-safe.
    pub async fn next(&mut self) -> Option<RawEvent> {
        self.queue.recv().await
    }

    /// How many lossy events were dropped because this queue was too full.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}

/// The sending end of an [`Events`], held by the mux.
#[derive(Debug)]
pub(crate) struct EventSender {
    /// `None` once the queue is closed.
    queue: Option<mpsc::Sender<RawEvent>>,
    dropped: Arc<AtomicU64>,
    /// How many bytes its events hold, until their consumer drops them.
    held: Arc<AtomicUsize>,
}

/// The bytes that an event holds, counted while it exists.
#[derive(Debug)]
struct Weight {
    bytes: usize,
    held: Arc<AtomicUsize>,
}

impl Weight {
    fn new(bytes: usize, held: &Arc<AtomicUsize>) -> Self {
        held.fetch_add(bytes, Ordering::Relaxed);
        ALL_HELD.fetch_add(bytes, Ordering::Relaxed);
        Self {
            bytes,
            held: Arc::clone(held),
        }
    }
}

impl Drop for Weight {
    fn drop(&mut self) {
        self.held.fetch_sub(self.bytes, Ordering::Relaxed);
        ALL_HELD.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// A queue of events and its consumer.
pub(crate) fn event_queue() -> (EventSender, Events) {
    let (sender, receiver) = mpsc::channel(CAPACITY);
    let dropped = Arc::new(AtomicU64::new(0));
    let events = Events {
        queue: receiver,
        dropped: Arc::clone(&dropped),
    };
    (
        EventSender {
            queue: Some(sender),
            dropped,
            held: Arc::default(),
        },
        events,
    )
}

impl EventSender {
    /// How much of an event of this name and size would be queued. Counts one that would be dropped.
    pub(crate) fn admission(&self, method: &str, size: usize) -> Admission {
        let Some(queue) = self.queue.as_ref().filter(|queue| !queue.is_closed()) else {
            return Admission::None;
        };
        let queued = queue.max_capacity() - queue.capacity();
        let held = self.held.load(Ordering::Relaxed);
        let all = ALL_HELD.load(Ordering::Relaxed);
        let all_full = all + size > ALL_BYTES && held + size > SMALL_SHARE;
        let own_full = queued >= LOSSY_CAPACITY || is_beyond(held, size, LOSSY_BYTES);
        match is_lossy(method) {
            true if own_full || all_full => {
                self.dropped.fetch_add(1, Ordering::Relaxed);
                Admission::None
            }
            false if all_full => Admission::Head,
            _ => Admission::Whole,
        }
    }

    /// Queues the event, or closes the queue if it is full. Returns the event if it was not queued.
    pub(crate) fn push(&mut self, mut event: RawEvent) -> Result<(), RawEvent> {
        let Some(queue) = &self.queue else {
            return Err(event);
        };
        let size = event.size();
        let held = self.held.load(Ordering::Relaxed);
        let sent = match is_beyond(held, size, MOST_BYTES) {
            true => Err(TrySendError::Full(event)),
            false => {
                event._weight = Some(Weight::new(size, &self.held));
                queue.try_send(event)
            }
        };
        match sent {
            Ok(()) => Ok(()),
            Err(TrySendError::Full(event)) => {
                tracing::warn!(
                    method = event.method(),
                    "closed an event queue because its consumer does not keep up"
                );
                self.queue = None;
                Err(event)
            }
            Err(TrySendError::Closed(event)) => {
                self.queue = None;
                Err(event)
            }
        }
    }
}

/// How much of an event a queue accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Admission {
    Whole,
    /// Only its name and its start, as for one that is too large.
    Head,
    None,
}

/// Whether one more event would exceed the limit. A first one is always accepted.
fn is_beyond(held: usize, size: usize, most: usize) -> bool {
    held > 0 && held + size > most
}

/// Lossy events: any one of them may be dropped.
fn is_lossy(method: &str) -> bool {
    method.starts_with("Network.")
        || matches!(method, "Runtime.consoleAPICalled" | "Log.entryAdded")
}

/// How many queued events a session may have before lossy ones are dropped.
pub(crate) const LOSSY_CAPACITY: usize = 4_096;

/// How many queued events a session may have before its queue is closed.
pub(crate) const CAPACITY: usize = 32_768;

/// How many bytes a session's queued events may hold before lossy ones are dropped: one large event of each kind.
const LOSSY_BYTES: usize = MAX_EVENT;

/// How many bytes a session's queued events may hold before its queue is closed.
const MOST_BYTES: usize = 3 * MAX_EVENT;

/// How many bytes all queued events of all connections may hold: the daemon has 150 MB in total. Above that, sessions
/// that hold more than a small share lose lossy events, and get only the start of other ones.
const ALL_BYTES: usize = 48 * 1024 * 1024;

/// What any session may hold, whatever the others do.
const SMALL_SHARE: usize = 256 * 1024;

/// What all queued events hold.
static ALL_HELD: AtomicUsize = AtomicUsize::new(0);
