//! Places for connections that have not shown who they are. When all are taken, the one that has been there
//! longest gives its place to the next: whoever opens connections and says nothing keeps nobody else out.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

/// A fixed number of places.
#[derive(Debug)]
pub(crate) struct Lobby {
    places: Arc<Semaphore>,
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    arrivals: u64,
    /// In the order of their arrival.
    guests: BTreeMap<u64, CancellationToken>,
}

/// A place, until this is dropped.
#[derive(Debug)]
pub(crate) struct Guest {
    lobby: Arc<Lobby>,
    number: u64,
    evicted: CancellationToken,
    _place: OwnedSemaphorePermit,
}

impl Lobby {
    pub(crate) fn new(places: usize) -> Arc<Self> {
        Arc::new(Self {
            places: Arc::new(Semaphore::new(places)),
            waiting: Mutex::default(),
        })
    }

    /// Takes a place; there always is one, as soon as the guest that makes room has left. None only if the
    /// lobby is closed, which it never is.
    pub(crate) async fn enter(self: &Arc<Self>) -> Option<Guest> {
        let place = match Arc::clone(&self.places).try_acquire_owned() {
            Ok(place) => place,
            Err(_) => {
                self.evict_oldest();
                Arc::clone(&self.places).acquire_owned().await.ok()?
            }
        };
        let mut waiting = self.waiting();
        waiting.arrivals += 1;
        let (number, evicted) = (waiting.arrivals, CancellationToken::new());
        waiting.guests.insert(number, evicted.clone());
        Some(Guest {
            lobby: Arc::clone(self),
            number,
            evicted,
            _place: place,
        })
    }

    fn evict_oldest(&self) {
        if let Some((_, evicted)) = self.waiting().guests.pop_first() {
            evicted.cancel();
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Guest {
    /// Resolves when the place is needed for somebody else. Its holder hangs up at once.
    pub(crate) async fn evicted(&self) {
        self.evicted.cancelled().await;
    }
}

impl Guest {
    /// The same for somebody who does not have the place.
    pub(crate) fn eviction(&self) -> CancellationToken {
        self.evicted.clone()
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.lobby.waiting().guests.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_one_that_has_waited_longest_makes_room() {
        let lobby = Lobby::new(2);
        let first = lobby.enter().await.unwrap();
        let second = lobby.enter().await.unwrap();
        assert!(!first.evicted.is_cancelled());
        let third = {
            let (lobby, leaving) = (Arc::clone(&lobby), first.evicted.clone());
            let entering = tokio::spawn(async move { lobby.enter().await });
            leaving.cancelled().await;
            assert!(!entering.is_finished(), "there are never more than two");
            drop(first);
            entering.await.unwrap().unwrap()
        };
        // Who leaves by itself makes room, too.
        drop(second);
        let _fourth = lobby.enter().await.unwrap();
        assert!(!third.evicted.is_cancelled());
        assert_eq!(lobby.waiting().guests.len(), 2);
    }
}
