//! The calls of one tab: readers side by side, actors one at a time in arrival order.

use crate::{Access, CallId};
use std::collections::VecDeque;

/// The page actions at work or waiting on one tab.
#[derive(Debug, Default)]
pub(crate) struct Lane {
    beside: usize,
    acting: Option<CallId>,
    waiting: VecDeque<CallId>,
}

impl Lane {
    /// How many calls count against the tab's limit.
    pub(crate) fn len(&self) -> usize {
        self.beside + usize::from(self.acting.is_some()) + self.waiting.len()
    }

    /// Lets a call in. Says whether it may run now; if not, [`leave`](Self::leave) names it later.
    pub(crate) fn enter(&mut self, call: CallId, access: Access) -> bool {
        match access {
            Access::Bypass => true,
            Access::Read => {
                self.beside += 1;
                true
            }
            Access::Act if self.acting.is_none() => {
                self.acting = Some(call);
                true
            }
            Access::Act => {
                self.waiting.push_back(call);
                false
            }
        }
    }

    /// Lets a call out, wherever it was. Names the call that may run now, if one waited for this.
    pub(crate) fn leave(&mut self, call: CallId, access: Access) -> Option<CallId> {
        match access {
            Access::Bypass => None,
            Access::Read => {
                self.beside = self.beside.saturating_sub(1);
                None
            }
            Access::Act if self.acting == Some(call) => {
                self.acting = self.waiting.pop_front();
                self.acting
            }
            Access::Act => {
                self.waiting.retain(|waiting| *waiting != call);
                None
            }
        }
    }
}
