//! Which session holds which tab: the tabs that were opened for it and the one that it has focused.

use super::Core;
use crate::session::Focus;
use crate::tab::Tab;
use crate::{BrowserId, Output, SessionId, TabId, TabPolicy};

impl Core {
    /// Moves a session's focus and announces it, because the same tools now work on another tab. Does nothing if
    /// the tab is already focused.
    pub(super) fn move_focus(&mut self, session: SessionId, tab: TabId) {
        let browser = self.tabs.get(&tab).and_then(Tab::browser);
        let Some(browser_binding) =
            browser.and_then(|browser| self.browser_binding_mut(session, browser))
        else {
            return;
        };
        let before = browser_binding.focused_tab();
        if before == Some(tab) {
            return;
        }
        browser_binding.focus = Some(Focus::On(tab));
        browser_binding.given = None;
        self.give_number(session, tab);
        if let Some(before) = before {
            self.change_hold(before, |tab| {
                tab.focused_by.remove(&session);
            });
        }
        self.change_hold(tab, |tab| {
            tab.focused_by.insert(session);
        });
        self.announce(session);
    }

    /// Whether a session sees a tab: one that it holds, that no session holds, or that all holders share.
    pub(super) fn is_shown(&self, session: SessionId, tab: &Tab) -> bool {
        if !self.is_within_reach(session, tab) {
            return false;
        }
        let shares = |holder| self.tab_policy(holder) == Some(TabPolicy::Shared);
        tab.is_open() && (tab.is_held_by(session) || tab.holders().all(shares))
    }

    /// Whether a session can use a tab, as far as isolated contexts are concerned and the browsers that it is limited
    /// to.
    pub(super) fn is_within_reach(&self, session: SessionId, tab: &Tab) -> bool {
        self.sessions.get(&session).is_some_and(|known| {
            let is_own = |browser| known.browser_binding(browser).is_some();
            tab.is_within_reach(session, known.config.isolated)
                && (!known.config.only_own_browsers || tab.browser().is_some_and(is_own))
        })
    }

    /// Whether a session other than this one holds a tab.
    pub(super) fn is_shared(&self, session: SessionId, tab: TabId) -> bool {
        self.tabs
            .get(&tab)
            .is_some_and(|tab| tab.is_shared_with_others(session))
    }

    pub(super) fn tab_policy(&self, holder: SessionId) -> Option<TabPolicy> {
        Some(self.sessions.get(&holder)?.config.tab_policy)
    }

    /// Releases every tab that a session holds in a browser.
    pub(super) fn release_all(&mut self, session: SessionId, browser: BrowserId) {
        let mut held = self.tabs_of(browser);
        held.retain(|id| {
            let tab = self.tabs.get(id);
            tab.is_some_and(|tab| tab.is_held_by(session))
        });
        for tab in held {
            self.change_hold(tab, |tab| {
                tab.owner.take_if(|owner| *owner == session);
                tab.focused_by.remove(&session);
            });
        }
    }

    /// Changes the holders of a tab, and tells the driver if it became held or free.
    pub(super) fn change_hold(&mut self, id: TabId, change: impl FnOnce(&mut Tab)) {
        let Some(tab) = self.tabs.get_mut(&id) else {
            return;
        };
        let before = tab.is_held();
        change(tab);
        let after = tab.is_held();
        let home = tab.home.as_ref();
        let home = home.map(|home| (home.browser, home.target.clone()));
        // The holders decide which sessions see its tools.
        self.touch_tab(id);
        let Some((browser, target)) = home else {
            return;
        };
        match (before, after) {
            (false, true) => self.emit(Output::Hold { browser, target }),
            (true, false) => self.emit(Output::Release { browser, target }),
            (true, true) | (false, false) => {}
        }
    }
}
