//! The latest snapshots of a document, to find out what has changed since.

use super::World;
use crate::tools::Viewer;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, MutexGuard, PoisonError};

impl World {
    /// Keeps the lines of a snapshot and gives it a number.
    pub(crate) fn remember(&self, lines: Vec<String>) -> (u32, Arc<Vec<String>>) {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let lines = Arc::new(lines);
        let mut memory = self.memory();
        if memory.snapshots.len() == MOST {
            memory.snapshots.pop_front();
        }
        memory.snapshots.push_back((number, Arc::clone(&lines)));
        (number, lines)
    }

    /// The same; from now on this is what the viewer knows of the page.
    pub(crate) fn show(&self, viewer: Viewer, title: &str, lines: Vec<String>) -> Shown {
        let (number, lines) = self.remember(lines);
        let shown = Shown {
            title: title.to_owned(),
            number,
            lines,
        };
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

    /// The lines of the snapshot with that number, if it is of this document and recent enough.
    pub(crate) fn recall(&self, number: u32) -> Option<Arc<Vec<String>>> {
        self.memory().snapshot(number)
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Snapshots by their numbers, oldest first.
#[derive(Debug, Default)]
pub(super) struct Memory {
    snapshots: VecDeque<(u32, Arc<Vec<String>>)>,
    /// Which snapshot each viewer saw last.
    shown: VecDeque<(Viewer, Shown)>,
}

/// A snapshot that a viewer was shown.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    pub(crate) title: String,
    pub(crate) number: u32,
    pub(crate) lines: Arc<Vec<String>>,
}

impl Memory {
    fn snapshot(&self, number: u32) -> Option<Arc<Vec<String>>> {
        let (_, lines) = self.snapshots.iter().find(|(known, _)| *known == number)?;
        Some(Arc::clone(lines))
    }
}

/// Several agents may be looking at one page.
const MOST: usize = 8;
