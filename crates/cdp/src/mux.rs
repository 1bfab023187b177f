//! Matches responses to commands, and events to sessions. No IO; the connection's tasks drive it.

use std::collections::HashMap;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::{mpsc, oneshot};

use crate::{
    envelope::{Incoming, Recipient, Rejection},
    events::{Admission, EventSender, Events, RawEvent, event_queue},
    session::Session,
    transport::Oversize,
    types::{
        Event,
        target::{AttachedToTarget, DetachedFromTarget, SessionId},
    },
};

/// The outcome of a command: the raw result, which is a slice of its frame, or the reason why there is none.
pub(crate) type Outcome = Result<Option<Bytes>, Failure>;

/// Why a command has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    Rejected(Rejection),
    Disconnected,
    Detached,
    Overloaded,
    TooLarge { bytes: u64 },
}

/// The state of a connection.
#[derive(Debug)]
pub(crate) struct Mux {
    next_id: u64,
    pending: HashMap<u64, Pending>,
    /// Events of the browser itself; `None` once the connection has ended.
    browser: Option<Root>,
    sessions: HashMap<SessionId, Child>,
}

/// What exists while the connection is open.
#[derive(Debug)]
struct Root {
    events: EventSender,
    /// Frames to be written to the browser.
    writer: mpsc::Sender<String>,
}

#[derive(Debug)]
struct Child {
    /// The session that announced this one; `None` if that was the browser's.
    parent: Option<SessionId>,
    events: EventSender,
}

#[derive(Debug)]
struct Pending {
    session: Option<SessionId>,
    answer: oneshot::Sender<Outcome>,
}

/// A command that was accepted: where its frame goes and where its response will come from.
#[derive(Debug)]
pub(crate) struct Accepted {
    pub(crate) id: u64,
    pub(crate) writer: mpsc::Sender<String>,
    pub(crate) answer: oneshot::Receiver<Outcome>,
}

impl Mux {
    /// A connection whose commands go to `writer`.
    pub(crate) fn new(writer: mpsc::Sender<String>) -> (Self, Events) {
        let (sender, events) = event_queue();
        let mux = Self {
            next_id: 1,
            pending: HashMap::new(),
            browser: Some(Root {
                events: sender,
                writer,
            }),
            sessions: HashMap::new(),
        };
        (mux, events)
    }

    /// Registers a command whose caller waits for the response.
    pub(crate) fn accept(&mut self, session: Option<&SessionId>) -> Result<Accepted, Failure> {
        let (id, writer) = self.accept_unanswered(session)?;
        if self.pending.len() >= MAX_PENDING {
            return Err(Failure::Overloaded);
        }
        let (sender, answer) = oneshot::channel();
        self.pending.insert(
            id,
            Pending {
                session: session.cloned(),
                answer: sender,
            },
        );
        Ok(Accepted { id, writer, answer })
    }

    /// Gives an id to a command whose response is ignored.
    pub(crate) fn accept_unanswered(
        &mut self,
        session: Option<&SessionId>,
    ) -> Result<(u64, mpsc::Sender<String>), Failure> {
        let Some(root) = &self.browser else {
            return Err(Failure::Disconnected);
        };
        if session.is_some_and(|session| !self.sessions.contains_key(session)) {
            return Err(Failure::Detached);
        }
        let id = self.next_id;
        self.next_id += 1;
        Ok((id, root.writer.clone()))
    }

    /// The caller no longer waits for the command.
    pub(crate) fn forget(&mut self, id: u64) {
        self.pending.remove(&id);
    }

    /// Dispatches `message`, parsed from `frame`. `make_session` creates the handle of a child session, unless the
    /// connection has no handle any more.
    pub(crate) fn route(
        &mut self,
        frame: &Bytes,
        message: Incoming<'_>,
        make_session: impl FnOnce(SessionId) -> Option<Session>,
    ) {
        match message {
            Incoming::Answer { id, outcome } => self.answer(id, frame, outcome),
            Incoming::Event {
                session,
                method,
                params,
            } => {
                self.event(session.as_deref(), &method, params, make_session);
            }
        }
    }

    /// Handles a frame that was too large: fails its command, or reports the event to its session.
    pub(crate) fn route_oversize(&mut self, frame: Oversize) {
        let bytes = frame.length;
        match Recipient::parse(&frame) {
            Some(Recipient::Answer { id }) => {
                if let Some(pending) = self.pending.remove(&id) {
                    _ = pending.answer.send(Err(Failure::TooLarge { bytes }));
                }
            }
            Some(Recipient::Event { session, method }) => {
                tracing::warn!(method, bytes, "dropped an event that is too large");
                let Some(queue) = self.queue(session.as_deref()) else {
                    return;
                };
                let event = RawEvent::oversize(&method, frame);
                if queue.admission(&method, event.size()) != Admission::None {
                    _ = queue.push(event);
                }
            }
            None => tracing::warn!(bytes, "ignored a frame that is too large"),
        }
    }

