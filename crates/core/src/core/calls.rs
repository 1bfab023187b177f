//! A call after its checks: it is started, perhaps queued, finished or aborted, and answered once.

use super::Core;
use super::plan::Plan;
use crate::call::{Call, Task};
use crate::timers::Timer;
use crate::{
    Access, BrowserId, CallId, CallKind, Mode, Output, Refusal, Renewed, Reply, RequestId,
    SessionId, TabId, TargetId, ToolName,
};
use std::collections::BTreeSet;
use std::time::Duration;

impl Core {
    pub(super) fn call(
        &mut self,
        id: CallId,
        session: SessionId,
        request: RequestId,
        kind: CallKind,
        given: Option<i64>,
        timeout: Option<Duration>,
    ) {
        if self.calls.contains_key(&id) {
            return;
        }
        let tool = kind.tool();
        let (browser, task) = match self.plan(session, &request, kind, given) {
            Ok(Plan::Work(browser, task)) => (browser, task),
            Ok(Plan::Answer(reply)) => return self.reply(id, session, request, reply, None),
            Err(refusal) => {
                return self.reply(id, session, request, Reply::Refused(refusal), None);
            }
        };
        let limit = self.config.deadline(timeout);
        let deadline = self.now + limit;
        let until = (deadline, self.now + self.config.most_deadline);
        let call = Call::new((session, request), tool, (browser, task), limit, until);
        self.calls.insert(id, call);
        self.timers.arm(deadline, Timer::Deadline(id));
        self.start(id);
    }

    pub(super) fn cancel(&mut self, session: SessionId, request: &RequestId) {
        if let Some(call) = self.open_call(session, request) {
            self.abort(call, Reply::Cancelled);
        }
    }

    pub(super) fn expire(&mut self, id: CallId) {
        if let Some(failure) = self.away_failure(id) {
            return self.give_up(id, failure);
        }
        if let Some(call) = self.calls.get(&id) {
            let (limit, stuck) = (call.limit, call.stuck());
            self.fail(id, |tool, mode| Refusal::TooLate {
                tool,
                limit,
                stuck,
                mode,
            });
        }
    }

    /// Ends a call with a refusal.
    pub(super) fn fail(&mut self, id: CallId, why: impl FnOnce(ToolName, Mode) -> Refusal) {
        if let Some(call) = self.calls.get(&id) {
            let mode = self.mode(call.session).unwrap_or_default();
            let refusal = why(call.tool, mode);
            self.abort(id, Reply::Refused(refusal));
        }
    }

    /// Ends a call before its work is finished.
    pub(super) fn abort(&mut self, id: CallId, reply: Reply) {
        if self.calls.get(&id).is_some_and(|call| call.at_work) {
            self.emit(Output::Abort { call: id });
        }
        self.answer(id, reply);
    }

    /// Answers a call, removes it from all tables, and starts calls that waited for it. No other function
    /// removes a call, so every call is answered exactly once.
    pub(super) fn answer(&mut self, id: CallId, reply: Reply) {
        let Some(call) = self.calls.remove(id) else {
            return;
        };
        self.timers.disarm(call.deadline, Timer::Deadline(id));
        let renewed = match reply {
            Reply::Refused(_) | Reply::Failed { .. } | Reply::Cancelled => None,
            _ => (call.browser()).and_then(|browser| self.take_renewal(call.session, browser)),
        };
        let is_done = matches!(reply, Reply::Browser { .. });
        self.reply(id, call.session, call.request.clone(), reply, renewed);
        match *call.task() {
            Task::Reconnect { added: true } if !is_done => {
                // `add_browser` failed: undo it.
                if let Some(browser) = call.browser() {
                    self.detach_browser(call.session, browser, "add_browser did not connect it");
                }
            }
            Task::Open { tab: Some(tab), .. } => self.discard(tab),
            Task::FindTab { tab, .. } if call.at_work => {
                if let Some(tab) = tab {
                    self.discard(tab);
                }
                if let Some(browser) = call.browser() {
                    self.find_tab_for_others(call.session, browser);
                }
            }
            Task::Page { tab, access, .. } | Task::PageTool { tab, access, .. } => {
                let lane = self.tabs.get_mut(&tab).map(|tab| &mut tab.lane);
                if let Some(next) = lane.and_then(|lane| lane.leave(id, access)) {
                    self.run(next, tab);
                }
            }
            Task::Connect { .. }
            | Task::Reconnect { .. }
            | Task::List
            | Task::Await { .. }
            | Task::FindTab { .. }
            | Task::Open { tab: None, .. }
            | Task::Focus { .. }
            | Task::Close { .. } => {}
        }
    }

    /// Ends several calls. Running calls end last, so that none of the others is started only to be aborted.
    pub(super) fn end_all(&mut self, calls: Vec<CallId>, mut end: impl FnMut(&mut Self, CallId)) {
        let newest_first = calls.into_iter().rev();
        let (at_work, waiting): (Vec<_>, Vec<_>) =
            newest_first.partition(|call| self.is_at_work(*call));
        for call in waiting.into_iter().chain(at_work) {
            end(self, call);
        }
    }

