//! The tab numbers of a session with a fixed list, from 1.

use crate::TabId;
use std::collections::BTreeMap;

/// One session's own tab numbers. They are never reused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageNumbers {
    numbers: BTreeMap<TabId, u32>,
    counted: u32,
}

impl PageNumbers {
    /// The numbers that a session had before its daemon crashed. The first `counted` are used up.
    pub fn restored(counted: u32, numbers: impl IntoIterator<Item = (TabId, u32)>) -> Self {
        let numbers: BTreeMap<_, _> = numbers.into_iter().collect();
        let highest = numbers.values().copied().max().unwrap_or(0);
        Self {
            numbers,
            counted: counted.max(highest),
        }
    }

    /// How many numbers are used up.
    pub fn counted(&self) -> u32 {
        self.counted
    }

    /// The tabs that have a number, and their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (TabId, u32)> {
        self.numbers.iter().map(|(tab, number)| (*tab, *number))
    }

    /// The number of a tab, if it has one.
    pub fn of(&self, tab: TabId) -> Option<u32> {
        self.numbers.get(&tab).copied()
    }

    /// The tab that has a number, if that tab may still exist.
    pub(crate) fn tab(&self, number: u32) -> Option<TabId> {
        let mut known = self.iter();
        known.find(|known| known.1 == number).map(|(tab, _)| tab)
    }

    /// The number of a tab, assigned now if it has none.
    pub(crate) fn give(&mut self, tab: TabId) -> u32 {
        *self.numbers.entry(tab).or_insert_with(|| {
            self.counted = self.counted.saturating_add(1);
            self.counted
        })
    }

    /// The same as a [`TabId`], to replace the shared number.
    pub(crate) fn number_for(&mut self, tab: TabId) -> TabId {
        TabId(self.give(tab))
    }

    /// Once there are many, forgets the tabs that are gone. Their numbers stay used up.
    pub(crate) fn forget(&mut self, is_gone: impl Fn(TabId) -> bool) {
        if self.numbers.len() > MOST {
            self.numbers.retain(|tab, _| !is_gone(*tab));
        }
    }
}

/// With more tabs than this, those that are gone are forgotten.
const MOST: usize = 1_000;
