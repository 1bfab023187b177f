//! Tabs of browsers: they appear, change and go.

use super::Core;
use crate::browser::{Browser, Connection, Link};
use crate::call::Task;
use crate::offer::Source;
use crate::session::Focus;
use crate::tab::{Tab, TabPhase};
use crate::{
    BrowserId, CallId, Fate, LostTab, Mode, OnEnd, Output, Refusal, RememberedTab, Reply,
    SessionId, TabFacts, TabId, TabName, TabOpener, TargetId,
};

impl Core {
    pub(super) fn tab_appeared(&mut self, browser: BrowserId, facts: TabFacts, origin: TabOpener) {
        if self.tab_of(browser, &facts.target).is_some() {
            return self.tab_changed(browser, facts);
        }
        let (stage, owner) = self.place(browser, &facts, &origin);
        let id = self.remembered_number(browser, &facts.target);
        let id = id.unwrap_or(TabId(self.tabs_counted + 1));
        let Some(connection) = self.connection_mut(browser) else {
            return;
        };
        connection.tabs.insert(facts.target.clone(), id);
        self.tabs_counted = self.tabs_counted.max(id.0);
        let tab = Tab::new(browser, facts, stage, self.now);
        match self.tabs.get_mut(&id) {
            Some(known) => known.restore_to_browser(tab),
            None => drop(self.tabs.insert(id, tab)),
        }
        match (stage, origin) {
            (TabPhase::Opening, TabOpener::Call(call)) => self.give_tab(call, id),
            (TabPhase::Discarded, _) => self.ask_to_discard(id),
            _ => {}
        }
        self.change_hold(id, |tab| tab.owner = owner);
    }

    /// The number that a tab had under an earlier daemon, or before the connection to its browser was lost. A tab
    /// with the page library is still in the table, without a browser.
    fn remembered_number(&mut self, browser: BrowserId, target: &TargetId) -> Option<TabId> {
        let key = &self.browsers.get(&browser)?.key;
        let remembered = &mut self.config.remembered;
        let is_it = |tab: &RememberedTab| tab.browser == *key && tab.target == *target;
        let place = remembered.iter().position(is_it)?;
        let number = remembered.swap_remove(place).number;
        let known = self.tabs.get(&number);
        known.is_none_or(|tab| tab.home.is_none()).then_some(number)
    }

    pub(super) fn tab_changed(&mut self, browser: BrowserId, facts: TabFacts) {
        let id = self.tab_of(browser, &facts.target);
        if let Some((id, tab)) = id.and_then(|id| Some((id, self.tabs.get_mut(&id)?))) {
            let was_open = tab.is_open();
            let moved = tab.url != facts.url;
            tab.change(facts);
            let appeared = was_open != tab.is_open();
            let tab = self.tabs.get(&id);
            if appeared || moved && tab.is_some_and(|tab| self.is_filtered(tab)) {
                self.touch_tab(id);
            }
        }
    }

    pub(super) fn tab_gone(&mut self, browser: BrowserId, target: &TargetId, crashed: bool) {
        let Some(id) = self.tab_of(browser, target) else {
            return;
        };
        let fate = if crashed { Fate::Crashed } else { Fate::Closed };
        if crashed && self.is_ours(id) {
            // A crashed tab stays in the browser's tab strip, but no session can name it any more.
            self.ask_to_discard(id);
        }
        self.remove_tab(LostTab { tab: id, fate });
    }

