//! Checks a call and resolves its arguments: is it allowed now, and what has to be done?

use super::Core;
use crate::call::Task;
use crate::session::Focus;
use crate::tab::Tab;
use crate::{
    Access, BrowserId, CallId, CallKind, Mode, Refusal, Reply, RequestId, SessionId, TabId,
    TabPolicy, TabRef, ToolName,
};
use std::sync::Arc;

/// What to do for an allowed call.
pub(super) enum Plan {
    Answer(Reply),
    Work(Option<BrowserId>, Task),
}

impl Core {
    /// The checks, in the same order for every tool: is the session open, has it too many calls, does it have the
    /// tool, which browser is it for, is that connected, which tab is it for, has that too many calls.
    pub(super) fn plan(
        &mut self,
        session: SessionId,
        request: &RequestId,
        kind: CallKind,
        given: Option<i64>,
    ) -> Result<Plan, Refusal> {
        let mode = self.mode(session).ok_or(Refusal::NoSession)?;
        self.check_session(session, request, kind.tool())?;
        self.check_offered(session, &kind)?;
        self.check_not_paused(&kind)?;
        if let CallKind::MoreTools { category, tools } = kind {
            let added = self.add_tools(session, category, tools)?;
            return Ok(Plan::Answer(added));
        }
        match &kind {
            CallKind::ConnectionStatus => return Ok(Plan::Answer(self.status(session))),
            CallKind::ListBrowsers => {
                let browsers = self.browser_rows(session);
                return Ok(Plan::Answer(Reply::Browsers { browsers }));
            }
            CallKind::AddBrowser { wanted } => return self.plan_addition(session, wanted),
            CallKind::PageTool { .. }
            | CallKind::CallPageTool { .. }
            | CallKind::ListPageTools { .. }
            | CallKind::ListBrowserTabs => return self.plan_page_tools(session, mode, &kind),
            _ => {}
        }
        let browser = self.browser_of_call(session, &kind, given)?;
        match (kind, mode) {
            (
                kind @ (CallKind::ReconnectBrowser { .. }
                | CallKind::DisconnectBrowser
                | CallKind::SelectDefaultBrowser),
                _,
            ) => self.plan_browsers(session, browser, &kind),
            (kind, Mode::Progressive) => self.plan_progressive(session, browser, kind),
            (kind, Mode::Static) => self.plan_static(session, browser, kind),
        }
    }

    /// In static mode a call waits until its browser and tab are ready.
    pub(super) fn plan_static(
        &mut self,
        session: SessionId,
        browser: BrowserId,
        kind: CallKind,
    ) -> Result<Plan, Refusal> {
        let tool = kind.tool();
        if let CallKind::Page { tab: None, .. } = kind {
            self.report_loss(session, browser, tool)?;
            self.report_given_tab(session, browser, tool)?;
        }
        if !self.is_connected(session, browser) {
            self.check_cooldown(session, browser, tool)?;
            return Ok(Plan::Work(Some(browser), Task::Await { kind }));
        }
        self.number_listed_tabs(session, browser, &kind);
        if self.needs_first_page(session, browser, &kind) {
            let tab = None;
            return Ok(Plan::Work(Some(browser), Task::FindTab { kind, tab }));
        }
        self.plan_in_tabs(session, browser, kind)
    }

    /// Plans a call of a static session whose browser is connected.
    pub(super) fn plan_in_tabs(
        &self,
        session: SessionId,
        browser: BrowserId,
        kind: CallKind,
    ) -> Result<Plan, Refusal> {
        let tool = kind.tool();
        let task = match kind {
            CallKind::ListPages => Task::List,
            CallKind::NewPage { url } => {
                let (focus, tab) = (true, None);
                Task::Open { url, focus, tab }
            }
            CallKind::SelectPage { tab } => {
                let tab = self.resolve(session, browser, &tab)?;
                Task::Focus { tab }
            }
            CallKind::ClosePage { tab } => {
                let tab = self.resolve(session, browser, &tab)?;
                self.check_not_last(session, browser, tab)?;
                Task::Close { tab }
            }
            CallKind::Page { access, tab, .. } => {
                let named = tab.is_some();
                let tab = match tab {
                    Some(tab) => self.resolve(session, browser, &tab)?,
                    None => {
                        let focused = self.focused(session, browser);
                        focused.ok_or(Refusal::NotOpened { tool })?
                    }
                };
                self.check_tab(tab, tool, access)?;
                Task::Page { tab, access, named }
            }
            // They are of the other mode, or were handled before.
            _ => return Err(Refusal::NotOffered { tool }),
        };
        Ok(Plan::Work(Some(browser), task))
    }

