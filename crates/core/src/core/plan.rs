//! A call is checked and resolved: may it be made now, and what does it mean?

use super::Core;
use crate::call::Task;
use crate::{
    Access, BrowserId, CallId, CallKind, Refusal, Reply, RequestId, SessionId, TabId, TabRef,
    ToolName,
};

impl Core {
    /// The checks, in the order that holds for every tool: is the session there, has it room for a
    /// call, does its state have the tool, which tab is meant, has that tab room.
    pub(super) fn plan(
        &self,
        session: SessionId,
        request: &RequestId,
        kind: CallKind,
    ) -> Result<(BrowserId, Task), Refusal> {
        let known = self.sessions.get(&session).ok_or(Refusal::NoSession)?;
        self.check_session(session, request, kind.tool())?;
        self.check_state(session, &kind)?;
        let task = match kind {
            CallKind::ConnectBrowser { launch } => Task::Connect { launch },
            CallKind::ListTabs => Task::List,
            CallKind::OpenTab { url, focus } => {
                let tab = None;
                Task::Open { url, focus, tab }
            }
            CallKind::FocusTab { tab } => {
                let tab = self.resolve(session, &tab)?;
                Task::Focus { tab }
            }
            CallKind::CloseTab { tab: Some(tab) } => {
                let tab = self.resolve(session, &tab)?;
                Task::Close { tab }
            }
            CallKind::CloseTab { tab: None } => {
                let tab = self.focused_tab(session, ToolName::CLOSE_TAB)?;
                Task::Close { tab }
            }
            CallKind::Page { tool, access } => {
                let tab = self.focused_tab(session, tool)?;
                self.check_tab(tab, tool, access)?;
                Task::Page { tab, access }
            }
        };
        Ok((known.browser, task))
    }

    /// The session's open call of that name.
    pub(super) fn open_call(&self, session: SessionId, request: &RequestId) -> Option<CallId> {
        self.calls
            .iter()
            .find(|(_, call)| call.session == session && call.request == *request)
            .map(|(id, _)| *id)
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
        if self.calls_where(|call| call.session == session).len() >= limit {
            return Err(Refusal::SessionBusy { tool, limit });
        }
        Ok(())
    }

    fn check_state(&self, session: SessionId, kind: &CallKind) -> Result<(), Refusal> {
        let tool = kind.tool();
        let page_action = matches!(kind, CallKind::Page { .. });
        if page_action && !self.page_actions(session).contains(&tool) {
            return Err(Refusal::NotOffered { tool });
        }
        if self.listed(session).any(|listed| listed == tool) {
            return Ok(());
        }
        Err(self.refusal(session, tool))
    }

    fn check_tab(&self, id: TabId, tool: ToolName, access: Access) -> Result<(), Refusal> {
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

    fn focused_tab(&self, session: SessionId, tool: ToolName) -> Result<TabId, Refusal> {
        self.sessions
            .get(&session)
            .and_then(|known| known.focused_tab())
            .ok_or_else(|| self.refusal(session, tool))
    }

    /// Which tab the agent means. One that another session holds is not listed, but can be named.
    fn resolve(&self, session: SessionId, given: &TabRef) -> Result<TabId, Refusal> {
        let browser = self.sessions.get(&session).map(|known| known.browser);
        let named = given
            .number()
            .and_then(|id| Some((id, self.tabs.get(&id)?)));
        match named {
            Some((id, tab)) if Some(tab.browser) == browser && tab.is_open() => Ok(id),
            _ => Err(Refusal::UnknownTab {
                given: given.clone(),
                available: self.shown(session).map(|(id, _)| id).collect(),
            }),
        }
    }

    fn refusal(&self, session: SessionId, tool: ToolName) -> Refusal {
        match self.state(session) {
            Some(state) => state.refusal(tool),
            None => Refusal::NoSession,
        }
    }

    /// The tabs that the session sees, and which of them it has focused.
    pub(super) fn tab_list(&self, session: SessionId) -> Reply {
        Reply::Tabs {
            tabs: self
                .shown(session)
                .map(|(id, tab)| tab.row(id, session))
                .collect(),
            focused: self
                .sessions
                .get(&session)
                .and_then(|known| known.focused_tab()),
        }
    }
}
