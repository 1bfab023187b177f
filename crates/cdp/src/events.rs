//! One session's events: a bounded queue that never makes the reader wait.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use serde_json::value::RawValue;
use tokio::sync::mpsc::{self, error::TrySendError};

use crate::{
    session::Session,
    types::{self, Event},
};

/// An event as it came, with its parameters still raw.
#[derive(Debug)]
pub struct RawEvent {
    method: Box<str>,
    params: Option<Box<RawValue>>,
    /// The session that `Target.attachedToTarget` announces, with the queue of its events. Take it out to use it.
    pub child: Option<(Session, Events)>,
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
            child,
        }
    }

    /// The full name, such as `Page.frameNavigated`.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.method
    }

    /// The parameters as they came; null if none did.
    #[must_use]
    pub fn params(&self) -> &RawValue {
        self.params.as_deref().unwrap_or(RawValue::NULL)
    }

    /// The event as an `E`, if it is one and its parameters can be understood.
    #[must_use]
    pub fn decode<E: Event>(&self) -> Option<E> {
        if *self.method != *E::METHOD {
            return None;
        }
        let params = self.params.as_deref().map_or("{}", RawValue::get);
        match types::decode(params) {
            Ok(event) => Some(event),
            Err(error) => {
                tracing::debug!(method = E::METHOD, %error, "ignored an event that cannot be understood");
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
    /// The next event; none once the session or the connection is over, or the queue has overflowed.
    /// A call that is cancelled loses nothing.
    pub async fn next(&mut self) -> Option<RawEvent> {
        self.queue.recv().await
    }

    /// How many events were left out because this queue was too full for chatter.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}

/// The end of an [`Events`] that the mux holds.
#[derive(Debug)]
pub(crate) struct EventSender {
    /// None once the queue is closed.
    queue: Option<mpsc::Sender<RawEvent>>,
    dropped: Arc<AtomicU64>,
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
        },
        events,
    )
}

impl EventSender {
    /// Whether an event of this name would be queued. One that would not be is counted.
    pub(crate) fn admits(&self, method: &str) -> bool {
        let Some(queue) = self.queue.as_ref().filter(|queue| !queue.is_closed()) else {
            return false;
        };
        let queued = queue.max_capacity() - queue.capacity();
        if queued >= LOSSY_CAPACITY && is_lossy(method) {
            self.dropped.fetch_add(1, Ordering::Relaxed);
            return false;
        }
        true
    }

    /// Queues the event, or closes the queue if it is full. Hands the event back if it was not queued.
    pub(crate) fn push(&mut self, event: RawEvent) -> Result<(), RawEvent> {
        let Some(queue) = &self.queue else {
            return Err(event);
        };
        match queue.try_send(event) {
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

/// Chatter: events of which any one may be missed.
fn is_lossy(method: &str) -> bool {
    method.starts_with("Network.")
        || matches!(method, "Runtime.consoleAPICalled" | "Log.entryAdded")
}

/// How many queued events a session may have before chatter is left out.
pub(crate) const LOSSY_CAPACITY: usize = 4_096;

/// How many queued events a session may have before its queue is closed.
pub(crate) const CAPACITY: usize = 32_768;
