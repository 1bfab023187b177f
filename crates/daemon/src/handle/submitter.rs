//! Submits the calls of one session to the main loop.

use crate::answer_cleanup;
use crate::convert::Role;
use crate::incoming::{ArgumentBudget, Incoming, ParsedArguments};
use crate::main_loop::{Event, StepTool};
use crate::options::SessionOptions;
use crate::policy::{self, PolicyReader};
use crate::resources::Seen;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tabmux_core::{SessionId, TabRef};
use tabmux_protocol::{CallFailure, CallReply, CallRequest, RequestId};
use tokio::sync::{Mutex, mpsc, oneshot};

/// What a session needs to make calls.
#[derive(Clone, Debug)]
pub(crate) struct Submitter {
    pub(crate) session: SessionId,
    pub(crate) options: Arc<SessionOptions>,
    pub(crate) arguments: ArgumentBudget,
    pub(crate) policy_reader: Option<PolicyReader>,
    /// Serializes submissions: calls reach the main loop in order, and a cancellation after its call.
    pub(crate) turn: Arc<Mutex<()>>,
    pub(crate) events: mpsc::Sender<Event>,
}

impl Submitter {
    /// Parses a call's arguments, submits it and returns a future of its reply.
    pub(crate) async fn submit(&self, request: CallRequest) -> Result<Reply, CallFailure> {
        self.submit_as(request, Role::Call).await
    }

    /// The same for a step of a longer call: what it changes on the page is told later.
    pub(crate) async fn submit_step(&self, request: CallRequest) -> Result<Reply, CallFailure> {
        self.submit_as(request, Role::Step).await
    }

    /// The same for a look between two steps: it is not in the audit log, unless it fails.
    pub(crate) async fn submit_look(&self, request: CallRequest) -> Result<Reply, CallFailure> {
        self.submit_as(request, Role::Look).await
    }

    /// The same for the read of a resource, of this tab if calls of the session name none.
    pub(crate) async fn submit_read(
        &self,
        request: CallRequest,
        tab: Option<TabRef>,
    ) -> Result<Reply, CallFailure> {
        self.submit_in(request, Role::Read, tab).await
    }

    async fn submit_as(&self, request: CallRequest, role: Role) -> Result<Reply, CallFailure> {
        self.submit_in(request, role, None).await
    }

    async fn submit_in(
        &self,
        request: CallRequest,
        role: Role,
        tab: Option<TabRef>,
    ) -> Result<Reply, CallFailure> {
        let (answer, reply) = oneshot::channel();
        let room = match self.arguments.take(request.arguments.get()) {
            Ok(room) => room,
            Err(why) => {
                let _ = answer.send(Ok(CallReply::error(why)));
                return Ok(Reply(reply));
            }
        };
        let _turn = self.turn.lock().await;
        let read = ParsedArguments::read(request, &self.options).await;
        let (request, mut read, digest) = read.ok_or(CallFailure::Closed)?;
        read.has_role(role);
        if let Some(tab) = &tab {
            read.stays_in(tab);
        }
        policy::reread(self.policy_reader.as_ref()).await;
        let event = Event::Call {
            session: self.session,
            call: Box::new(Incoming {
                request,
                read,
                digest,
                room,
                answer,
            }),
        };
        self.events
            .send(event)
            .await
            .map_err(|_| CallFailure::Closed)?;
        Ok(Reply(reply))
    }

    pub(crate) fn cancel(&self, request: &RequestId) {
        let cancel = Event::Cancel {
            session: self.session,
            request: request.clone(),
        };
        if self.turn.try_lock().is_ok() {
            return super::post(&self.events, cancel);
        }
        let (turn, events) = (Arc::clone(&self.turn), self.events.clone());
        tokio::spawn(async move {
            drop(turn.lock().await);
            let _ = events.send(cancel).await;
        });
    }

    /// Whether this call has several steps.
    pub(crate) fn takes_steps(&self, request: &CallRequest) -> bool {
        request.tool == crate::steps::NAME && !self.options.given.slim
    }

    /// What the session's resources depend on.
    pub(crate) async fn resources_seen(&self) -> Result<Seen, CallFailure> {
        policy::reread(self.policy_reader.as_ref()).await;
        let (answer, seen) = oneshot::channel();
        let event = Event::Resources {
            session: self.session,
            answer,
        };
        let sent = self.events.send(event).await;
        sent.map_err(|_| CallFailure::Closed)?;
        seen.await.map_err(|_| CallFailure::Closed)
    }

    /// What these names mean to the session now, for calls in this tab.
    pub(crate) async fn step_tools(
        &self,
        names: Vec<String>,
        tab: Option<TabRef>,
    ) -> Option<Vec<StepTool>> {
        let (answer, tools) = oneshot::channel();
        let event = Event::StepTools {
            session: self.session,
            names,
            tab,
            answer,
        };
        self.events.send(event).await.ok()?;
        tools.await.ok()
    }
}

/// The reply of a submitted call.
#[derive(Debug)]
pub(crate) struct Reply(pub(crate) oneshot::Receiver<Result<CallReply, CallFailure>>);

impl Future for Reply {
    type Output = Result<CallReply, CallFailure>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let reply = Pin::new(&mut self.0).poll(context);
        reply.map(|reply| {
            let reply = reply.unwrap_or(Err(CallFailure::Closed));
            reply
                .map(|reply| answer_cleanup::cleaned(reply.that_fits()).that_fits())
                .map_err(answer_cleanup::cleaned_failure)
        })
    }
}
