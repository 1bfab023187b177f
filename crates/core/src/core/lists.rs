//! A session's tool list, and when the session is notified of changes.

use super::Core;
use crate::browser::Browser;
use crate::list::State;
use crate::session::{Announced, Focus, Session};
use crate::tab::Tab;
use crate::timers::Timer;
use crate::{BrowserId, Mode, Output, Refusal, Reply, SessionId, TabId, Time, ToolName};
use std::collections::BTreeSet;
use std::sync::Arc;

impl Core {
    /// The session's tool list. In progressive mode: the tools of its state, then the tools of the focused page
    /// and of the page library, then the page actions. In static mode: the fixed list, then the tools of all
    /// pages.
    pub(super) fn listed(&self, session: SessionId) -> Vec<ToolName> {
        let page_tools = self.listed_page_tools(session).into_iter();
        let page_tools = page_tools.map(|(name, _)| name);
        let has_library_tools = self.has_library_tools(session);
        let list_browser_tabs = has_library_tools.then_some(ToolName::LIST_BROWSER_TABS);
        let (before, after) = self.own_tools(session);
        before
            .copied()
            .chain(page_tools)
            .chain(list_browser_tabs)
            .chain(after.copied())
            .collect()
    }

    /// Our own tools in the session's list: those before the page tools, and those after them. Without the
    /// `list_browser_tabs` of a progressive session, which is listed together with tools of the page library.
    pub(super) fn own_tools(
        &self,
        session: SessionId,
    ) -> (
        impl Iterator<Item = &ToolName>,
        impl Iterator<Item = &ToolName>,
    ) {
        let state = self.state(session);
        let core_tools = state.map_or(&[][..], State::core_tools);
        let known = self.sessions.get(&session);
        let known = known.filter(|_| {
            let reconnecting = |state| matches!(state, State::Reconnecting { focused: true, .. });
            matches!(state, Some(State::Focused(_))) || state.is_some_and(reconnecting)
        });
        let page_actions = known.map_or(&[][..], |_| &self.focused_tools);
        let page_actions = page_actions
            .iter()
            .filter(move |tool| known.is_some_and(|known| self.lists_action(known, **tool)));
        let before = core_tools.iter().chain(self.fixed_list(session));
        (before, page_actions)
    }

    /// Whether a session lists a page action, or `more_tools`, while a tab is focused.
    fn lists_action(&self, known: &Session, tool: ToolName) -> bool {
        let config = &known.config;
        let is_listed = |tool: &ToolName| {
            self.config.page_actions.binary_search(tool).is_ok() || known.added.contains(tool)
        };
        let mut others = self.config.tab_tools.iter();
        config.page_actions
            && match tool {
                ToolName::MORE_TOOLS => {
                    others.any(|other| !is_listed(other) && !config.withheld.contains(other))
                }
                tool => is_listed(&tool) && !config.withheld.contains(&tool),
            }
    }

    /// `more_tools`: adds page actions to the session's list.
    pub(super) fn add_tools(
        &mut self,
        session: SessionId,
        category: Arc<str>,
        mut tools: Vec<ToolName>,
    ) -> Result<Reply, Refusal> {
        let known = self.sessions.get_mut(session).ok_or(Refusal::NoSession)?;
        tools.retain(|tool| !known.config.withheld.contains(tool));
        if tools.is_empty() {
            return Err(Refusal::CategoryOff { category });
        }
        known.added.extend(&tools);
        self.announce_if_changed(session);
        Ok(Reply::Added { category, tools })
    }

    /// The fixed list of a static session; empty for a progressive one.
    fn fixed_list(&self, session: SessionId) -> impl Iterator<Item = &ToolName> {
        let known = self.sessions.get(&session);
        let left_out = move |tool: &ToolName| {
            known.is_some_and(|known| {
                known.config.withheld.contains(tool) || known.not_asked_for(*tool).is_some()
            })
        };
        let hidden = match known {
            Some(known) if !known.config.page_actions => &self.config.tab_tools[..],
            _ => &[],
        };
        let fixed = match self.mode(session) {
            Some(Mode::Static) if known.is_some_and(|known| known.config.only.is_some()) => {
                self.only_tools(session).unwrap_or_default()
            }
            Some(Mode::Static) => &self.config.static_tools[..],
            Some(Mode::Progressive) | None => &[],
        };
        let is_on = move |tool| known.is_some_and(|known| known.config.switches_on(tool));
        fixed
            .iter()
            .filter(move |tool| !left_out(tool) && !hidden.contains(tool) && is_on(**tool))
    }

    pub(super) fn mode(&self, session: SessionId) -> Option<Mode> {
        Some(self.sessions.get(&session)?.config.mode)
    }