    /// In progressive mode the session's state must have the tool.
    pub(super) fn plan_progressive(
        &mut self,
        session: SessionId,
        browser: BrowserId,
        kind: CallKind,
    ) -> Result<Plan, Refusal> {
        let tool = kind.tool();
        let will_reconnect = self.will_reconnect(session, browser);
        let is_connect = matches!(kind, CallKind::ConnectBrowser { .. });
        // Page actions need a focused tab, but need not be listed.
        let need_not_be_listed =
            matches!(kind, CallKind::Page { .. }) || (will_reconnect && is_connect);
        if !need_not_be_listed {
            self.check_state(session, tool)?;
        }
        if will_reconnect && !is_connect {
            return Ok(Plan::Work(Some(browser), Task::Await { kind }));
        }
        if let CallKind::ConnectBrowser { .. } = kind
            && let Some(known) = self.sessions.get_mut(session)
            && let Some(browser_binding) = known.browser_binding(browser)
        {
            known.home = browser_binding.number;
        }
        let task = match kind {
            CallKind::ConnectBrowser { launch } => Task::Connect { launch },
            CallKind::ListTabs => Task::List,
            CallKind::OpenTab { url, focus } => {
                let tab = None;
                Task::Open { url, focus, tab }
            }
            CallKind::FocusTab { tab } => {
                let tab = self.resolve(session, browser, &tab)?;
                Task::Focus { tab }
            }
            CallKind::CloseTab { tab: Some(tab) } => {
                let tab = self.resolve(session, browser, &tab)?;
                Task::Close { tab }
            }
            CallKind::CloseTab { tab: None } => {
                let tab = self.needed_focus(session, browser, tool)?;
                Task::Close { tab }
            }
            CallKind::Page { access, tab, .. } => {
                let named = tab.is_some();
                let focused = self.needed_focus(session, browser, tool)?;
                if !named {
                    self.report_given_tab(session, browser, tool)?;
                }
                let tab = match tab {
                    Some(tab) => self.resolve(session, browser, &tab)?,
                    None => focused,
                };
                if tab != focused {
                    return Err(Refusal::NotFocused { tool, tab });
                }
                self.check_tab(tab, tool, access)?;
                Task::Page { tab, access, named }
            }
            // They are of the other mode, or were handled before.
            _ => return Err(Refusal::NotOffered { tool }),
        };
        Ok(Plan::Work(Some(browser), task))
    }

    /// The session's unanswered call with this request id.
    pub(super) fn open_call(&self, session: SessionId, request: &RequestId) -> Option<CallId> {
        let mut calls = self.calls.of_session(session);
        calls.find_map(|(id, call)| (call.request == *request).then_some(id))
    }

    pub(super) fn check_tab(
        &self,
        id: TabId,
        tool: ToolName,
        access: Access,
    ) -> Result<(), Refusal> {
        let limit = self.config.calls_per_tab;
        let busy = |id| {
            self.tabs
                .get(&id)
                .is_some_and(|tab| tab.lane.len() >= limit)
        };
        match access {
            Access::Read | Access::Act if busy(id) => Err(Refusal::TabBusy {
                tool,
                tab: id,
                limit,
            }),
            Access::Read | Access::Act | Access::Bypass => Ok(()),
        }
    }

    fn check_session(
        &self,
        session: SessionId,
        request: &RequestId,
        tool: ToolName,
    ) -> Result<(), Refusal> {
        if self.open_call(session, request).is_some() {
            return Err(Refusal::RequestInUse);
        }
        let limit = self.config.calls_per_session;
        if self.calls.of_session(session).count() >= limit {
            return Err(Refusal::SessionBusy { tool, limit });
        }
        Ok(())
    }

    /// Refuses tools that this session never has: tools of the other mode, and tools that the user switched off.
    fn check_offered(&self, session: SessionId, kind: &CallKind) -> Result<(), Refusal> {
        let tool = kind.tool();
        let known = self.sessions.get(&session).ok_or(Refusal::NoSession)?;
        let config = &known.config;
        // What a page tool does is known when its page is.
        let is_page_tool = matches!(kind, CallKind::PageTool { .. });
        if let Some(reading) = &config.reading
            && !is_page_tool
            && !reading.contains(&tool)
        {
            return Err(Refusal::OnlyReads { tool });
        }
        if let Some(only) = &config.only {
            let is_one = only.contains(&tool) && matches!(kind, CallKind::Page { .. });
            return is_one.then_some(()).ok_or(Refusal::NotOffered { tool });
        }
        let of_mode = kind.exists_in(config.mode);
        let exists = match kind {
            CallKind::Page { .. } => config.page_actions && self.config.tab_tools.contains(&tool),
            CallKind::PageTool { .. } => true,
            _ => config.switches_on(tool),
        };
        let switched_on = exists && !config.withheld.contains(&tool);
        match (of_mode, switched_on, known.not_asked_for(tool)) {
            (true, true, None) => Ok(()),
            (false, _, _) => Err(Refusal::OtherList { tool }),
            (true, false, _) => Err(Refusal::NotOffered { tool }),
            (true, true, Some(category)) => Err(Refusal::NotAskedFor {
                tool,
                category: Arc::clone(category),
                mode: config.mode,
            }),
        }
    }

