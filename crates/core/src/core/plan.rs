//! A call is checked and resolved: may it be made now, and what does it mean?

use super::Core;
use crate::call::Task;
use crate::session::Focus;
use crate::{
    Access, CallId, CallKind, Mode, Refusal, Reply, RequestId, SessionId, TabId, TabPolicy, TabRef,
    ToolName,
};

/// What a call that may be made comes to.
pub(super) enum Plan {
    Answer(Reply),
    Work(Task),
}

impl Core {
    /// The checks, in the order that holds for every tool: is the session there, has it room for a
    /// call, does it have the tool, which tab is meant, has that tab room.
    pub(super) fn plan(
        &mut self,
        session: SessionId,
        request: &RequestId,
        kind: CallKind,
    ) -> Result<Plan, Refusal> {
        let mode = self.mode(session).ok_or(Refusal::NoSession)?;
        self.check_session(session, request, kind.tool())?;
        match (kind, mode) {
            (CallKind::ConnectionStatus, _) => Ok(Plan::Answer(self.status(session))),
            (kind, Mode::Progressive) => self.plan_progressive(session, kind),
            (kind, Mode::Static) => self.plan_static(session, kind),
        }
    }

    /// In static mode a call waits until what it needs is there.
    pub(super) fn plan_static(
        &mut self,
        session: SessionId,
        kind: CallKind,
    ) -> Result<Plan, Refusal> {
        let tool = kind.tool();
        self.check_offered(session, &kind)?;
        if let CallKind::Page { tab: None, .. } = kind {
            self.report_loss(session, tool)?;
        }
        if !self.is_connected(session) {
            return Ok(Plan::Work(Task::Await { kind }));
        }
        let task = match kind {
            CallKind::ListPages => Task::List,
            CallKind::NewPage { url } => {
                let (focus, tab) = (true, None);
                Task::Open { url, focus, tab }
            }
            CallKind::SelectPage { tab } => {
                let tab = self.resolve(session, &tab)?;
                Task::Focus { tab }
            }
            CallKind::ClosePage { tab } => {
                let tab = self.resolve(session, &tab)?;
                self.check_not_last(session, tab)?;
                Task::Close { tab }
            }
            CallKind::Page { access, tab, .. } => {
                let named = tab.is_some();
                let tab = match tab {
                    Some(tab) => Some(self.resolve(session, &tab)?),
                    None => self.focused(session),
                };
                let Some(tab) = tab else {
                    return Ok(Plan::Work(Task::Settle { access, tab }));
                };
                self.check_tab(tab, tool, access)?;
                Task::Page { tab, access, named }
            }
            CallKind::ConnectBrowser { .. }
            | CallKind::ListTabs
            | CallKind::OpenTab { .. }
            | CallKind::FocusTab { .. }
            | CallKind::CloseTab { .. }
            | CallKind::ConnectionStatus => return Err(Refusal::NotOffered { tool }),
        };
        Ok(Plan::Work(task))
    }

