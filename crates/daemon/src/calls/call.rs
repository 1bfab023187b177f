//! One call, from its request to its reply.

use crate::convert;
use crate::incoming::Reserved;
use crate::main_loop::Answer;
use crate::questions::{About, now_in_millis};
use serde_json::{Map, Value};
use std::sync::Arc;
use tabmux_browser::Files;
use tabmux_browser::tools::Prepared;
use tabmux_core::{BrowserId, CallId, ConnectionId, Mode, SessionId, Stuck, TargetId};
use tabmux_protocol::{CallReply, RequestId};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// A call without a reply yet.
pub(crate) struct Call {
    pub(crate) answer: Answer,
    pub(crate) session: SessionId,
    pub(super) request: RequestId,
    pub(crate) wants_progress: bool,
    pub(super) progress: f64,
    /// The wait that was last reported to its client.
    pub(super) told_wait: Option<Stuck>,
    pub(crate) mode: Mode,
    pub(crate) started: Instant,
    /// The start time in milliseconds since 1970.
    pub(crate) since: u64,
    pub(crate) tool: String,
    /// The browser it works in, once it does.
    pub(crate) browser: Option<BrowserId>,
    /// The tab it works on, once it does.
    pub(crate) place: Option<(BrowserId, TargetId)>,
    pub(crate) prepared: Option<Prepared>,
    /// The files that its page action may use, once it runs.
    pub(crate) files: Option<Files>,
    pub(crate) extras: convert::CallExtras,
    /// The arguments of a page tool.
    pub(crate) page_arguments: Arc<Map<String, Value>>,
    /// The memory reserved for its arguments.
    _room: Reserved,
    /// The tool that a person allowed.
    pub(crate) agreed: Option<About>,
    /// How far it is with a worker's tool.
    in_page: InPage,
    /// How often it was withdrawn from a page that had not started it.
    attempt: u32,
    pub(crate) payload: Option<CallReply>,
    pub(crate) cancel: CancellationToken,
}

/// A call that may run.
pub(crate) struct NewCall {
    pub(crate) answer: Answer,
    pub(crate) session: SessionId,
    pub(crate) request: RequestId,
    pub(crate) wants_progress: bool,
    pub(crate) mode: Mode,
    pub(crate) tool: String,
    pub(crate) prepared: Option<Prepared>,
    pub(crate) extras: convert::CallExtras,
    pub(crate) page_arguments: Arc<Map<String, Value>>,
    pub(crate) room: Reserved,
    pub(crate) agreed: Option<About>,
}

/// How far a call is with a worker's tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum InPage {
    No,
    /// Its arguments are being checked.
    Checking,
    /// This worker runs it.
    SentTo(ConnectionId),
}

impl Call {
    pub(super) fn new(call: NewCall) -> Self {
        Self {
            answer: call.answer,
            session: call.session,
            request: call.request,
            wants_progress: call.wants_progress,
            progress: 0.0,
            told_wait: None,
            mode: call.mode,
            started: Instant::now(),
            since: now_in_millis(),
            tool: call.tool,
            browser: None,
            place: None,
            prepared: call.prepared,
            files: None,
            extras: call.extras,
            page_arguments: call.page_arguments,
            _room: call.room,
            agreed: call.agreed,
            in_page: InPage::No,
            attempt: 0,
            payload: None,
            cancel: CancellationToken::new(),
        }
    }
}

/// Calls of a worker's tool.
impl Call {
    /// Its arguments are being checked. Returns the attempt that this is for.
    pub(crate) fn start_check(&mut self) -> u32 {
        self.in_page = InPage::Checking;
        self.attempt
    }

    /// Its arguments were checked. False if it was cancelled meanwhile, or withdrawn from that page.
    pub(crate) fn end_check(&mut self, attempt: u32) -> bool {
        let is_awaited = self.in_page == InPage::Checking && self.attempt == attempt;
        if is_awaited {
            self.in_page = InPage::No;
        }
        is_awaited
    }

    pub(crate) fn sent_to(&mut self, connection: ConnectionId) {
        self.in_page = InPage::SentTo(connection);
    }

    /// A worker answers under this id. False if the call was not sent to this worker, or was withdrawn.
    pub(crate) fn answered_by(
        &mut self,
        connection: ConnectionId,
        call: CallId,
        call_id: &str,
    ) -> bool {
        let is_its =
            self.in_page == InPage::SentTo(connection) && wire_id(call, self.attempt) == call_id;
        if is_its {
            self.in_page = InPage::No;
        }
        is_its
    }

    /// It is withdrawn from a page that has not started it: the next worker gets it under another id.
    pub(crate) fn withdraw(&mut self) {
        self.in_page = InPage::No;
        self.attempt += 1;
    }

    /// It is cancelled. Returns the worker that runs it, and its id there.
    pub(crate) fn cancel_in_page(&mut self, call: CallId) -> Option<(ConnectionId, String)> {
        match std::mem::replace(&mut self.in_page, InPage::No) {
            InPage::SentTo(connection) => Some((connection, wire_id(call, self.attempt))),
            InPage::No | InPage::Checking => None,
        }
    }
}

/// The id of a call on the wire. A call that is withdrawn from one page and sent to another gets a new id.
pub(crate) fn wire_id(call: CallId, attempt: u32) -> String {
    match attempt {
        0 => call.0.to_string(),
        attempt => format!("{}.{attempt}", call.0),
    }
}
