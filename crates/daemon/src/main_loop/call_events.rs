//! Tool calls, from the request to the core, and from the result of their work to the core.

use super::confirm::Checked;
use super::look_for_tools::tabs_to_inspect;
use super::{Answer, MainLoop, PagesEvent};
use crate::browsers::CONNECT_LIMIT;
use crate::calls::NewCall;
use crate::convert::Role;
use crate::incoming::{Digest, Incoming, ParsedArguments, Reserved};
use crate::questions::About;
use crate::{catalogue, convert, resources, work};
use tabmux_browser::tools::ToolResult;
use tabmux_browser::{Files, bounds};
use tabmux_core::{
    BrowserId, CallId, CallKind, Finish, Input, Mode, SessionId, TargetId, ToolName,
};
use tabmux_protocol::{CallFailure, CallReply, CallRequest, RequestId};

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
        if let Some(call) = self.inspect_first(session, call) {
            self.take_call(session, call);
        }
    }

    /// `list_page_tools` waits until the tabs that it lists are inspected. Returns the call if it need not wait.
    fn inspect_first(&self, session: SessionId, call: Box<Incoming>) -> Option<Box<Incoming>> {
        if call.request.tool != "list_page_tools" {
            return Some(call);
        }
        let named = call.read.lists_tools_of.as_ref();
        let tabs = tabs_to_inspect(session, named, &self.core, &self.sessions, &self.browsers);
        if tabs.is_empty() {
            return Some(call);
        }
        let generate = self.sessions.generated_for(session);
        let then = PagesEvent::Looked { session, call };
        let look = work::look_for_tools(tabs, generate, then, self.events.clone());
        tokio::spawn(bounds::within(self.origins_of(session), look));
        None
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
        match self.calls.before_asking.remove(&name) {
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
        let name = convert::request_id(&request.request_id);
        let call = self.calls.add(NewCall {
            answer,
            session,
            request: request.request_id,
            wants_progress: request.progress,
            mode,
            tool: request.tool,
            prepared: parsed.prepared,
            extras: parsed.extras,
            page_arguments: parsed.page_arguments,
            room,
            agreed,
        });
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

    /// The client cancels a call, which may not have reached the core yet.
    pub(super) fn cancel(&mut self, session: SessionId, request: &RequestId) {
        let before_asking = &mut self.calls.before_asking;
        if before_asking.remove(&(session, request.clone()))
            || self.question_withdrawn(session, request)
        {
            return;
        }
        let request = convert::request_id(request);
        self.core.input(Input::Cancel { session, request });
        self.browsers.queued.give_up_unwanted(&self.core);
    }

    /// Whether this name is that of a page tool.
    pub(super) fn is_page_tool(&self, session: SessionId, mode: Mode, name: &str) -> bool {
        ToolName::parse(name).is_some_and(|name| {
            catalogue::info(name, mode, false).is_none()
                && (self.core.page_tool(session, name).is_some()
                    || self.core.is_gone(session, name))
        })
    }

    pub(super) fn ran(&mut self, call: CallId, browser: BrowserId, result: ToolResult) {
        let Some(known) = self.calls.get(call) else {
            return;
        };
        let (session, mode) = (known.session, known.mode);
        let files = known.files.as_ref();
        let saved = files.filter(|_| known.extras.role == Role::Read);
        let saved = saved.and_then(Files::last_saved);
        let payload = match result {
            Ok(_) if let Some(number) = saved => resources::link(number),
            Ok(output) => {
                let opened = output.opened.iter();
                let numbers = opened.filter_map(|id| {
                    let target = TargetId(id.as_str().into());
                    self.core.assigned_number(session, browser, &target)
                });
                let numbers: Vec<_> = numbers.collect();
                let opened = numbers.into_iter().map(|tab| convert::opened(tab, mode));
                convert::output(output, opened.map(|text| self.fitting(session, &text)))
            }
            Err(error) => self.error_for(session, &error.to_string()),
        };
        self.calls.keep_reply(call, payload);
        self.core.input(Input::Finished {
            call,
            outcome: Finish::Done,
        });
    }

    /// Sends a progress message to the client of a call, if it wants one. If its queue is full, it is dropped.
    pub(super) fn progressed(&mut self, call: CallId, message: String) {
        if let Some((session, event)) = self.calls.progress(call, message, &self.core) {
            self.sessions.notify(session, event);
        }
    }

    /// Tells clients what their calls wait for.
    pub(super) fn tell_waits(&mut self) {
        for (call, message) in self.calls.new_waits(&self.core) {
            self.progressed(call, message);
        }
    }
}