    /// Fails all pending commands and ends all queues.
    pub(crate) fn disconnect(&mut self) {
        self.browser = None;
        self.sessions.clear();
        for (_, pending) in self.pending.drain() {
            _ = pending.answer.send(Err(Failure::Disconnected));
        }
    }

    fn answer(&mut self, id: u64, frame: &Bytes, outcome: Result<Option<&RawValue>, Rejection>) {
        let Some(pending) = self.pending.remove(&id) else {
            match outcome {
                Ok(_) => tracing::trace!(id, "a response without a waiting command"),
                Err(rejection) => {
                    tracing::debug!(
                        id,
                        message = rejection.message,
                        "an error without a waiting command"
                    );
                }
            }
            return;
        };
        let outcome = match outcome {
            Ok(result) => Ok(result.map(|result| frame.slice_ref(result.get().as_bytes()))),
            Err(rejection) if rejection.code == SESSION_NOT_FOUND => Err(Failure::Detached),
            Err(rejection) => Err(Failure::Rejected(rejection)),
        };
        _ = pending.answer.send(outcome);
    }

    fn event(
        &mut self,
        session: Option<&str>,
        method: &str,
        params: Option<&RawValue>,
        make_session: impl FnOnce(SessionId) -> Option<Session>,
    ) {
        if self.queue(session).is_none() {
            tracing::debug!(method, "ignored an event of a session that has ended");
            return;
        }
        let subject = match method {
            AttachedToTarget::METHOD | DetachedFromTarget::METHOD => session_in(params),
            _ => None,
        };
        let child = match &subject {
            Some(child) if method == AttachedToTarget::METHOD => {
                self.attach(session, child, make_session)
            }
            Some(child) => {
                self.detach(child);
                None
            }
            None => None,
        };
        let Some(queue) = self.queue(session) else {
            return;
        };
        let size = params.map_or(0, |params| params.get().len());
        let event = match queue.admission(method, size) {
            Admission::Whole => RawEvent::new(method, params, child),
            Admission::Head => RawEvent::head(method, params, child),
            Admission::None => return self.unannounced(child),
        };
        if let Err(event) = queue.push(event) {
            self.unannounced(event.child);
        }
    }

    fn queue(&mut self, session: Option<&str>) -> Option<&mut EventSender> {
        match session {
            None => self.browser.as_mut().map(|root| &mut root.events),
            Some(session) => self
                .sessions
                .get_mut(session)
                .map(|child| &mut child.events),
        }
    }

    /// Creates the child's queue. From here on its events are kept.
    fn attach(
        &mut self,
        parent: Option<&str>,
        child: &SessionId,
        make_session: impl FnOnce(SessionId) -> Option<Session>,
    ) -> Option<(Session, Events)> {
        if self.sessions.contains_key(child) {
            tracing::warn!(session = %child, "ignored a second attachment under the same session id");
            return None;
        }
        let session = make_session(child.clone())?;
        let (sender, events) = event_queue();
        let parent = parent.map(SessionId::from);
        self.sessions.insert(
            child.clone(),
            Child {
                parent,
                events: sender,
            },
        );
        Some((session, events))
    }

    /// Ends a session and its child sessions, because the browser may not report their end.
    fn detach(&mut self, session: &SessionId) {
        let mut ending = vec![session.clone()];
        while let Some(session) = ending.pop() {
            self.sessions.remove(&session);
            for (_, pending) in self
                .pending
                .extract_if(|_, pending| pending.session.as_ref() == Some(&session))
            {
                _ = pending.answer.send(Err(Failure::Detached));
            }
            ending.extend(
                self.sessions
                    .iter()
                    .filter(|(_, child)| child.parent.as_ref() == Some(&session))
                    .map(|(id, _)| id.clone()),
            );
        }
    }

    /// Drops a child whose attachment could not be delivered to its parent.
    fn unannounced(&mut self, child: Option<(Session, Events)>) {
        if let Some(id) = child.as_ref().and_then(|(session, _)| session.id()) {
            self.sessions.remove(id);
        }
    }
}

/// The session that an attach or detach event is about.
fn session_in(params: Option<&RawValue>) -> Option<SessionId> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Subject {
        session_id: SessionId,
    }
    let subject: Subject = serde_json::from_str(params?.get()).ok()?;
    Some(subject.session_id)
}

/// How many commands of one connection may be pending.
pub(crate) const MAX_PENDING: usize = 4_096;

/// The browser's error code for a command on an unknown session.
const SESSION_NOT_FOUND: i64 = -32_001;
