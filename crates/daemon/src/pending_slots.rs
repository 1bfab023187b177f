//! A limited number of slots for connections that have not identified themselves. If all are used, the oldest one is
//! evicted for the next: silent connections cannot lock others out.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

/// A fixed number of slots.
#[derive(Debug)]
pub struct PendingSlots {
    permits: Arc<Semaphore>,
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    arrivals: u64,
    /// Oldest first.
    slots: BTreeMap<u64, CancellationToken>,
}

/// A slot, until this is dropped.
#[derive(Debug)]
pub struct PendingSlot {
    slots: Arc<PendingSlots>,
    number: u64,
    evicted: CancellationToken,
    _permit: OwnedSemaphorePermit,
}

impl PendingSlots {
    /// A limit of so many slots.
    pub fn new(permits: usize) -> Arc<Self> {
        Arc::new(Self {
            permits: Arc::new(Semaphore::new(permits)),
            waiting: Mutex::default(),
        })
    }

    /// Takes a slot; one is always free as soon as the evicted connection has ended. `None` only if the semaphore is
    /// closed, which never happens.
    pub async fn enter(self: &Arc<Self>) -> Option<PendingSlot> {
        let permit = match Arc::clone(&self.permits).try_acquire_owned() {
            Ok(permit) => permit,
            Err(_) => {
                self.evict_oldest();
                Arc::clone(&self.permits).acquire_owned().await.ok()?
            }
        };
        let mut waiting = self.waiting();
        waiting.arrivals += 1;
        let (number, evicted) = (waiting.arrivals, CancellationToken::new());
        waiting.slots.insert(number, evicted.clone());
        Some(PendingSlot {
            slots: Arc::clone(self),
            number,
            evicted,
            _permit: permit,
        })
    }

    fn evict_oldest(&self) {
        if let Some((_, evicted)) = self.waiting().slots.pop_first() {
            evicted.cancel();
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PendingSlot {
    /// Resolves when the slot is needed for another connection. The holder then closes its connection at once.
    pub async fn evicted(&self) {
        self.evicted.cancelled().await;
    }
}

impl PendingSlot {
    /// The same as a token, for code that does not hold the slot.
    pub fn eviction(&self) -> CancellationToken {
        self.evicted.clone()
    }
}

impl Drop for PendingSlot {
    fn drop(&mut self) {
        self.slots.waiting().slots.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_oldest_connection_is_evicted_first() {
        let slots = PendingSlots::new(2);
        let first = slots.enter().await.unwrap();
        let second = slots.enter().await.unwrap();
        assert!(!first.evicted.is_cancelled());
        let third = {
            let (slots, evicted) = (Arc::clone(&slots), first.evicted.clone());
            let entering = tokio::spawn(async move { slots.enter().await });
            evicted.cancelled().await;
            assert!(!entering.is_finished(), "there are never more than two");
            drop(first);
            entering.await.unwrap().unwrap()
        };
        // A dropped slot is free again, too.
        drop(second);
        let _fourth = slots.enter().await.unwrap();
        assert!(!third.evicted.is_cancelled());
        assert_eq!(slots.waiting().slots.len(), 2);
    }
}
