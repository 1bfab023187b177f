//! The person at the browser: pauses agents, takes tabs back, and gives tabs to agents.

use super::Core;
use crate::session::Focus;
use crate::{
    BrowserId, CallKind, Fate, LostTab, Mode, PersonRefusal, Refusal, SessionId, TabId, TargetId,
    ToolName,
};

impl Core {
    /// Whether the person paused all agents.
    pub fn is_paused(&self) -> bool {
        self.paused
    }

    /// The tabs of a browser that sessions hold or that calls use.
    pub fn used_tabs(&self, browser: BrowserId) -> impl Iterator<Item = &TargetId> {
        self.tabs_of(browser).into_iter().filter_map(|id| {
            let tab = self.tabs.get(&id)?;
            let is_used = tab.is_held() || self.calls.of_tab(id).next().is_some();
            Some(&tab.home.as_ref()?.target).filter(|_| is_used)
        })
    }

    /// Whether the person can give a session tabs of a browser. A progressive session has to connect first.
    pub fn can_be_given(&self, session: SessionId, browser: BrowserId) -> bool {
        let known = self.sessions.get(&session);
        known.is_some_and(|known| match known.config.mode {
            _ if known.config.isolated => false,
            Mode::Static => known.is_bound_to(browser),
            Mode::Progressive => self.is_connected(session, browser),
        })
    }

    /// Pauses all agents and ends their calls, including running ones.
    pub(super) fn pause(&mut self) {
        self.paused = true;
        let calls = self.calls.keys().copied().collect();
        self.end_all(calls, |core, call| {
            let begun = core.calls.get(&call).is_some_and(|call| call.at_work);
            core.fail(call, |tool, _| PersonRefusal::Paused { tool, begun }.into());
        });
    }

    pub(super) fn check_not_paused(&self, kind: &CallKind) -> Result<(), Refusal> {
        let asks_only = matches!(kind, CallKind::ConnectionStatus);
        match self.paused && !asks_only {
            true => Err(PersonRefusal::Paused {
                tool: kind.tool(),
                begun: false,
            }
            .into()),
            false => Ok(()),
        }
    }

    pub(super) fn taken_back(&mut self, browser: BrowserId, target: &TargetId) {
        if let Some(id) = self.tab_of(browser, target) {
            self.take_tab_from(id, |_| true);
        }
    }

    /// Binds a session to a tab, once its browser is connected.
    pub(super) fn given(&mut self, session: SessionId, browser: BrowserId, target: TargetId) {
        if !self.can_be_given(session, browser) {
            return;
        }
        if !self.is_connected(session, browser) {
            if let Some(known) = self.sessions.get_mut(session) {
                known.config.restored_tabs.bound = vec![target];
            }
            return;
        }
        let tab = self.tab_of(browser, &target);
        let Some(id) = tab.filter(|id| self.tabs.get(id).is_some_and(|tab| tab.is_open())) else {
            return;
        };
        self.take_tab_from(id, |holder| holder != session);
        if self.focused(session, browser) == Some(id) {
            return;
        }
        self.move_focus(session, id);
        if let Some(browser_binding) = self.browser_binding_mut(session, browser) {
            browser_binding.given = Some(id);
        }
    }

    /// Refuses the first call that would go to a tab that the person chose, to tell the agent about it.
    pub(super) fn report_given_tab(
        &mut self,
        session: SessionId,
        browser: BrowserId,
        tool: ToolName,
    ) -> Result<(), Refusal> {
        let browser_binding = self.browser_binding_mut(session, browser);
        match browser_binding.and_then(|browser_binding| browser_binding.given.take()) {
            Some(tab) => Err(PersonRefusal::Given { tool, tab }.into()),
            None => Ok(()),
        }
    }

    /// Takes a tab from sessions: their calls there end, and each session is told once.
    fn take_tab_from(&mut self, id: TabId, from: impl Fn(SessionId) -> bool) {
        let Some(tab) = self.tabs.get(&id) else {
            return;
        };
        let (browser, fate) = (tab.browser(), Fate::TakenBack);
        let losing = tab.focused_by.iter().copied().filter(|it| from(*it));
        let losing: Vec<_> = losing.collect();
        let lost = LostTab { tab: id, fate };
        let calls = self.calls_in(id, |call| from(call.session));
        let told = self.sessions_of(&calls);
        self.end_all(calls, |core, call| {
            core.fail(call, |tool, mode| Refusal::TabLost { tool, lost, mode });
        });
        for session in losing {
            let knows = told.contains(&session) && self.mode(session) == Some(Mode::Static);
            let browser_binding =
                browser.and_then(|browser| self.browser_binding_mut(session, browser));
            if let Some(browser_binding) = browser_binding {
                browser_binding.given = None;
                browser_binding.focus = Some(match knows {
                    true => Focus::Nothing,
                    false => Focus::Lost(lost),
                });
            }
        }
        self.change_hold(id, |tab| {
            tab.owner.take_if(|owner| from(*owner));
            tab.focused_by.retain(|session| !from(*session));
        });
        self.touch_tab(id);
    }
}
