//! How many large messages may be on their way at once: few in all, and one of each origin. The others wait on
//! their side of the network.

use std::collections::HashMap;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Sleep;
use tokio_util::sync::PollSemaphore;

/// What all connections of a kind share.
#[derive(Debug)]
pub(super) struct LargeMessages {
    all: Arc<Semaphore>,
    origins: Mutex<HashMap<String, Weak<Semaphore>>>,
}

/// One connection's claim to it.
pub(super) struct Slot {
    /// First the one of the origin, so that an origin waits for itself.
    wanted: [PollSemaphore; 2],
    held: Vec<OwnedSemaphorePermit>,
    /// When a message that is on its way has to be there.
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

    /// Ready when it is held.
    pub(super) fn poll_take(&mut self, context: &mut Context<'_>) -> Poll<()> {
        while let Some(wanted) = self.wanted.get_mut(self.held.len()) {
            // They are never closed.
            if let Some(permit) = ready!(wanted.poll_acquire(context)) {
                self.held.push(permit);
            }
        }
        self.limit = Some(Box::pin(tokio::time::sleep(MESSAGE_LIMIT)));
        Poll::Ready(())
    }

    /// Fails if the message that it is held for is late.
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

/// How long a large message may be on its way once it is its turn: on one machine it takes a moment.
const MESSAGE_LIMIT: Duration = Duration::from_secs(10);