    /// Whether a session can ever call a page action, listed or not, or after `more_tools`.
    pub(super) fn offers_page_tool(&self, session: SessionId, tool: ToolName) -> bool {
        self.sessions.get(&session).is_some_and(|known| {
            known.config.page_actions
                && self.config.tab_tools.contains(&tool)
                && !known.config.withheld.contains(&tool)
                && (!known.is_static() || known.not_asked_for(tool).is_none())
        })
    }

    fn check_state(&self, session: SessionId, tool: ToolName) -> Result<(), Refusal> {
        let (mut before, mut after) = self.own_tools(session);
        match before.any(|own| *own == tool) || after.any(|own| *own == tool) {
            true => Ok(()),
            false => Err(self.refusal(session, tool)),
        }
    }

    /// Refuses to close the last page that this session sees. Pages that are being closed do not count.
    fn check_not_last(
        &self,
        session: SessionId,
        browser: BrowserId,
        tab: TabId,
    ) -> Result<(), Refusal> {
        let mut others = self.shown(session, browser).filter(|(id, _)| *id != tab);
        match others.any(|(id, _)| !self.is_closing(id)) {
            true => Ok(()),
            false => Err(Refusal::LastPage { tab }),
        }
    }

    /// Refuses the first call that would go to a lost tab, to tell the agent about it.
    fn report_loss(
        &mut self,
        session: SessionId,
        browser: BrowserId,
        tool: ToolName,
    ) -> Result<(), Refusal> {
        match self
            .browser_binding_mut(session, browser)
            .map(|browser_binding| &mut browser_binding.focus)
        {
            Some(focus @ &mut Some(Focus::Lost(lost))) => {
                *focus = Some(Focus::Nothing);
                self.persistence_version += 1;
                Err(Refusal::BindingLost { tool, lost })
            }
            _ => Ok(()),
        }
    }

    pub(super) fn focused(&self, session: SessionId, browser: BrowserId) -> Option<TabId> {
        self.sessions.get(&session)?.focused_in(browser)
    }

    fn needed_focus(
        &self,
        session: SessionId,
        browser: BrowserId,
        tool: ToolName,
    ) -> Result<TabId, Refusal> {
        self.focused(session, browser)
            .ok_or_else(|| self.refusal(session, tool))
    }

    /// The tab that the agent named. A tab of another session is not listed, but can be named, unless that
    /// session holds it exclusively.
    fn resolve(
        &self,
        session: SessionId,
        browser: BrowserId,
        given: &TabRef,
    ) -> Result<TabId, Refusal> {
        let known = self.sessions.get(&session).ok_or(Refusal::NoSession)?;
        let mode = known.config.mode;
        let named = self
            .tab_by_ref(session, given)
            .and_then(|id| Some((id, self.tabs.get(&id)?)))
            .filter(|(_, tab)| tab.browser() == Some(browser) && tab.is_open())
            .filter(|(_, tab)| tab.is_within_reach(session, known.config.isolated));
        let Some((id, tab)) = named else {
            return Err(Refusal::UnknownTab {
                given: given.clone(),
                available: self
                    .shown(session, browser)
                    .map(|(id, tab)| tab.name(id))
                    .collect(),
                mode,
            });
        };
        self.check_exclusive(session, id, tab, mode)?;
        Ok(id)
    }

    /// Refuses a tab that another session holds exclusively.
    pub(super) fn check_exclusive(
        &self,
        session: SessionId,
        id: TabId,
        tab: &Tab,
        mode: Mode,
    ) -> Result<(), Refusal> {
        let mut holders = tab
            .holders()
            .filter_map(|holder| self.sessions.get(&holder));
        match holders.find(|holder| holder.config.tab_policy == TabPolicy::Exclusive) {
            Some(holder) if !tab.is_held_by(session) => Err(Refusal::TabHeld {
                tab: id,
                holder: Arc::clone(&holder.config.label),
                mode,
            }),
            _ => Ok(()),
        }
    }

    pub(super) fn refusal(&self, session: SessionId, tool: ToolName) -> Refusal {
        match self.state(session) {
            Some(state) => state.refusal(tool),
            None => Refusal::NoSession,
        }
    }
}