    /// Removes a tab from all tables and answers the calls on it: calls that close it succeed, all others fail.
    pub(super) fn remove_tab(&mut self, lost: LostTab) {
        let Some(tab) = self.take_tab(lost.tab) else {
            return;
        };
        let name = tab.name(lost.tab);
        if let Some(home) = &tab.home
            && let Some(connection) = self.connection_mut(home.browser)
        {
            connection.tabs.remove(&home.target);
        }
        let closing = self.calls_in(lost.tab, |call| call.task().closes(lost.tab));
        let closers = self.sessions_of(&closing);
        let told = self.sessions_of(&self.calls_in(lost.tab, |_| true));
        for id in &tab.focused_by {
            if let Some(session) = self.sessions.get_mut(*id) {
                let aware = match session.config.mode {
                    Mode::Progressive => closers.contains(id),
                    Mode::Static => told.contains(id),
                };
                let focus = Some(match aware {
                    true => Focus::Nothing,
                    false => Focus::Lost(lost),
                });
                if let Some(browser_binding) = tab
                    .browser()
                    .and_then(|home| session.browser_binding_mut(home))
                {
                    browser_binding.focus = focus;
                }
            }
        }
        for session in closers {
            self.announce_if_changed(session);
        }
        for call in closing {
            let session = self.calls.get(&call).map(|call| call.session);
            let shared = session.is_some_and(|session| tab.is_shared_with_others(session));
            let tab = lost.tab;
            self.answer(call, Reply::Closed { tab, shared });
        }
        let others = self.calls_in(lost.tab, |_| true);
        self.end_all(others, |core, call| {
            core.lose_call(call, lost, &name, tab.stage);
        });
    }

    /// Ends a call whose tab is gone.
    fn lose_call(&mut self, call: CallId, lost: LostTab, name: &TabName, stage: TabPhase) {
        if self.is_page_tool(call) {
            return self.fail_page_tool(call, name);
        }
        self.fail(call, |tool, mode| match stage {
            TabPhase::Opening | TabPhase::Discarded => Refusal::NotOpened { tool },
            TabPhase::Unused | TabPhase::Open => Refusal::TabLost { tool, lost, mode },
        });
    }

    /// A browser is no longer connected. Its tabs are removed, except those that the page library still reaches.
    pub(super) fn disconnect(&mut self, browser: BrowserId) {
        for id in self.tabs_of(browser) {
            match self.tabs.get(&id) {
                Some(tab) if tab.library.is_some() => self.keep_page(id),
                _ => drop(self.take_tab(id)),
            }
        }
        if let Some(browser) = self.browsers.get_mut(&browser) {
            browser.link = Link::Disconnected;
        }
        self.unchecked.browsers.insert(browser);
        self.unchecked.page_tools.insert(browser);
    }

    /// The browser of a page with the library is gone. No session holds the page any more, so all see its tools.
    fn keep_page(&mut self, id: TabId) {
        self.drop_offers(id, |source, _| source != Source::Library);
        if let Some(tab) = self.tabs.get_mut(&id) {
            (tab.home, tab.owner, tab.context) = (None, None, None);
            if let Some(library) = &mut tab.library {
                library.found_in = None;
            }
            tab.focused_by.clear();
            tab.stage = TabPhase::Open;
        }
        self.touch_tab(id);
    }

    /// Removes a tab, its tools and its page from the tables.
    fn take_tab(&mut self, id: TabId) -> Option<Tab> {
        self.drop_offers(id, |_, _| true);
        let tab = self.tabs.remove(&id)?;
        self.unchecked.browsers.extend(tab.browser());
        self.persistence_version += 1;
        if let Some(library) = &tab.library {
            self.forget_page(library);
        }
        self.active.take_if(|active| *active == id);
        Some(tab)
    }

    /// Closes the tabs that a session created in a browser, except those that another session is bound to.
    pub(super) fn discard_all(&mut self, session: SessionId, browser: BrowserId) {
        let mut unneeded = self.tabs_of(browser);
        unneeded.retain(|id| {
            self.tabs.get(id).is_some_and(|tab| {
                tab.stage == TabPhase::Open
                    && tab.owner == Some(session)
                    && tab.focused_by.iter().all(|bound| *bound == session)
            })
        });
        for id in unneeded {
            let mut name = id.into();
            if let Some(tab) = self.tabs.get_mut(&id) {
                tab.stage = TabPhase::Discarded;
                tab.owner = None;
                tab.focused_by.clear();
                name = tab.name(id);
                self.ask_to_discard(id);
            }
            self.touch_tab(id);
            let fate = Fate::Closed;
            let lost = LostTab { tab: id, fate };
            let others = self.calls_in(id, |call| !call.task().closes(id));
            self.end_all(others, |core, call| {
                core.lose_call(call, lost, &name, TabPhase::Open);
            });
        }
    }

