//! The latest snapshots of a document, to find out what has changed since.

use super::World;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{MutexGuard, PoisonError};

impl World {
    /// Keeps the lines of a snapshot and gives it a number.
    pub(crate) fn remember(&self, lines: Vec<String>) -> u32 {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let mut memory = self.memory();
        if memory.0.len() == MOST {
            memory.0.pop_front();
        }
        memory.0.push_back((number, lines));
        number
    }

    /// The lines of the snapshot with that number, if it is of this document and recent enough.
    pub(crate) fn recall(&self, number: u32) -> Option<Vec<String>> {
        let memory = self.memory();
        let (_, lines) = memory.0.iter().find(|(known, _)| *known == number)?;
        Some(lines.clone())
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Snapshots by their numbers, oldest first.
#[derive(Debug, Default)]
pub(super) struct Memory(VecDeque<(u32, Vec<String>)>);

/// Several agents may be looking at one page.
const MOST: usize = 8;
