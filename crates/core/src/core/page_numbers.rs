//! Converts between shared tab numbers and a session's own. `tab_by_ref` converts what a session sends, and
//! `in_session_numbers` what it receives.

use super::Core;
use crate::page_numbers::PageNumbers;
use crate::session::BrowserBinding;
use crate::{BrowserId, CallKind, Reply, SessionId, TabId, TabRef, TargetId};

impl Core {
    /// The tab that an agent refers to: by the session's own number, by the shared number, or by the id that its
    /// page gave it.
    pub fn tab_by_ref(&self, session: SessionId, given: &TabRef) -> Option<TabId> {
        if let Some(tab) = given.shared_number() {
            return Some(tab);
        }
        let Some(number) = given.number() else {
            return self.pages.get(given.as_page()).copied();
        };
        match self.page_numbers(session) {
            Some(own) => own.tab(number.0),
            None => Some(number),
        }
    }

    /// The session's number of a tab, assigned now if it has none. `None` while the tab is hidden from sessions.
    pub fn assigned_number(
        &mut self,
        session: SessionId,
        browser: BrowserId,
        target: &TargetId,
    ) -> Option<TabId> {
        let tab = self.tab(browser, target)?;
        Some(self.give_number(session, tab))
    }

    /// A session's own numbers, if it has them.
    pub fn page_numbers(&self, session: SessionId) -> Option<&PageNumbers> {
        self.sessions.get(&session)?.numbers.as_ref()
    }

    /// A reply with the session's own numbers.
    pub(super) fn in_session_numbers(&mut self, session: SessionId, mut reply: Reply) -> Reply {
        let known = self.sessions.get_mut(session);
        if let Some(mut own) = known.and_then(|known| known.numbers.take()) {
            let before = own.counted();
            reply.renumber(&mut own);
            self.persistence_version += u64::from(own.counted() != before);
            own.forget(|tab| self.is_forgotten(session, tab));
            if let Some(known) = self.sessions.get_mut(session) {
                known.numbers = Some(own);
            }
        }
        reply
    }

    /// The session's number of a tab, assigned now if it has none.
    pub(super) fn give_number(&mut self, session: SessionId, tab: TabId) -> TabId {
        let known = self.sessions.get_mut(session);
        let Some(own) = known.and_then(|known| known.numbers.as_mut()) else {
            return tab;
        };
        let before = own.counted();
        let number = own.number_for(tab);
        self.persistence_version += u64::from(own.counted() != before);
        number
    }

    /// If an agent names a page before it has seen a list, the numbers are those that a list would show.
    pub(super) fn number_listed_tabs(
        &mut self,
        session: SessionId,
        browser: BrowserId,
        kind: &CallKind,
    ) {
        let is_named = match kind {
            CallKind::Page { tab, .. } => tab.is_some(),
            CallKind::SelectPage { .. } | CallKind::ClosePage { .. } => true,
            _ => false,
        };
        let own = self.page_numbers(session);
        if is_named && own.is_some_and(|own| own.counted() == 0) {
            let shown: Vec<_> = self.shown(session, browser).map(|(id, _)| id).collect();
            for tab in shown {
                self.give_number(session, tab);
            }
        }
    }

    /// Whether a session will never get another reply about a tab.
    fn is_forgotten(&self, session: SessionId, tab: TabId) -> bool {
        let browser_bindings = self
            .sessions
            .get(&session)
            .map(|known| &known.browser_bindings[..]);
        let mut lost = browser_bindings
            .into_iter()
            .flatten()
            .filter_map(BrowserBinding::lost_tab);
        let mut remembered = self.config.remembered.iter();
        !self.tabs.contains_key(&tab)
            && !lost.any(|lost| lost.tab == tab)
            && !remembered.any(|known| known.number == tab)
    }
}
