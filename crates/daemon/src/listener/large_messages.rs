//! Limits how many large messages are received at once: few in total, and one per origin. The others wait on the
//! sender's side.

use std::collections::HashMap;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Sleep;
use tokio_util::sync::PollSemaphore;

/// The limit that all connections of a kind share.
#[derive(Debug)]
pub(super) struct LargeMessages {
    all: Arc<Semaphore>,
    origins: Mutex<HashMap<String, Weak<Semaphore>>>,
}

/// One connection's slot.
pub(super) struct Slot {
    /// The origin's semaphore first, so that an origin waits only for itself.
    wanted: [PollSemaphore; 2],
    held: Vec<OwnedSemaphorePermit>,
    /// The deadline of the message that is being received.
    limit: Option<Pin<Box<Sleep>>>,
}

impl LargeMessages {
    pub(super) fn new(most: usize) -> Self {
        Self {
            all: Arc::new(Semaphore::new(most)),
            origins: Mutex::default(),
        }
    }

    pub(super) fn slot(&self, origin: &str) -> Slot {
        let mut origins = self.origins.lock().unwrap_or_else(PoisonError::into_inner);
        origins.retain(|_, one| one.strong_count() > 0);
        let known = origins.get(origin).and_then(Weak::upgrade);
        let one = known.unwrap_or_else(|| {
            let one = Arc::new(Semaphore::new(1));
            origins.insert(origin.to_owned(), Arc::downgrade(&one));
            one
        });
        Slot {
            wanted: [one, Arc::clone(&self.all)].map(PollSemaphore::new),
            held: Vec::new(),
            limit: None,
        }
    }
}

impl Slot {
    pub(super) fn is_held(&self) -> bool {
        self.held.len() == self.wanted.len()
    }

    /// Ready when the slot is acquired.
    pub(super) fn poll_take(&mut self, context: &mut Context<'_>) -> Poll<()> {
        while let Some(wanted) = self.wanted.get_mut(self.held.len()) {
            // The semaphores are never closed.
            if let Some(permit) = ready!(wanted.poll_acquire(context)) {
                self.held.push(permit);
            }
        }
        self.limit = Some(Box::pin(tokio::time::sleep(MESSAGE_LIMIT)));
        Poll::Ready(())
    }

    /// Fails if the message took longer than its deadline.
    pub(super) fn poll_overdue(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        let limit = self.limit.as_mut();
        if limit.is_some_and(|limit| limit.as_mut().poll(context).is_ready()) {
            self.release();
            let why = "the message took too long";
            return Err(io::Error::new(io::ErrorKind::TimedOut, why));
        }
        Ok(())
    }

    pub(super) fn release(&mut self) {
        self.held.clear();
        self.limit = None;
    }
}

/// How long a large message may take once it has its slot: on one machine it takes milliseconds.
const MESSAGE_LIMIT: Duration = Duration::from_secs(10);
