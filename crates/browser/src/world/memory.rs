//! The latest snapshots of a document, to find out what has changed since.

use super::World;
use crate::tools::Viewer;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

impl World {
    /// Keeps a snapshot and gives it a number. `cut` says whether lines at its end were left out.
    pub(crate) fn remember(&self, title: &str, lines: Vec<String>, cut: bool) -> Shown {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let shown = Shown {
            title: title.to_owned(),
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            lines: Arc::new(lines),
            cut,
        };
        let mut memory = self.memory();
        if memory.snapshots.len() == MOST {
            memory.snapshots.pop_front();
        }
        memory.snapshots.push_back(shown.clone());
        shown
    }

    /// The same; from now on this is what the viewer knows of the page.
    pub(crate) fn show(&self, viewer: Viewer, title: &str, lines: Vec<String>, cut: bool) -> Shown {
        let shown = self.remember(title, lines, cut);
        let mut memory = self.memory();
        memory.shown.retain(|(other, _)| *other != viewer);
        if memory.shown.len() == MOST {
            memory.shown.pop_front();
        }
        memory.shown.push_back((viewer, shown.clone()));
        shown
    }

    /// What the viewer was last shown, if it is recent enough.
    pub(crate) fn shown_to(&self, viewer: Viewer) -> Option<Shown> {
        let memory = self.memory();
        let (_, shown) = memory.shown.iter().find(|(other, _)| *other == viewer)?;
        Some(shown.clone())
    }

    /// The document could not be read in time, and trying took so long.
    pub(crate) fn note_too_large(&self, cost: Duration) {
        self.memory().pause.begin(cost);
    }

    /// The document was read in time.
    pub(crate) fn note_read(&self) {
        self.memory().pause = Pause::default();
    }

    /// Whether the document could not be read in time a while ago.
    pub(crate) fn is_too_large(&self) -> bool {
        self.memory().pause.is_on()
    }

    /// The snapshot with that number, if it is of this document and recent enough.
    pub(crate) fn recall(&self, number: u32) -> Option<Shown> {
        let memory = self.memory();
        let mut snapshots = memory.snapshots.iter();
        snapshots.find(|known| known.number == number).cloned()
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Snapshots, oldest first.
#[derive(Debug, Default)]
pub(super) struct Memory {
    snapshots: VecDeque<Shown>,
    /// Which snapshot each viewer saw last.
    shown: VecDeque<(Viewer, Shown)>,
    pause: Pause,
}

/// How long reading a page is not tried again after it took too long: so long that trying takes a small part of the
/// time, and twice as long each time.
#[derive(Debug, Default)]
struct Pause {
    until: Option<Instant>,
    misses: u32,
}

impl Pause {
    fn begin(&mut self, cost: Duration) {
        let times = COSTS_PER_PAUSE << self.misses.min(4);
        let pause = cost
            .saturating_mul(times)
            .clamp(SHORTEST_PAUSE, LONGEST_PAUSE);
        self.misses += 1;
        self.until = Some(Instant::now() + pause);
    }

    fn is_on(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() < until)
    }
}

/// A snapshot of the whole page.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    pub(crate) title: String,
    pub(crate) number: u32,
    pub(crate) lines: Arc<Vec<String>>,
    /// Whether lines at the end were left out.
    pub(crate) cut: bool,
}

/// Several agents may be looking at one page.
const MOST: usize = 8;
const COSTS_PER_PAUSE: u32 = 25;
const SHORTEST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_page_that_took_too_long_is_tried_again_after_a_time_that_fits_its_cost() {
        let mut pause = Pause::default();
        let millis = Duration::from_millis;
        for (cost, lasts) in [
            (millis(40), 1_000),
            (millis(40), 2_000),
            (millis(1_000), 10_000),
            (millis(40), 8_000),
            (millis(1), 400),
            // The page says what it cost.
            (Duration::MAX, 10_000),
        ] {
            pause.begin(cost);
            tokio::time::advance(millis(lasts - 1)).await;
            assert!(pause.is_on(), "{cost:?}");
            tokio::time::advance(millis(1)).await;
            assert!(!pause.is_on(), "{cost:?}");
        }
    }
}
