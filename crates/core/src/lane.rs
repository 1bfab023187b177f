//! The queue of one tab: calls that read run in parallel, calls that act run one at a time, and sessions take
//! turns.

use crate::{Access, CallId, SessionId};
use std::collections::VecDeque;

/// The calls that are running or queued on one tab.
#[derive(Debug, Default)]
pub(crate) struct Lane {
    reading: usize,
    acting: Option<CallId>,
    /// The queued calls of each session, in order of turns. No inner queue is empty.
    turns: VecDeque<(SessionId, VecDeque<CallId>)>,
}

impl Lane {
    /// How many calls count against the tab's limit.
    pub(crate) fn len(&self) -> usize {
        let waiting: usize = self.turns.iter().map(|(_, calls)| calls.len()).sum();
        self.reading + usize::from(self.acting.is_some()) + waiting
    }

    /// Adds a call, and returns whether it may run now. If not, [`leave`](Self::leave) returns it later.
    pub(crate) fn enter(&mut self, session: SessionId, call: CallId, access: Access) -> bool {
        match access {
            Access::Bypass => true,
            Access::Read => {
                self.reading += 1;
                true
            }
            Access::Act if self.acting.is_none() => {
                self.acting = Some(call);
                true
            }
            Access::Act => {
                self.wait(session, call);
                false
            }
        }
    }

    /// Takes over a call that is already running from another lane. It acts here if no other call does, or else
    /// counts as a reader. Returns how it is counted.
    pub(crate) fn adopt(&mut self, session: SessionId, call: CallId, access: Access) -> Access {
        let access = match (access, self.acting) {
            (Access::Act, Some(_)) => Access::Read,
            _ => access,
        };
        self.enter(session, call, access);
        access
    }

    /// Removes a call, running or queued. Returns the queued call that may run now, if any.
    pub(crate) fn leave(&mut self, call: CallId, access: Access) -> Option<CallId> {
        match access {
            Access::Bypass => None,
            Access::Read => {
                self.reading = self.reading.saturating_sub(1);
                None
            }
            Access::Act if self.acting == Some(call) => {
                self.acting = self.next();
                self.acting
            }
            Access::Act => {
                for (_, calls) in &mut self.turns {
                    calls.retain(|waiting| *waiting != call);
                }
                self.turns.retain(|(_, calls)| !calls.is_empty());
                None
            }
        }
    }

    fn wait(&mut self, session: SessionId, call: CallId) {
        match self.turns.iter_mut().find(|(whose, _)| *whose == session) {
            Some((_, calls)) => calls.push_back(call),
            None => self.turns.push_back((session, VecDeque::from([call]))),
        }
    }

    /// The oldest call of the session whose turn it is. Its other calls wait for its next turn.
    fn next(&mut self) -> Option<CallId> {
        let (session, mut calls) = self.turns.pop_front()?;
        let call = calls.pop_front();
        if !calls.is_empty() {
            self.turns.push_back((session, calls));
        }
        call
    }
}