    /// The calls of a session that meet a condition.
    pub(super) fn calls_of(
        &self,
        session: SessionId,
        wanted: impl Fn(&Call) -> bool,
    ) -> Vec<CallId> {
        let calls = self.calls.of_session(session);
        calls
            .filter_map(|(id, call)| wanted(call).then_some(id))
            .collect()
    }

    /// The calls that need a browser and meet a condition.
    pub(super) fn calls_needing(
        &self,
        browser: BrowserId,
        wanted: impl Fn(&Call) -> bool,
    ) -> Vec<CallId> {
        let calls = self.calls.of_browser(browser);
        calls
            .filter_map(|(id, call)| wanted(call).then_some(id))
            .collect()
    }

    /// The calls whose work is in a tab and that meet a condition.
    pub(super) fn calls_in(&self, tab: TabId, wanted: impl Fn(&Call) -> bool) -> Vec<CallId> {
        let calls = self.calls.of_tab(tab);
        calls
            .filter_map(|(id, call)| wanted(call).then_some(id))
            .collect()
    }

    /// The sessions that made these calls.
    pub(super) fn sessions_of(&self, calls: &[CallId]) -> BTreeSet<SessionId> {
        calls
            .iter()
            .filter_map(|call| self.calls.get(call))
            .map(|call| call.session)
            .collect()
    }

    /// Passes a call's work to the driver, or queues it.
    pub(super) fn start(&mut self, id: CallId) {
        let Some(call) = self.calls.get_mut(id) else {
            return;
        };
        let session = call.session;
        if let Task::PageTool { tab, access, .. } = *call.task() {
            return self.take_turn(id, session, tab, access);
        }
        let Some(browser) = call.browser() else {
            return;
        };
        match call.task() {
            Task::PageTool { .. } => {}
            Task::Connect { launch } => {
                let launch = *launch;
                self.connect(browser, launch);
            }
            Task::Reconnect { .. } => self.reconnect(browser),
            Task::Await { .. } => {
                let launch = self.launches_for_calls(session);
                self.connect(browser, launch);
            }
            Task::List => {
                call.at_work = true;
                self.emit(Output::Refresh { call: id, browser });
            }
            Task::FindTab { .. } => self.find_tab(id),
            Task::Open { url, focus, .. } => {
                let (url, focus) = (url.clone(), *focus);
                call.at_work = true;
                self.emit(Output::OpenTab {
                    call: id,
                    browser,
                    url,
                    focus,
                });
            }
            &Task::Focus { tab } => {
                self.hand_out(id, tab, |call, browser, target| Output::PrepareFocus {
                    call,
                    browser,
                    target,
                });
            }
            &Task::Close { tab } => {
                let last = self.is_last(tab);
                self.hand_out(id, tab, |call, browser, target| Output::CloseTab {
                    call,
                    browser,
                    target,
                    last,
                });
            }
            &Task::Page { tab, access, named } => {
                if named {
                    self.move_focus(session, tab);
                }
                self.take_turn(id, session, tab, access);
            }
        }
    }

    /// Runs a call on a tab, or queues it behind the others.
    pub(super) fn take_turn(&mut self, id: CallId, session: SessionId, tab: TabId, access: Access) {
        let lane = self.tabs.get_mut(&tab).map(|tab| &mut tab.lane);
        if lane.is_some_and(|lane| lane.enter(session, id, access)) {
            self.run(id, tab);
        }
    }

    pub(super) fn run(&mut self, id: CallId, tab: TabId) {
        self.note_action(id, tab);
        if self.is_page_tool(id) {
            return self.run_page_tool(id);
        }
        self.hand_out(id, tab, |call, browser, target| Output::Run {
            call,
            browser,
            target,
        });
    }

    fn hand_out(
        &mut self,
        id: CallId,
        tab: TabId,
        work: impl FnOnce(CallId, BrowserId, TargetId) -> Output,
    ) {
        if let Some(call) = self.calls.get_mut(id)
            && let Some(home) = self.tabs.get(&tab).and_then(|tab| tab.home.as_ref())
        {
            call.at_work = true;
            let output = work(id, home.browser, home.target.clone());
            self.emit(output);
        }
    }

    /// Records that a browser answered. Returns `Some` if it was lost and reconnected since its last answer.
    fn take_renewal(&mut self, session: SessionId, browser: BrowserId) -> Option<Renewed> {
        let browser_binding = self.browser_binding_mut(session, browser)?;
        browser_binding.known = true;
        let renewal = browser_binding.renewal.take()?;
        Some(Renewed {
            number: browser_binding.number,
            attached: browser_binding.attached,
            renewal,
        })
    }

    fn reply(
        &mut self,
        call: CallId,
        session: SessionId,
        request: RequestId,
        reply: Reply,
        renewed: Option<Renewed>,
    ) {
        let appeared = self.take_news(session, &reply);
        let reply = self.in_session_numbers(session, reply);
        self.emit(Output::Reply {
            call,
            session,
            request,
            reply,
            renewed,
            appeared,
        });
        if let Some(known) = self.sessions.get_mut(session) {
            known.answered = self.now;
        }
        self.rest_later(session);
    }
}
