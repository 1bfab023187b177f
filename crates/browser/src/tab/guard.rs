//! Blocks a tab's frames from sites that its sessions may not see.

use super::FrameId;
use crate::origins::{Blocked, OriginPolicy};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The guard of one tab. It also applies without a call: when the page navigates by itself, and when it is read for
/// tools.
#[derive(Clone, Debug, Default)]
pub(crate) struct Guard(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    policy: OriginPolicy,
    /// Whether requests for documents are blocked. If not, only reading the result is refused.
    stops: bool,
    stopped: u64,
    last: VecDeque<(u64, FrameId, Blocked)>,
}

impl Guard {
    /// The same rules for another tab: the opener's policy applies to a popup.
    pub(crate) fn inherited(&self) -> Self {
        let state = self.lock();
        Self(Arc::new(Mutex::new(State {
            policy: state.policy.clone(),
            stops: state.stops,
            ..State::default()
        })))
    }

    /// Adds a policy. Returns whether requests must be blocked that were not before.
    pub(crate) fn add(&self, policy: &OriginPolicy, stops: bool) -> bool {
        let mut state = self.lock();
        state.policy = state.policy.and(policy);
        let news = stops && !state.stops;
        state.stops |= stops;
        news
    }

    /// Removes all policies. Returns whether requests were blocked.
    pub(super) fn clear(&self) -> bool {
        let mut state = self.lock();
        state.policy = OriginPolicy::default();
        std::mem::take(&mut state.stops)
    }

    pub(crate) fn policy(&self) -> OriginPolicy {
        self.lock().policy.clone()
    }

    /// Whether requests for documents are blocked.
    pub(crate) fn stops(&self) -> bool {
        self.lock().stops
    }

    /// Checks a document that a frame requests. True if it must be blocked.
    pub(crate) fn stop(&self, frame: &FrameId, url: &str) -> bool {
        let mut state = self.lock();
        let Err(blocked) = state.policy.check(url) else {
            return false;
        };
        if !state.stops {
            return false;
        }
        state.stopped += 1;
        let number = state.stopped;
        if state.last.len() >= MOST_KEPT {
            state.last.pop_front();
        }
        state.last.push_back((number, frame.clone(), blocked));
        true
    }

    /// How many requests have been blocked so far.
    pub(crate) fn stopped(&self) -> u64 {
        self.lock().stopped
    }

    /// The latest blocked address of a frame since then.
    pub(crate) fn stopped_since(&self, count: u64, frame: &FrameId) -> Option<Blocked> {
        let state = self.lock();
        let mut last = state.last.iter().rev().take_while(|(it, ..)| *it > count);
        last.find(|(_, whose, _)| whose == frame)
            .map(|(.., blocked)| blocked.clone())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const MOST_KEPT: usize = 32;
