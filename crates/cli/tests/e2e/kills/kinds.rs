//! Which kind of fault comes next.

use super::report::Victim;
use tabmux_testkit::Rng;

/// Kinds of faults in random order. All of a list come before one comes again, so that a short run has every kind.
pub(super) struct Kinds {
    all: &'static [Victim],
    left: Vec<Victim>,
}

impl Kinds {
    pub(super) fn of(all: &'static [Victim]) -> Self {
        let left = Vec::new();
        Self { all, left }
    }

    pub(super) fn next(&mut self, rng: &mut Rng) -> Victim {
        if self.left.is_empty() {
            self.left = self.all.to_vec();
        }
        self.left.swap_remove(rng.below(self.left.len()))
    }

    /// This one was not possible yet.
    pub(super) fn put_back(&mut self, victim: Victim) {
        self.left.push(victim);
    }
}
