//! Static mode: the core connects to the browser and finds or opens a tab for calls that need one.

use super::Core;
use super::plan::Plan;
use crate::call::Task;
use crate::session::Focus;
use crate::tab::TabPhase;
use crate::{BrowserId, CallId, CallKind, Mode, Output, Refusal, Reply, SessionId, TabId};

impl Core {
    /// Continues a call that waited for its browser.
    pub(super) fn resume(&mut self, id: CallId) {
        let Some(call) = self.calls.get(&id) else {
            return;
        };
        let Task::Await { kind } = call.task() else {
            return;
        };
        let (session, kind) = (call.session, kind.clone());
        let Some(browser) = call.browser() else {
            return;
        };
        let plan = match self.mode(session) {
            Some(Mode::Progressive) => self.plan_progressive(session, browser, kind),
            _ => self.plan_static(session, browser, kind),
        };
        self.continue_call(id, plan);
    }

    /// Continues a waiting call with its new plan.
    fn continue_call(&mut self, id: CallId, plan: Result<Plan, Refusal>) {
        match plan {
            Ok(Plan::Work(_, task)) => {
                self.calls.change_task(id, |before| *before = task);
                self.start(id);
            }
            Ok(Plan::Answer(reply)) => self.answer(id, reply),
            Err(refusal) => self.answer(id, Reply::Refused(refusal)),
        }
    }

    /// Whether a call needs a first tab for its session: it names none, or it names page 1 of a new browser, as
    /// agents of chrome-devtools-mcp do.
    pub(super) fn needs_first_page(
        &self,
        session: SessionId,
        browser: BrowserId,
        kind: &CallKind,
    ) -> bool {
        let browser_binding = self.browser_binding(session, browser);
        if browser_binding
            .is_none_or(|browser_binding| browser_binding.focus != Some(Focus::Nothing))
        {
            return false;
        }
        match kind {
            CallKind::Page { tab: None, .. } => true,
            CallKind::Page { tab: Some(tab), .. }
            | CallKind::SelectPage { tab }
            | CallKind::ClosePage { tab } => {
                tab.number() == Some(FIRST_PAGE)
                    && self.is_launched(browser)
                    && self.can_have_first_page(session, browser)
            }
            CallKind::ListPages => {
                self.is_launched(browser) && self.shown(session, browser).next().is_none()
            }
            _ => false,
        }
    }

    /// Whether the session's first tab would be page 1: the number is unused, or its tab is being opened for this
    /// session.
    fn can_have_first_page(&self, session: SessionId, browser: BrowserId) -> bool {
        if let Some(own) = self.page_numbers(session) {
            return own.counted() == 0;
        }
        let Some(tab) = self.tabs.get(&FIRST_PAGE) else {
            return self.tabs_counted == 0;
        };
        let known = self.sessions.get(&session);
        let isolated = known.is_some_and(|known| known.config.isolated);
        let is_coming = || {
            let mut calls = self.finding_tab(session, browser).into_iter();
            calls.any(|call| {
                let call = self.calls.get(&call);
                call.is_some_and(|call| call.task().tab() == Some(FIRST_PAGE))
            })
        };
        tab.browser() == Some(browser)
            && tab.is_within_reach(session, isolated)
            && (tab.stage == TabPhase::Unused || is_coming())
    }

    /// Finds a tab for a session that has none. One of its calls opens it, and the others wait and run there,
    /// too.
    pub(super) fn find_tab(&mut self, id: CallId) {
        let Some(call) = self.calls.get(&id) else {
            return;
        };
        let session = call.session;
        let Some(browser) = call.browser() else {
            return;
        };
        let mut finding_tab = self.finding_tab(session, browser).into_iter();
        if finding_tab.any(|id| self.is_at_work(id)) {
            return;
        }
        let vacant = self.page_in_front(session, browser);
        if let Some(tab) = vacant.or_else(|| self.unused_tab(session, browser)) {
            return self.use_found_tab(session, tab);
        }
        if let Some(call) = self.calls.get_mut(id) {
            call.at_work = true;
            self.emit(Output::OpenTab {
                call: id,
                browser,
                url: NEW_TAB.into(),
                focus: true,
            });
        }
    }

    /// The call that was opening a tab ended: the next waiting call takes over.
    pub(super) fn find_tab_for_others(&mut self, session: SessionId, browser: BrowserId) {
        if let Some(next) = self.finding_tab(session, browser).first() {
            self.find_tab(*next);
        }
    }

    /// Binds a session to the tab that was found, unless it is bound to another one by now, and runs all waiting
    /// calls in the found tab.
    pub(super) fn use_found_tab(&mut self, session: SessionId, id: TabId) {
        let Some(tab) = self.tabs.get_mut(&id) else {
            return;
        };
        tab.stage = TabPhase::Open;
        let browser = tab.browser();
        self.touch_tab(id);
        let Some(browser) = browser else {
            return;
        };
        if self.focused(session, browser).is_none() {
            self.move_focus(session, id);
        }
        for call in self.finding_tab(session, browser) {
            self.run_in(call, id);
        }
    }

    fn run_in(&mut self, id: CallId, tab: TabId) {
        let Some(call) = self.calls.get_mut(id) else {
            return;
        };
        let Task::FindTab { kind, .. } = call.task() else {
            return;
        };
        let kind = kind.clone();
        call.at_work = false;
        let (session, tool, browser) = (call.session, call.tool, call.browser());
        let access = match kind {
            CallKind::Page {
                access, tab: None, ..
            } => access,
            kind => {
                if let Some(browser) = browser {
                    let plan = self.plan_in_tabs(session, browser, kind);
                    self.continue_call(id, plan);
                }
                return;
            }
        };
        if let Err(refusal) = self.check_tab(tab, tool, access) {
            return self.answer(id, Reply::Refused(refusal));
        }
        let named = false;
        let task = Task::Page { tab, access, named };
        self.calls.change_task(id, |before| *before = task);
        self.start(id);
    }

    /// The active tab, for the first session that can take it over: only in a browser that the user named, and
    /// only if no session holds it.
    fn page_in_front(&mut self, session: SessionId, browser: BrowserId) -> Option<TabId> {
        let known = self.sessions.get(&session)?;
        if !known.browser_binding(browser)?.attached || known.config.isolated {
            return None;
        }
        let front = self.connection_mut(browser)?.front.take()?;
        let id = self.tab_of(browser, &front)?;
        let tab = self.tabs.get(&id)?;
        (tab.is_open() && !tab.is_held() && !self.is_closing(id)).then_some(id)
    }

    /// An unused blank tab, which the session owns from now on.
    fn unused_tab(&mut self, session: SessionId, browser: BrowserId) -> Option<TabId> {
        let isolated = self.sessions.get(&session)?.config.isolated;
        let mut tabs = self.tabs_of(browser).into_iter();
        let id = tabs.find(|id| {
            self.tabs.get(id).is_some_and(|tab| {
                tab.stage == TabPhase::Unused && tab.is_within_reach(session, isolated)
            })
        })?;
        self.change_hold(id, |tab| tab.owner = Some(session));
        Some(id)
    }

    /// The session's calls that wait for its tab in a browser.
    fn finding_tab(&self, session: SessionId, browser: BrowserId) -> Vec<CallId> {
        self.calls_of(session, |call| {
            call.browser() == Some(browser) && matches!(call.task(), Task::FindTab { .. })
        })
    }

    pub(super) fn is_at_work(&self, id: CallId) -> bool {
        self.calls.get(&id).is_some_and(|call| call.at_work)
    }
}

const NEW_TAB: &str = "about:blank";
const FIRST_PAGE: TabId = TabId(1);
