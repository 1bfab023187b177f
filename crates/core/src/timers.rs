//! Everything that will happen by itself, ordered by when.

use crate::{BrowserId, CallId, SessionId, Time};
use std::collections::BTreeSet;

/// The timers that are armed now.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    armed: BTreeSet<(Time, Timer)>,
}

/// What happens when a timer goes off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Timer {
    /// A call has taken as long as it may.
    Deadline(CallId),
    /// A browser is tried again.
    Retry(BrowserId),
    /// A browser that is away was waited for as long as its sessions are thought to be connected.
    Away(BrowserId),
    /// A session is told about list changes that were gathered for it.
    Announce(SessionId),
}

impl Timers {
    pub(crate) fn arm(&mut self, at: Time, timer: Timer) {
        self.armed.insert((at, timer));
    }

    pub(crate) fn disarm(&mut self, at: Time, timer: Timer) {
        self.armed.remove(&(at, timer));
    }

    pub(crate) fn next(&self) -> Option<Time> {
        self.armed.first().map(|(at, _)| *at)
    }

    /// Takes out the earliest timer that is due.
    pub(crate) fn pop_due(&mut self, now: Time) -> Option<Timer> {
        if self.next()? > now {
            return None;
        }
        self.armed.pop_first().map(|(_, timer)| timer)
    }
}