    /// In progressive mode a call needs a state that has its tool.
    fn plan_progressive(&self, session: SessionId, kind: CallKind) -> Result<Plan, Refusal> {
        let tool = kind.tool();
        self.check_offered(session, &kind)?;
        self.check_state(session, tool)?;
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
                let tab = self.needed_focus(session, tool)?;
                Task::Close { tab }
            }
            CallKind::Page { access, tab, .. } => {
                let named = tab.is_some();
                let focused = self.needed_focus(session, tool)?;
                let tab = match tab {
                    Some(tab) => self.resolve(session, &tab)?,
                    None => focused,
                };
                if tab != focused {
                    return Err(Refusal::NotFocused { tool, tab });
                }
                self.check_tab(tab, tool, access)?;
                Task::Page { tab, access, named }
            }
            CallKind::ListPages
            | CallKind::NewPage { .. }
            | CallKind::SelectPage { .. }
            | CallKind::ClosePage { .. }
            | CallKind::ConnectionStatus => return Err(Refusal::NotOffered { tool }),
        };
        Ok(Plan::Work(task))
    }

    /// The session's open call of that name.
    pub(super) fn open_call(&self, session: SessionId, request: &RequestId) -> Option<CallId> {
        self.calls
            .iter()
            .find(|(_, call)| call.session == session && call.request == *request)
            .map(|(id, _)| *id)
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
        if self.calls_where(|call| call.session == session).len() >= limit {
            return Err(Refusal::SessionBusy { tool, limit });
        }
        Ok(())
    }

    /// Whether this session can ever call this. Each mode has tools of its own; page actions can be
    /// switched off.
    fn check_offered(&self, session: SessionId, kind: &CallKind) -> Result<(), Refusal> {
        let tool = kind.tool();
        let offered = match kind {
            CallKind::Page { .. } => self.page_actions(session).contains(&tool),
            CallKind::ConnectionStatus => true,
            CallKind::ConnectBrowser { .. }
            | CallKind::ListTabs
            | CallKind::OpenTab { .. }
            | CallKind::FocusTab { .. }
            | CallKind::CloseTab { .. } => self.mode(session) == Some(Mode::Progressive),
            CallKind::ListPages
            | CallKind::NewPage { .. }
            | CallKind::SelectPage { .. }
            | CallKind::ClosePage { .. } => self.mode(session) == Some(Mode::Static),
        };
        match offered {
            true => Ok(()),
            false => Err(Refusal::NotOffered { tool }),
        }
    }

    fn check_state(&self, session: SessionId, tool: ToolName) -> Result<(), Refusal> {
        match self.listed(session).any(|listed| listed == tool) {
            true => Ok(()),
            false => Err(self.refusal(session, tool)),
        }
    }

    /// Some page stays: one that this session sees, and that is not on its way out.
    fn check_not_last(&self, session: SessionId, tab: TabId) -> Result<(), Refusal> {
        let mut others = self.shown(session).filter(|(id, _)| *id != tab);
        match others.any(|(id, _)| !self.is_leaving(id)) {
            true => Ok(()),
            false => Err(Refusal::LastPage { tab }),
        }
    }

    /// The first call that would go to a vanished tab is told about it. The next one is not.
    fn report_loss(&mut self, session: SessionId, tool: ToolName) -> Result<(), Refusal> {
        match self
            .sessions
            .get_mut(&session)
            .map(|known| &mut known.focus)
        {
            Some(focus @ &mut Some(Focus::Lost(lost))) => {
                *focus = Some(Focus::Nothing);
                Err(Refusal::BindingLost { tool, lost })
            }
            _ => Ok(()),
        }
    }

    pub(super) fn focused(&self, session: SessionId) -> Option<TabId> {
        self.sessions.get(&session)?.focused_tab()
    }

    fn needed_focus(&self, session: SessionId, tool: ToolName) -> Result<TabId, Refusal> {
        self.focused(session)
            .ok_or_else(|| self.refusal(session, tool))
    }

    /// Which tab the agent means. One that another session holds is not listed, but can be named,
    /// unless that session keeps it to itself.
    fn resolve(&self, session: SessionId, given: &TabRef) -> Result<TabId, Refusal> {
        let known = self.sessions.get(&session).ok_or(Refusal::NoSession)?;
        let mode = known.config.mode;
        let named = given
            .number()
            .and_then(|id| Some((id, self.tabs.get(&id)?)))
            .filter(|(_, tab)| tab.browser == known.browser && tab.is_open())
            .filter(|(_, tab)| tab.is_within_reach(session, known.config.isolated));
        let Some((id, tab)) = named else {
            return Err(Refusal::UnknownTab {
                given: given.clone(),
                available: self.shown(session).map(|(id, _)| id).collect(),
                mode,
            });
        };
        let keeper = tab
            .holders()
            .find(|holder| self.tab_policy(*holder) == Some(TabPolicy::Exclusive));
        match keeper {
            Some(holder) if !tab.is_held_by(session) => Err(Refusal::TabHeld {
                tab: id,
                holder,
                mode,
            }),
            _ => Ok(id),
        }
    }

    fn refusal(&self, session: SessionId, tool: ToolName) -> Refusal {
        match self.state(session) {
            Some(state) => state.refusal(tool),
            None => Refusal::NoSession,
        }
    }
}
