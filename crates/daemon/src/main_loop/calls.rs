//! Tool calls, from the request to the result.

use super::confirm::Checked;
use super::{Answer, MainLoop};
use crate::browsers::CONNECT_LIMIT;
use crate::incoming::{Digest, Incoming, ParsedArguments, Reserved};
use crate::questions::About;
use crate::{catalogue, convert};
use serde_json::{Map, Value};
use std::sync::Arc;
use tabmux_browser::tools::{Prepared, ToolResult};
use tabmux_core::{
    BrowserId, CallId, CallKind, ConnectionId, Finish, Input, Mode, SessionId, Stuck, TargetId,
    ToolName,
};
use tabmux_protocol::{BackendEvent, CallFailure, CallReply, CallRequest, Progress, RequestId};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// A call without a reply yet.
pub(super) struct Call {
    pub(super) answer: Answer,
    pub(super) session: SessionId,
    pub(super) request: RequestId,
    pub(super) wants_progress: bool,
    pub(super) progress: f64,
    /// The wait that was last reported to its client.
    pub(super) told_wait: Option<Stuck>,
    pub(super) mode: Mode,
    pub(super) started: Instant,
    /// The start time in milliseconds since 1970.
    pub(super) since: u64,
    pub(super) tool: String,
    /// The browser it works in, once it does.
    pub(super) browser: Option<BrowserId>,
    /// The tab it works on, once it does.
    pub(super) place: Option<(BrowserId, TargetId)>,
    pub(super) prepared: Option<Prepared>,
    pub(super) extras: convert::CallExtras,
    /// The arguments of a page tool.
    pub(super) page_arguments: Arc<Map<String, Value>>,
    /// The memory reserved for its arguments.
    _room: Reserved,
    /// Whether its arguments are being checked for a worker's tool.
    pub(super) checking: bool,
    /// The tool that a person allowed.
    pub(super) agreed: Option<About>,
    /// The worker that runs it.
    pub(super) page: Option<ConnectionId>,
    /// How often it was withdrawn from a page that had not started it.
    pub(super) attempt: u32,
    pub(super) payload: Option<CallReply>,
    pub(super) cancel: CancellationToken,
}

/// A call that may run unless a person has to confirm it.
pub(super) struct Wanted {
    pub(super) request: CallRequest,
    pub(super) parsed: convert::Parsed,
    /// Whether its name is that of a page tool.
    pub(super) is_of_page: bool,
    pub(super) digest: Digest,
    pub(super) room: Reserved,
    pub(super) answer: Answer,
}

impl Wanted {
    /// Rebuilds the call, to be handled again later.
    pub(super) fn for_later(self) -> Box<Incoming> {
        Box::new(Incoming {
            request: self.request,
            read: ParsedArguments::again(self.parsed, self.is_of_page),
            digest: self.digest,
            room: self.room,
            answer: self.answer,
        })
    }
}

impl MainLoop {
    pub(super) fn call(&mut self, session: SessionId, call: Box<Incoming>) {
        if let Some(why) = self.sessions.why_refused(session) {
            return call.answer(CallReply::error(why));
        }
        // With a person's answer, the client sends the same call again.
        if call.request.asking.word.is_none()
            && let Some(session) = self.sessions.get_mut(session)
        {
            session.calls_made += 1;
        }
        if self.core.is_paused() {
            return self.take_call(session, call);
        }
        if let Some(call) = self.look_first(session, call) {
            self.take_call(session, call);
        }
    }

    pub(super) fn take_call(&mut self, session: SessionId, call: Box<Incoming>) {
        self.take(session, *call, (None, None));
    }

    /// Continues a call that needs a confirmation, after its arguments were checked.
    pub(super) fn take_checked(
        &mut self,
        session: SessionId,
        call: Box<Incoming>,
        checked: Checked,
    ) {
        let name = (session, call.id().clone());
        match self.before_asking.remove(&name) {
            true => self.take(session, *call, (None, Some(checked))),
            false => drop(call.answer.send(Err(CallFailure::Cancelled))),
        }
    }

    /// Continues a call of a tool that a person has allowed.
    pub(super) fn take_agreed(&mut self, session: SessionId, call: Box<Incoming>, agreed: About) {
        self.take(session, *call, (Some(agreed), None));
    }

