//! A map of weak references: it holds values only as long as other code keeps them.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Weak};

/// A map of weak references. The number of dead entries is at most that of live ones, plus a few; an insertion is
/// cheap on average.
#[derive(Debug)]
pub(crate) struct WeakMap<K, V> {
    entries: HashMap<K, Weak<V>>,
    /// At this many entries, dead ones are removed.
    swept_at: usize,
}

impl<K, V> Default for WeakMap<K, V> {
    fn default() -> Self {
        Self {
            entries: HashMap::new(),
            swept_at: FEW,
        }
    }
}

impl<K: Eq + Hash, V> WeakMap<K, V> {
    pub(crate) fn get(&self, key: &K) -> Option<Arc<V>> {
        self.entries.get(key)?.upgrade()
    }

    pub(crate) fn insert(&mut self, key: K, value: &Arc<V>) {
        if self.entries.len() >= self.swept_at {
            self.entries.retain(|_, value| value.strong_count() > 0);
            self.swept_at = (2 * self.entries.len()).max(FEW);
            self.entries.shrink_to(self.swept_at);
        }
        self.entries.insert(key, Arc::downgrade(value));
    }

    pub(crate) fn remove(&mut self, key: &K) {
        self.entries.remove(key);
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }
}

const FEW: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropped_values_are_forgotten() {
        let mut map = WeakMap::default();
        let kept: Vec<_> = (0..1_000).map(Arc::new).collect();
        for number in 0..100_000 {
            match kept.get(number) {
                Some(value) => map.insert(number, value),
                None => map.insert(number, &Arc::new(number)),
            }
            assert!(map.len() <= 2_000);
        }
        let found = kept.iter().filter_map(|number| map.get(number));
        assert_eq!(found.count(), 1_000);
    }
}
