//! Lets a tool that streams something receive some of a tab's events instead of the tab's actor, while it runs.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use tabmux_cdp::{RawEvent, Session};
use tokio::sync::mpsc;

/// All event subscriptions of one tab.
#[derive(Clone, Debug, Default)]
pub(super) struct EventStreams(Arc<Mutex<List>>);

type List = Vec<(
    u64,
    &'static [&'static str],
    mpsc::Sender<(Session, RawEvent)>,
)>;

/// Some kinds of events of a tab, until it is dropped.
#[derive(Debug)]
pub(crate) struct EventStream {
    number: u64,
    /// The events with their CDP sessions. Ends early when the queue is full.
    pub(crate) events: mpsc::Receiver<(Session, RawEvent)>,
    streams: Weak<Mutex<List>>,
}

impl EventStreams {
    /// A new subscription to events of these names.
    pub(super) fn open(&self, methods: &'static [&'static str]) -> EventStream {
        let (send, events) = mpsc::channel(CAPACITY);
        let mut list = lock(&self.0);
        let number = list.last().map_or(0, |(number, ..)| number + 1);
        list.push((number, methods, send));
        EventStream {
            number,
            events,
            streams: Arc::downgrade(&self.0),
        }
    }

    /// Delivers an event to its subscriber, or returns it.
    pub(super) fn offer(&self, session: &Session, event: RawEvent) -> Option<RawEvent> {
        let mut list = lock(&self.0);
        let wanted = list
            .iter()
            .position(|(_, methods, _)| methods.contains(&event.method()));
        let Some(index) = wanted else {
            return Some(event);
        };
        let sent = list
            .get(index)
            .map(|(_, _, send)| send.try_send((session.clone(), event)).is_ok());
        if sent != Some(true) {
            // A subscriber that does not keep up sees the end of the stream, so that it does not believe to have
            // everything.
            list.remove(index);
        }
        None
    }
}

impl Drop for EventStream {
    fn drop(&mut self) {
        if let Some(streams) = self.streams.upgrade() {
            lock(&streams).retain(|(number, ..)| *number != self.number);
        }
    }
}

fn lock(list: &Mutex<List>) -> MutexGuard<'_, List> {
    list.lock().unwrap_or_else(PoisonError::into_inner)
}

const CAPACITY: usize = 4_096;