    fn take(
        &mut self,
        session: SessionId,
        call: Incoming,
        (agreed, checked): (Option<About>, Option<Checked>),
    ) {
        self.notice_policy();
        let options = self.sessions.get(session).map(|session| &session.options);
        let Some(options) = options else {
            let _ = call.answer.send(Err(CallFailure::Closed));
            return;
        };
        let mode = options.mode;
        let is_of_page = self.is_page_tool(session, mode, &call.request.tool);
        let Incoming {
            request,
            read,
            digest,
            room,
            answer,
        } = call;
        let parsed = match read.for_tool(is_of_page) {
            Ok(parsed) => parsed,
            Err(convert::Rejected::UnknownTool) => {
                let _ = answer.send(Err(CallFailure::UnknownTool { name: request.tool }));
                return;
            }
            Err(convert::Rejected::Arguments(text)) => {
                let _ = answer.send(Ok(self.error_for(session, &text)));
                return;
            }
        };
        if let Err(why) = self.may_open(session, &parsed.kind) {
            let _ = answer.send(Ok(CallReply::error(why)));
            return;
        }
        let mut wanted = Wanted {
            request,
            parsed,
            is_of_page,
            digest,
            room,
            answer,
        };
        let agreed = match agreed {
            Some(_) => agreed,
            None => match self.confirmed(session, wanted, checked) {
                Some((leave, agreed)) => {
                    wanted = leave;
                    agreed
                }
                None => return,
            },
        };
        let Wanted {
            request,
            parsed,
            room,
            answer,
            ..
        } = wanted;
        if let Some(plan) = parsed.plan {
            self.browsers.plans.forget_unused(&self.core);
            self.browsers.plans.add(session, plan);
        }
        let call = CallId(self.next_call);
        self.next_call += 1;
        if request.progress {
            self.waits.follow();
        }
        let name = convert::request_id(&request.request_id);
        let entry = Call {
            answer,
            session,
            request: request.request_id,
            wants_progress: request.progress,
            progress: 0.0,
            told_wait: None,
            mode,
            started: Instant::now(),
            since: now_in_millis(),
            tool: request.tool,
            browser: None,
            place: None,
            prepared: parsed.prepared,
            extras: parsed.extras,
            page_arguments: parsed.page_arguments,
            _room: room,
            checking: false,
            attempt: 0,
            agreed,
            page: None,
            payload: None,
            cancel: CancellationToken::new(),
        };
        self.calls.insert(call, entry);
        let (kind, browser) = (parsed.kind, parsed.browser);
        let connects = matches!(kind, CallKind::ConnectBrowser { .. });
        let timeout = parsed.timeout.or_else(|| connects.then_some(CONNECT_LIMIT));
        self.core.input(Input::Call {
            call,
            session,
            request: name,
            kind,
            browser,
            timeout,
        });
    }

    /// Whether this name is that of a page tool.
    fn is_page_tool(&self, session: SessionId, mode: Mode, name: &str) -> bool {
        ToolName::parse(name).is_some_and(|name| {
            catalogue::info(name, mode, false).is_none()
                && self.core.page_tool(session, name).is_some()
        })
    }

    pub(super) fn ran(&mut self, call: CallId, browser: BrowserId, result: ToolResult) {
        let Some((session, mode)) = self.calls.get(&call).map(|call| (call.session, call.mode))
        else {
            return;
        };
        let payload = match result {
            Ok(output) => {
                let opened = output.opened.iter();
                let numbers = opened.filter_map(|id| {
                    let target = TargetId(id.as_str().into());
                    self.core.number_told(session, browser, &target)
                });
                let numbers: Vec<_> = numbers.collect();
                let opened = numbers.into_iter().map(|tab| convert::opened(tab, mode));
                convert::output(output, opened.map(|text| self.fitting(session, &text)))
            }
            Err(error) => self.error_for(session, &error.to_string()),
        };
        if let Some(call) = self.calls.get_mut(&call) {
            call.payload = Some(payload);
        }
        self.core.input(Input::Finished {
            call,
            outcome: Finish::Done,
        });
    }

    pub(super) fn progressed(&mut self, call: CallId, message: String) {
        let waits = self.core.waits_for(call);
        let Some(call) = self.calls.get_mut(&call).filter(|call| call.wants_progress) else {
            return;
        };
        call.progress += 1.0;
        call.told_wait = waits;
        let progress = Progress {
            request_id: call.request.clone(),
            value: call.progress,
            total: None,
            message: Some(message),
        };
        // If the client's queue is full, the progress message is dropped.
        self.sessions
            .notify(call.session, BackendEvent::Progress(progress));
    }
}

pub(super) fn now_in_millis() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(0))
}
