//! What keeps a tab's frames away from sites that its sessions may not see.

use super::FrameId;
use crate::origins::{Blocked, OriginPolicy};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The guard of one tab. It holds for what nobody in particular asked for, too: the page's own ways, and
/// the reading of it for tools.
#[derive(Clone, Debug, Default)]
pub(crate) struct Guard(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    policy: OriginPolicy,
    /// Whether requests for documents are stopped, or only what comes of them is left alone.
    stops: bool,
    stopped: u64,
    last: VecDeque<(u64, FrameId, Blocked)>,
}

impl Guard {
    /// The same rules for another tab: a popup is bound like the page that opened it.
    pub(crate) fn inherited(&self) -> Self {
        let state = self.lock();
        Self(Arc::new(Mutex::new(State {
            policy: state.policy.clone(),
            stops: state.stops,
            ..State::default()
        })))
    }

    /// Adds a policy. Says whether requests are to be stopped that were not before.
    pub(crate) fn add(&self, policy: &OriginPolicy, stops: bool) -> bool {
        let mut state = self.lock();
        state.policy = state.policy.and(policy);
        let news = stops && !state.stops;
        state.stops |= stops;
        news
    }

    /// Ends it. Says whether requests were stopped.
    pub(super) fn clear(&self) -> bool {
        let mut state = self.lock();
        state.policy = OriginPolicy::default();
        std::mem::take(&mut state.stops)
    }

    pub(crate) fn policy(&self) -> OriginPolicy {
        self.lock().policy.clone()
    }

    /// Whether requests for documents are stopped.
    pub(crate) fn stops(&self) -> bool {
        self.lock().stops
    }

    /// Has its say about a document that a frame asks for. True if it must not come.
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

    /// How many requests have been stopped so far.
    pub(crate) fn stopped(&self) -> u64 {
        self.lock().stopped
    }

    /// Where a frame wanted to go since then, last.
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
