//! The calls of one tab: readers side by side, actors one at a time, sessions taking turns.

use crate::{Access, CallId, SessionId};
use std::collections::VecDeque;

/// The page actions at work or waiting on one tab.
#[derive(Debug, Default)]
pub(crate) struct Lane {
    reading: usize,
    acting: Option<CallId>,
    /// Whose turn is next, and in which order each session's calls came. None of them is empty.
    turns: VecDeque<(SessionId, VecDeque<CallId>)>,
}

impl Lane {
    /// How many calls count against the tab's limit.
    pub(crate) fn len(&self) -> usize {
        let waiting: usize = self.turns.iter().map(|(_, calls)| calls.len()).sum();
        self.reading + usize::from(self.acting.is_some()) + waiting
    }

    /// Lets a call in. Says whether it may run now; if not, [`leave`](Self::leave) names it later.
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

    /// Takes over a call that another lane had let run: it acts here from now on if nobody does, else it
    /// comes to its end beside. Says how it is counted.
    pub(crate) fn adopt(&mut self, session: SessionId, call: CallId, access: Access) -> Access {
        let access = match (access, self.acting) {
            (Access::Act, Some(_)) => Access::Read,
            _ => access,
        };
        self.enter(session, call, access);
        access
    }

    /// Lets a call out, wherever it was. Names the call that may run now, if one waited for this.
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

    /// The oldest call of the session whose turn it is. If that has more, they wait for its next turn.
    fn next(&mut self) -> Option<CallId> {
        let (session, mut calls) = self.turns.pop_front()?;
        let call = calls.pop_front();
        if !calls.is_empty() {
            self.turns.push_back((session, calls));
        }
        call
    }
}
