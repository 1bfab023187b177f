//! What a session is offered, and when it is told that this changed.

use super::Core;
use crate::list::State;
use crate::session::{Announced, Focus};
use crate::tab::Tab;
use crate::timers::Timer;
use crate::{BrowserId, Mode, Output, SessionId, TabId, Time, ToolName};

impl Core {
    /// The session's tools. In progressive mode: the core tools of its state, then those of the focused
    /// page, then the generic page actions. In static mode always the same.
    pub(super) fn listed(&self, session: SessionId) -> impl Iterator<Item = ToolName> + '_ {
        let state = self.state(session);
        let core_tools = state.map_or(&[][..], State::core_tools);
        let focused = match state {
            Some(State::Focused(tab)) => self.tabs.get(&tab),
            _ => None,
        };
        let page_tools = focused.map_or(&[][..], Tab::page_tools);
        let page_actions = focused.map_or(&[][..], |_| self.page_actions(session));
        let known = self.sessions.get(&session);
        let withheld = known.map_or(&[][..], |known| &known.config.withheld[..]);
        let page_actions = page_actions
            .iter()
            .filter(move |tool| !withheld.contains(tool));
        core_tools
            .iter()
            .chain(page_tools)
            .chain(page_actions)
            .chain(self.fixed_list(session))
            .copied()
    }

    /// What a static session is offered; a progressive one has no such list.
    fn fixed_list(&self, session: SessionId) -> impl Iterator<Item = &ToolName> {
        let known = self.sessions.get(&session);
        let withheld = known.map_or(&[][..], |known| &known.config.withheld[..]);
        let hidden = match known {
            Some(known) if !known.config.page_actions => &self.config.page_tools[..],
            _ => &[],
        };
        let fixed = match self.mode(session) {
            Some(Mode::Static) => &self.config.static_tools[..],
            Some(Mode::Progressive) | None => &[],
        };
        let may_choose = known.is_some_and(|known| known.config.may_choose_default);
        fixed.iter().filter(move |tool| {
            !withheld.contains(tool)
                && !hidden.contains(tool)
                && (may_choose || **tool != ToolName::SELECT_DEFAULT_BROWSER)
        })
    }

    pub(super) fn mode(&self, session: SessionId) -> Option<Mode> {
        Some(self.sessions.get(&session)?.config.mode)
    }

    /// The generic page actions that the session is offered, in progressive mode while a tab is focused.
    pub(super) fn page_actions(&self, session: SessionId) -> &[ToolName] {
        match self.sessions.get(&session) {
            Some(known) if known.config.page_actions => &self.config.page_actions,
            _ => &[],
        }
    }

    /// Where the session is, if there is such a session and it is progressive.
    pub(super) fn state(&self, session: SessionId) -> Option<State> {
        let known = self.sessions.get(&session)?;
        if known.is_static() {
            return None;
        }
        let seat = known.home_seat()?;
        let has_tabs = || self.shown(session, seat.browser).next().is_some();
        Some(match seat.focus {
            None => State::Disconnected,
            Some(Focus::On(tab)) => State::Focused(tab),
            Some(_) if !has_tabs() => State::NoTabs,
            Some(Focus::Lost(tab)) => State::NoFocus { lost: Some(tab) },
            Some(Focus::Nothing) => State::NoFocus { lost: None },
        })
    }

    /// The tabs that a session sees in a browser, oldest first.
    pub(super) fn shown(
        &self,
        session: SessionId,
        browser: BrowserId,
    ) -> impl Iterator<Item = (TabId, &Tab)> {
        let seat = self.seat(session, browser);
        let browser = seat.filter(|seat| seat.focus.is_some()).map(|_| browser);
        self.tabs
            .iter()
            .filter(move |(_, tab)| Some(tab.browser) == browser && self.is_shown(session, tab))
            .map(|(id, tab)| (*id, tab))
    }

    /// Tells a session now, because its own call changed what the list is or what it means. A static
    /// list changes only when there are several browsers and was one, or the other way round.
    pub(super) fn announce(&mut self, session: SessionId) {
        let announced = self.offer(session);
        let Some(known) = self.sessions.get_mut(&session) else {
            return;
        };
        if known.is_static() && known.announced == announced {
            return;
        }
        known.announced = announced;
        if let Some(at) = known.announce_at.take() {
            self.timers.disarm(at, Timer::Announce(session));
        }
        self.emit(Output::ToolsChanged { session });
    }

    /// Tells a session now, if its own call may have changed the list and it did.
    pub(super) fn announce_if_changed(&mut self, session: SessionId) {
        if self.is_outdated(session) {
            self.announce(session);
        }
    }

    /// Tells a session about the changes gathered for it, if they did not cancel each other out.
    pub(super) fn announce_gathered(&mut self, session: SessionId) {
        if let Some(known) = self.sessions.get_mut(&session) {
            known.announce_at = None;
        }
        self.announce_if_changed(session);
    }

    /// Sees to it that every session whose list changed will be told, once for all that happens until
    /// then. Runs after every input, so no change can be forgotten.
    pub(super) fn notice_list_changes(&mut self, now: Time) {
        let at = now + self.config.coalesce;
        let unaware: Vec<_> = self
            .sessions
            .iter()
            .filter(|(id, known)| known.announce_at.is_none() && self.is_outdated(**id))
            .map(|(id, _)| *id)
            .collect();
        for session in unaware {
            if let Some(known) = self.sessions.get_mut(&session) {
                known.announce_at = Some(at);
                self.timers.arm(at, Timer::Announce(session));
            }
        }
    }

    /// The session's list as it would be told now.
    pub(super) fn offer(&self, session: SessionId) -> Announced {
        Announced {
            tools: self.tools(session),
            several: self.has_several(session),
        }
    }

    /// Whether the session's list is not the one it was told last.
    fn is_outdated(&self, session: SessionId) -> bool {
        self.sessions.get(&session).is_some_and(|known| {
            known.announced.several != known.has_several()
                || !self
                    .listed(session)
                    .eq(known.announced.tools.iter().copied())
        })
    }
}
