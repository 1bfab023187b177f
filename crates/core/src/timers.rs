//! The timers, ordered by time.

use crate::{BrowserId, CallId, SessionId, Time};
use std::collections::BTreeSet;

/// The armed timers.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    armed: BTreeSet<(Time, Timer)>,
}

/// What happens when a timer goes off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Timer {
    /// A call has reached its deadline.
    Deadline(CallId),
    /// The next attempt to connect to a browser starts.
    Retry(BrowserId),
    /// The progressive sessions of a lost connection now count as disconnected.
    Away(BrowserId),
    /// A session is notified of the list changes that were collected for it.
    Announce(SessionId),
    /// A session's page has been quiet, or its agent idle, for a while.
    Rest(SessionId),
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
