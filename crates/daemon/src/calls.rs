//! The calls without a reply yet, the questions that some of them wait for, and the audit log of all of them.

mod call;
mod waits;

pub(crate) use call::{Call, NewCall, wire_id};

use crate::audit::Audit;
use crate::questions::{Asking, Questions};
use std::collections::{HashMap, HashSet};
use tabmux_core::{CallId, Core, SessionId};
use tabmux_protocol::{BackendEvent, CallReply, Progress, RequestId};
use waits::Waits;

/// All calls without a reply.
pub(crate) struct Calls {
    running: HashMap<CallId, Call>,
    counted: u64,
    waits: Waits,
    /// The open questions to the person.
    pub(crate) questions: Questions,
    /// Calls whose arguments are being checked before the person is asked.
    pub(crate) before_asking: HashSet<(SessionId, RequestId)>,
    pub(crate) audit: Audit,
}

impl Calls {
    pub(crate) fn new(audit: Audit, asking: Asking) -> Self {
        Self {
            running: HashMap::new(),
            counted: 0,
            waits: Waits::default(),
            questions: Questions::new(asking),
            before_asking: HashSet::new(),
            audit,
        }
    }

    pub(crate) fn add(&mut self, call: NewCall) -> CallId {
        self.counted += 1;
        let id = CallId(self.counted);
        if call.wants_progress {
            self.waits.follow();
        }
        self.running.insert(id, Call::new(call));
        id
    }

    pub(crate) fn get(&self, call: CallId) -> Option<&Call> {
        self.running.get(&call)
    }

    pub(crate) fn get_mut(&mut self, call: CallId) -> Option<&mut Call> {
        self.running.get_mut(&call)
    }

    /// Removes a call that is being answered.
    pub(crate) fn remove(&mut self, call: CallId) -> Option<Call> {
        self.running.remove(&call)
    }

    pub(crate) fn session_of(&self, call: CallId) -> Option<SessionId> {
        Some(self.get(call)?.session)
    }

    /// The calls of each session, the oldest first.
    pub(crate) fn by_session(&self) -> HashMap<SessionId, Vec<&Call>> {
        let mut calls: Vec<_> = self.running.iter().collect();
        calls.sort_unstable_by_key(|(id, _)| **id);
        let mut sessions: HashMap<_, Vec<_>> = HashMap::new();
        for (_, call) in calls {
            sessions.entry(call.session).or_default().push(call);
        }
        sessions
    }

    /// Keeps the reply of a tool until the core says that the call has ended.
    pub(crate) fn keep_reply(&mut self, call: CallId, reply: CallReply) {
        if let Some(call) = self.get_mut(call) {
            call.payload = Some(reply);
        }
    }

    /// Stops the work for all calls.
    pub(crate) fn cancel_all(&self) {
        for call in self.running.values() {
            call.cancel.cancel();
        }
    }

    /// A progress message of a call, if its client wants it.
    pub(crate) fn progress(
        &mut self,
        call: CallId,
        message: String,
        core: &Core,
    ) -> Option<(SessionId, BackendEvent)> {
        let waits = core.waits_for(call);
        let call = self.get_mut(call).filter(|call| call.wants_progress)?;
        call.progress += 1.0;
        call.told_wait = waits;
        let progress = Progress {
            request_id: call.request.clone(),
            value: call.progress,
            total: None,
            message: Some(message),
        };
        Some((call.session, BackendEvent::Progress(progress)))
    }
}
