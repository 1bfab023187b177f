//! Places for connections of pages. One origin (or port of this machine) may have all of them while nobody else comes; then it makes room.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio_util::sync::CancellationToken;

/// A fixed number of places.
#[derive(Debug)]
pub(super) struct Places {
    most: usize,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    arrivals: u64,
    taken: usize,
    /// Those of each origin, in the order of their arrival.
    origins: HashMap<String, BTreeMap<u64, CancellationToken>>,
}

/// A place, until this is dropped.
#[derive(Debug)]
pub(super) struct Place {
    places: Arc<Places>,
    origin: String,
    number: u64,
    evicted: CancellationToken,
}

impl Places {
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self {
            most,
            table: Mutex::default(),
        })
    }

    /// Takes a place for a page of this origin. If all are taken, the origin that has most of them loses its
    /// newest, unless this one would then have as many. None if there is no room.
    pub(super) fn take(self: &Arc<Self>, origin: &str) -> Option<Place> {
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
        Some(Place {
            places: Arc::clone(self),
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

impl Place {
    /// Resolves when the place is another origin's. Its holder hangs up.
    pub(super) async fn evicted(&self) {
        self.evicted.cancelled().await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut table = self.places.table();
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
    fn an_origin_that_has_most_makes_room_until_all_have_as_many() {
        let places = Places::new(4);
        let mut greedy: Vec<_> = (0..4).map(|_| places.take("a").unwrap()).collect();
        assert!(places.take("a").is_none());
        let is_evicted = |place: &Place| place.evicted.is_cancelled();
        let b = places.take("b").unwrap();
        assert!(is_evicted(&greedy[3]) && !is_evicted(&greedy[2]));
        let b2 = places.take("b").unwrap();
        assert!(is_evicted(&greedy[2]) && !is_evicted(&greedy[1]));
        // Two and two: neither has more room, but one more origin has.
        assert!(places.take("a").is_none() && places.take("b").is_none());
        let c = places.take("c").unwrap();
        let evicted = greedy.iter().chain([&b, &b2]);
        assert_eq!(evicted.filter(|place| is_evicted(place)).count(), 3);
        // Whoever goes makes room, and who was evicted has none to give.
        greedy.truncate(2);
        assert!(places.take("c").is_none());
        drop((b, b2, c, greedy));
        assert_eq!(places.table().taken, 0);
        assert!(places.table().origins.is_empty());
    }
}