    /// Closes a tab whose call failed while opening it.
    pub(super) fn discard(&mut self, id: TabId) {
        if let Some(tab) = self.tabs.get_mut(&id)
            && tab.stage == TabPhase::Opening
        {
            tab.stage = TabPhase::Discarded;
            tab.owner = None;
            self.ask_to_discard(id);
        }
    }

    /// Whether tabmux may close a tab: it was opened for a call that has not finished, or by a session whose tabs
    /// are closed at its end.
    fn is_ours(&self, id: TabId) -> bool {
        let Some(tab) = self.tabs.get(&id) else {
            return false;
        };
        let creator = tab.owner.and_then(|owner| self.sessions.get(&owner));
        tab.stage == TabPhase::Opening
            || creator.is_some_and(|creator| creator.config.on_end == OnEnd::Close)
    }

    /// Whether this is the last tab of its browser. Tabs that are being closed do not count.
    pub(super) fn is_last(&self, id: TabId) -> bool {
        let browser = self.tabs.get(&id).and_then(Tab::browser);
        let tabs = browser.map_or(Vec::new(), |browser| self.tabs_of(browser));
        let mut others = tabs.into_iter().filter(|other| *other != id);
        !others.any(|other| {
            let tab = self.tabs.get(&other);
            tab.is_some_and(|tab| tab.stage != TabPhase::Discarded) && !self.is_closing(other)
        })
    }

    /// Whether some call is closing this tab.
    pub(super) fn is_closing(&self, id: TabId) -> bool {
        let mut calls = self.calls.of_tab(id);
        calls.any(|(_, call)| call.task().closes(id))
    }

    /// All tabs of a browser, oldest first.
    pub(super) fn tabs_of(&self, browser: BrowserId) -> Vec<TabId> {
        let browser = self.browsers.get(&browser);
        let connection = browser.and_then(Browser::connection);
        let mut tabs: Vec<_> = connection.map_or(Vec::new(), Connection::tabs);
        tabs.sort_unstable();
        tabs
    }

    pub(super) fn tab_of(&self, browser: BrowserId, target: &TargetId) -> Option<TabId> {
        let connection = self.browsers.get(&browser)?.connection()?;
        connection.tabs.get(target).copied()
    }

    /// The phase and the owner of a new tab.
    fn place(
        &self,
        browser: BrowserId,
        facts: &TabFacts,
        origin: &TabOpener,
    ) -> (TabPhase, Option<SessionId>) {
        match origin {
            TabOpener::Browser if facts.blank && self.is_launched(browser) => {
                (TabPhase::Unused, None)
            }
            TabOpener::Browser => (TabPhase::Open, None),
            TabOpener::Popup { opener } => {
                let opener = self.tab_of(browser, opener);
                let popup_owner = opener.and_then(|id| self.tabs.get(&id)?.popup_owner());
                (TabPhase::Open, popup_owner)
            }
            TabOpener::Call(call) => match self.session_opening(browser, *call) {
                Some(session) => (TabPhase::Opening, Some(session)),
                None => (TabPhase::Discarded, None),
            },
            TabOpener::Spare => (TabPhase::Unused, None),
        }
    }

    /// The session whose call waits for its tab.
    fn session_opening(&self, browser: BrowserId, call: CallId) -> Option<SessionId> {
        let call = self.calls.get(&call)?;
        (call.wants_tab() && call.browser() == Some(browser)).then_some(call.session)
    }

    pub(super) fn is_launched(&self, browser: BrowserId) -> bool {
        self.about(browser).is_some_and(|about| about.launched)
    }

    pub(super) fn connection_mut(&mut self, browser: BrowserId) -> Option<&mut Connection> {
        self.browsers.get_mut(&browser)?.connection_mut()
    }

    fn give_tab(&mut self, call: CallId, id: TabId) {
        self.calls.change_task(call, |task| {
            if let Task::Open { tab, .. } | Task::FindTab { tab, .. } = task {
                *tab = Some(id);
            }
        });
    }

    fn ask_to_discard(&mut self, id: TabId) {
        let last = self.is_last(id);
        if let Some(home) = self.tabs.get(&id).and_then(|tab| tab.home.as_ref()) {
            let (browser, target) = (home.browser, home.target.clone());
            self.emit(Output::Discard {
                browser,
                target,
                last,
            });
        }
    }
}
