//! The notes about sessions and their tabs, for a later daemon.

use super::OpenSessions;
use crate::browsers::Browsers;
use crate::memory::{LostNotes, Memory, Notes, TabNotes};
use crate::panel::AgentLabels;
use std::collections::HashMap;
use tabmux_core::{
    BrowserId, BrowserKey, Core, PageNumbers, RememberedTab, RestoredTabs, SessionId, TabId,
};

/// What the notes are made from.
pub(super) struct NoteSources<'a> {
    pub(super) core: &'a Core,
    pub(super) sessions: &'a OpenSessions,
    pub(super) browsers: &'a Browsers,
    pub(super) labels: &'a AgentLabels,
    pub(super) memory: &'a Memory,
}

impl NoteSources<'_> {
    /// The notes about the sessions of this daemon, for a later one.
    pub(super) fn notes(&self) -> Notes {
        let mut notes = Notes {
            tabs_counted: self.core.tabs_counted(),
            ..Notes::default()
        };
        let mut others_of = self.numbered_tabs();
        for tab in self.core.tabs() {
            let Some(browser) = self.core.browsers().find(|known| known.id == tab.browser) else {
                continue;
            };
            let launched = browser.about.is_some_and(|about| about.launched);
            let others = tab
                .bound
                .iter()
                .copied()
                .filter(|id| Some(*id) != tab.owner);
            let holders: Vec<_> = tab.owner.into_iter().chain(others).collect();
            // A tab that a session knows by its own number keeps that number, if the tab stays.
            let mut knowing = others_of.remove(&tab.id).unwrap_or_default();
            knowing.retain(|id| !launched && !holders.contains(id));
            for id in holders.into_iter().chain(knowing) {
                let Some(session) = self.sessions.get(id) else {
                    continue;
                };
                notes.about(&session.client).tabs.push(TabNotes {
                    browser: browser.key.0.to_string(),
                    target: tab.target.0.to_string(),
                    number: tab.id.0,
                    page: self.page_number(id, tab.id),
                    stays: !launched,
                    opened: tab.owner == Some(id),
                    bound: tab.bound.contains(&id),
                    extension: self.extension_of(browser.id),
                });
            }
        }
        // A restored session that has not handled its loss or its tabs yet may need them after another restart, too.
        for (id, session) in self.sessions.iter() {
            let missing = self.core.restored_tabs(id).map(|restored_tabs| {
                let away = self.away(id, restored_tabs);
                let earlier = self
                    .memory
                    .missing(&session.client, restored_tabs)
                    .into_iter();
                let is_new = |tab: &TabNotes| !away.iter().any(|it| it.target == tab.target);
                let earlier: Vec<_> = earlier.filter(is_new).collect();
                [away, earlier].concat()
            });
            let missing = missing.unwrap_or_default();
            let lost = self.core.loss(id).map(|loss| {
                let page = self.page_number(id, loss.tab.tab);
                LostNotes::from(loss).called(page)
            });
            let counted = self.core.page_numbers(id).map(PageNumbers::counted);
            let counted = counted.unwrap_or_default();
            let connected = self.core.returns_to(id).map(|key| key.0.to_string());
            let is_notable = lost.is_some() || connected.is_some() || session.follows.is_some();
            if !missing.is_empty() || is_notable || counted > 0 {
                let known = notes.about(&session.client);
                known.tabs.extend(missing);
                (known.lost, known.connected) = (lost, connected);
            }
            if let Some(known) = notes.sessions.get_mut(&session.client.session) {
                known.number = self.labels.number_of(id);
                known.pages_counted = counted;
                known.follows = session.follows;
            }
        }
        notes
    }

    /// The session's tabs in a person's browser whose extension is disconnected at the moment.
    fn away(&self, session: SessionId, restored_tabs: &RestoredTabs) -> Vec<TabNotes> {
        let notes = |tab: &RememberedTab| TabNotes {
            browser: tab.browser.0.to_string(),
            target: tab.target.0.to_string(),
            number: tab.number.0,
            page: self.page_number(session, tab.number),
            stays: true,
            opened: restored_tabs.opened.contains(&tab.target),
            bound: restored_tabs.bound.contains(&tab.target),
            extension: self.extension_of_key(&tab.browser),
        };
        let tabs = self.core.remembered().iter().map(notes);
        tabs.filter(|tab| tab.opened || tab.bound || tab.page.is_some())
            .collect()
    }

    /// The sessions that know each tab by a number of their own.
    fn numbered_tabs(&self) -> HashMap<TabId, Vec<SessionId>> {
        let mut tabs: HashMap<TabId, Vec<SessionId>> = HashMap::new();
        for (id, _) in self.sessions.iter() {
            let own = self.core.page_numbers(id).into_iter();
            for (tab, _) in own.flat_map(PageNumbers::iter) {
                tabs.entry(tab).or_default().push(id);
            }
        }
        tabs
    }

    fn page_number(&self, session: SessionId, tab: TabId) -> Option<u32> {
        self.core.page_numbers(session)?.of(tab)
    }

    fn extension_of(&self, browser: BrowserId) -> Option<String> {
        self.browsers
            .links
            .last_of(browser)
            .map(|peer| peer.0.clone())
    }

    fn extension_of_key(&self, key: &BrowserKey) -> Option<String> {
        let mut browsers = self.core.browsers();
        self.extension_of(browsers.find(|browser| browser.key == key)?.id)
    }
}
