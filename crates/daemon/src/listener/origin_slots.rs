//! A limited number of slots for connections of pages. One origin (or local port) may use all of them as long as no
//! other origin needs one; then its newest connections are evicted.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio_util::sync::CancellationToken;

/// A fixed number of slots.
#[derive(Debug)]
pub(super) struct OriginSlots {
    most: usize,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    arrivals: u64,
    taken: usize,
    /// The connections of each origin, oldest first.
    origins: HashMap<String, BTreeMap<u64, CancellationToken>>,
}

/// A slot, until this is dropped.
#[derive(Debug)]
pub(super) struct OriginSlot {
    slots: Arc<OriginSlots>,
    origin: String,
    number: u64,
    evicted: CancellationToken,
}

impl OriginSlots {
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self {
            most,
            table: Mutex::default(),
        })
    }

    /// Takes a slot for a page of this origin. If all are used, the origin with most slots loses its newest, unless
    /// this origin would then have as many. `None` if there is no slot.
    pub(super) fn take(self: &Arc<Self>, origin: &str) -> Option<OriginSlot> {
        let mut table = self.table();
        if table.taken >= self.most {
            let own = table.origins.get(origin).map_or(0, BTreeMap::len);
            let (greedy, most) = table.greediest()?;
            if most <= own + 1 {
                return None;
            }
            table.evict_newest(&greedy);
        }
        table.arrivals += 1;
        table.taken += 1;
        let (number, evicted) = (table.arrivals, CancellationToken::new());
        let own = table.origins.entry(origin.to_owned()).or_default();
        own.insert(number, evicted.clone());
        Some(OriginSlot {
            slots: Arc::clone(self),
            origin: origin.to_owned(),
            number,
            evicted,
        })
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn greediest(&self) -> Option<(String, usize)> {
        let counts = self.origins.iter();
        let counts = counts.map(|(origin, own)| (own.len(), origin));
        counts.max().map(|(count, origin)| (origin.clone(), count))
    }

    fn evict_newest(&mut self, origin: &str) {
        let own = self.origins.get_mut(origin);
        if let Some((_, evicted)) = own.and_then(BTreeMap::pop_last) {
            evicted.cancel();
            self.taken -= 1;
        }
    }
}

impl OriginSlot {
    /// Resolves when this slot is given to another origin. The holder then closes its connection.
    pub(super) async fn evicted(&self) {
        self.evicted.cancelled().await;
    }
}

impl Drop for OriginSlot {
    fn drop(&mut self) {
        let mut table = self.slots.table();
        let Some(own) = table.origins.get_mut(&self.origin) else {
            return;
        };
        let was_there = own.remove(&self.number).is_some();
        if own.is_empty() {
            table.origins.remove(&self.origin);
        }
        if was_there {
            table.taken -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_origin_with_most_connections_is_evicted_first() {
        let slots = OriginSlots::new(4);
        let mut greedy: Vec<_> = (0..4).map(|_| slots.take("a").unwrap()).collect();
        assert!(slots.take("a").is_none());
        let is_evicted = |place: &OriginSlot| place.evicted.is_cancelled();
        let b = slots.take("b").unwrap();
        assert!(is_evicted(&greedy[3]) && !is_evicted(&greedy[2]));
        let b2 = slots.take("b").unwrap();
        assert!(is_evicted(&greedy[2]) && !is_evicted(&greedy[1]));
        // Two each: neither gets another slot, but a third origin does.
        assert!(slots.take("a").is_none() && slots.take("b").is_none());
        let c = slots.take("c").unwrap();
        let evicted = greedy.iter().chain([&b, &b2]);
        assert_eq!(evicted.filter(|place| is_evicted(place)).count(), 3);
        // A dropped slot is free again; an evicted one was free already.
        greedy.truncate(2);
        assert!(slots.take("c").is_none());
        drop((b, b2, c, greedy));
        assert_eq!(slots.table().taken, 0);
        assert!(slots.table().origins.is_empty());
    }
}
