//! Between the numbers of tabs and those that a session knows them by. All that a session says comes in
//! through `tab_meant`, and all that it is told goes out through `in_session_numbers`.

use super::Core;
use crate::page_numbers::PageNumbers;
use crate::session::BrowserBinding;
use crate::{BrowserId, CallKind, Reply, SessionId, TabId, TabRef, TargetId};

impl Core {
    /// The tab that a session's agent means, wherever it is: by the session's number of it, by the number
    /// that is the same for everybody, or by the name that its page gave it.
    pub fn tab_meant(&self, session: SessionId, given: &TabRef) -> Option<TabId> {
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

    /// What a session calls a tab, which it may not have been told of before. `None` as long as the tab is
    /// shown to no session.
    pub fn number_told(
        &mut self,
        session: SessionId,
        browser: BrowserId,
        target: &TargetId,
    ) -> Option<TabId> {
        let tab = self.tab(browser, target)?;
        Some(self.give_number(session, tab))
    }

    /// The numbers of a session that has its own.
    pub fn page_numbers(&self, session: SessionId) -> Option<&PageNumbers> {
        self.sessions.get(&session)?.numbers.as_ref()
    }

    /// A reply as its session reads it.
    pub(super) fn in_session_numbers(&mut self, session: SessionId, mut reply: Reply) -> Reply {
        let known = self.sessions.get_mut(&session);
        if let Some(mut own) = known.and_then(|known| known.numbers.take()) {
            let before = own.counted();
            reply.renumber(&mut own);
            self.persistence_version += u64::from(own.counted() != before);
            own.forget(|tab| self.is_forgotten(session, tab));
            if let Some(known) = self.sessions.get_mut(&session) {
                known.numbers = Some(own);
            }
        }
        reply
    }

    /// What a session calls a tab from now on.
    pub(super) fn give_number(&mut self, session: SessionId, tab: TabId) -> TabId {
        let known = self.sessions.get_mut(&session);
        let Some(own) = known.and_then(|known| known.numbers.as_mut()) else {
            return tab;
        };
        let before = own.counted();
        let number = own.number_for(tab);
        self.persistence_version += u64::from(own.counted() != before);
        number
    }

    /// An agent that names a page before it was shown any means the list as it would be.
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

    /// Whether a session will not be told of a tab any more.
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