    /// The state of a progressive session; `None` for a static one.
    pub(super) fn state(&self, session: SessionId) -> Option<State> {
        let known = self.sessions.get(&session)?;
        if known.is_static() {
            return None;
        }
        let browser_binding = known.home_browser_binding()?;
        let connection = self
            .browsers
            .get(&browser_binding.browser)
            .and_then(Browser::connection);
        let has_tabs = || {
            let mut tabs = connection.into_iter().flat_map(|known| known.tabs.values());
            tabs.any(|id| {
                self.tabs
                    .get(id)
                    .is_some_and(|tab| self.is_shown(session, tab))
            })
        };
        Some(match browser_binding.focus {
            None if self.will_reconnect(session, browser_binding.browser) => State::Reconnecting {
                focused: !known.config.restored_tabs.bound.is_empty(),
                lost: browser_binding.lost_tab(),
            },
            None => State::Disconnected {
                lost: browser_binding.gone,
            },
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
        let browser_binding = self.browser_binding(session, browser);
        let is_connected = browser_binding.is_some_and(|binding| binding.focus.is_some());
        let tabs = is_connected.then(|| self.tabs_of(browser));
        let tabs = tabs.into_iter().flatten();
        tabs.filter_map(move |id| {
            let tab = self.tabs.get(&id)?;
            self.is_shown(session, tab).then_some((id, tab))
        })
    }

    /// Notifies a session now, because its own call changed its list or the tab that the list refers to. A static
    /// list changes only with the page tools and between one and several browsers.
    pub(super) fn announce(&mut self, session: SessionId) {
        self.settle(session);
        let announced = self.offer(session);
        let Some(known) = self.sessions.get_mut(session) else {
            return;
        };
        let is_news = !known.is_static() || !known.announced.has_same_content(&announced);
        known.announced = announced;
        if !is_news {
            return;
        }
        if let Some(at) = known.announce_at.take() {
            self.timers.disarm(at, Timer::Announce(session));
        }
        self.notified.insert(session);
        self.emit(Output::ToolsChanged { session });
    }

    /// Notifies a session now, if its own call changed the list.
    pub(super) fn announce_if_changed(&mut self, session: SessionId) {
        let offer = self.offer(session);
        let Some(known) = self.sessions.get_mut(session) else {
            return;
        };
        if !known.announced.has_same_content(&offer) {
            self.announce(session);
        }
    }

    /// Notifies a session of the changes collected so far, before one of its calls is answered that may have
    /// caused them.
    pub(super) fn announce_pending(&mut self, session: SessionId) {
        let known = self.sessions.get(&session);
        if known.is_some_and(|known| known.announce_at.is_some()) {
            self.announce_if_changed(session);
        }
    }

    /// Notifies a session of the changes collected for it, if its list is different in the end.
    pub(super) fn announce_gathered(&mut self, session: SessionId) {
        let gap = self.config.notice_gap;
        let offer = self.offer(session);
        let Some(known) = self.sessions.get_mut(session) else {
            return;
        };
        known.announce_at = None;
        if !known.announced.has_same_content(&offer) {
            known.notices_due = known.notices_due.max(self.now) + gap;
        }
        self.announce_if_changed(session);
        self.rest_later(session);
    }

    /// When a session may be notified of changes that it did not cause: soon, or later if it had many notices
    /// recently. One notice covers all changes until then.
    fn next_notice(&self, known: &Session, now: Time) -> Time {
        let lead = self.config.notice_gap * self.config.notice_burst;
        let due = known.notices_due.elapsed().saturating_sub(lead);
        (now + self.config.coalesce).max(Time::since_start(due))
    }

    /// Schedules a notice for every session whose list may have changed. Runs after every input, so that no
    /// change is missed.
    pub(super) fn notice_list_changes(&mut self, now: Time) {
        // Notified sessions fetch their list after this input is handled completely, so record that state.
        let notified = std::mem::take(&mut self.notified);
        for session in &notified {
            self.settle(*session);
            let offer = self.offer(*session);
            if let Some(known) = self.sessions.get_mut(*session) {
                known.announced = offer;
            }
        }
        for session in self.take_unchecked().difference(&notified) {
            self.announce_later(*session, now);
        }
        self.sessions.take_changed();
    }

    /// The sessions whose list may differ from the one that was announced. Lists of page tools are compared only
    /// when the notice is due, because they may change a thousand times per second.
    fn take_unchecked(&mut self) -> BTreeSet<SessionId> {
        let changed = self.sessions.take_changed();
        let unchecked = std::mem::take(&mut self.unchecked);
        let of_browsers = |browsers: BTreeSet<BrowserId>| {
            let browsers = browsers.into_iter();
            browsers.flat_map(|browser| self.sessions.of_browser(browser))
        };
        let own = of_browsers(unchecked.browsers).chain(changed);
        let mut sessions: BTreeSet<_> = own.filter(|id| self.is_outdated(*id)).collect();
        sessions.extend(unchecked.sessions);
        sessions.extend(of_browsers(unchecked.page_tools));
        if unchecked.everywhere {
            sessions.extend(self.sessions.keys());
        }
        sessions
    }

    fn announce_later(&mut self, session: SessionId, now: Time) {
        let known = self.sessions.get(&session);
        let Some(known) = known.filter(|known| known.announce_at.is_none()) else {
            return;
        };
        let at = self.next_notice(known, now);
        if let Some(known) = self.sessions.get_mut(session) {
            known.announce_at = Some(at);
            self.timers.arm(at, Timer::Announce(session));
        }
    }

    /// The session's list as it is now.
    pub(super) fn offer(&mut self, session: SessionId) -> Announced {
        let (page_tools, has_library_tools) = match self.only_tools(session) {
            Some(_) => (Arc::default(), false),
            None => self.shared_list(session),
        };
        let (before, after) = self.own_tools(session);
        Announced {
            tools: before.chain(after).copied().collect(),
            page_tools,
            has_library_tools,
            several: self.has_several(session),
        }
    }

    /// Whether our own tools in the session's list changed since the last notice.
    fn is_outdated(&self, session: SessionId) -> bool {
        self.sessions.get(&session).is_some_and(|known| {
            let (before, after) = self.own_tools(session);
            known.announced.several != known.has_several()
                || !before.chain(after).eq(&known.announced.tools)
        })
    }
}
