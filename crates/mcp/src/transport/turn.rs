//! Requests that must take effect in the order in which they came.
//!
//! rmcp runs every request in a separate task. So nothing more is read until a request that must not
//! be overtaken has passed its turn on, or was dropped.

use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Travels with a request through rmcp to its handler.
#[derive(Clone)]
pub(crate) struct Arrival {
    /// To be passed on as soon as the request has taken effect.
    pub(crate) turn: Turn,
    /// How often the tool list had changed before the request was read.
    pub(crate) changes_before: u64,
}

/// The right to be the next request to take effect.
#[derive(Clone)]
pub(crate) struct Turn(Arc<Mutex<Option<OwnedSemaphorePermit>>>);

impl Turn {
    pub(crate) fn pass_on(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

pub(super) struct Turns(Arc<Semaphore>);

impl Turns {
    /// Waits until no request has the turn. Never returns `None`, since the semaphore is never closed.
    pub(super) async fn next(&self) -> Option<Turn> {
        let permit = Arc::clone(&self.0).acquire_owned().await.ok()?;
        Some(Turn(Arc::new(Mutex::new(Some(permit)))))
    }
}

impl Default for Turns {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(1)))
    }
}
