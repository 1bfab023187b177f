//! What the core knows, for those who only look.

use super::Core;
use crate::session::BrowserBinding;
use crate::tab::{Tab, TabPhase};
use crate::{
    BrowserFacts, BrowserId, BrowserKey, BrowserState, Loss, RememberedTab, RestoredTabs,
    SessionId, TabId, TargetId,
};
use std::collections::BTreeSet;

/// A browser as onlookers see it.
#[derive(Clone, Copy, Debug)]
pub struct BrowserView<'a> {
    /// Its number.
    pub id: BrowserId,
    /// What sessions mean it by.
    pub key: &'a BrowserKey,
    /// How far its connection is.
    pub state: BrowserState,
    /// What it is, while it is connected.
    pub about: Option<&'a BrowserFacts>,
}

/// A tab as onlookers see it.
#[derive(Clone, Copy, Debug)]
pub struct TabView<'a> {
    /// Its number.
    pub id: TabId,
    /// Where it is.
    pub browser: BrowserId,
    /// Its address.
    pub url: &'a str,
    /// Its title; empty while it has none.
    pub title: &'a str,
    /// The browser's name of it.
    pub target: &'a TargetId,
    /// A session that is bound to it.
    pub holder: Option<SessionId>,
    /// All sessions that are bound to it.
    pub bound: &'a BTreeSet<SessionId>,
    /// The session that it was opened for.
    pub owner: Option<SessionId>,
    /// Whether it is only being opened.
    pub opening: bool,
}

impl Core {
    /// All browsers that sessions mean.
    pub fn browsers(&self) -> impl Iterator<Item = BrowserView<'_>> {
        self.browsers.iter().map(|(&id, browser)| BrowserView {
            id,
            key: &browser.key,
            state: browser.state(),
            about: browser.connection().map(|known| &known.about),
        })
    }

    /// All tabs of browsers that are open to sessions.
    pub fn tabs(&self) -> impl Iterator<Item = TabView<'_>> {
        let open = |(_, tab): &(&TabId, &Tab)| tab.is_open();
        let tabs = self.tabs.iter().filter(open);
        tabs.filter_map(|(&id, tab)| view(id, tab))
    }

    /// All tabs that sessions hold, also those that are only being opened.
    pub fn held_tabs(&self) -> impl Iterator<Item = TabView<'_>> {
        self.tabs.iter().filter_map(|(&id, tab)| {
            let is_there = matches!(tab.stage, TabPhase::Opening | TabPhase::Open) && tab.is_held();
            is_there.then(|| view(id, tab)).flatten()
        })
    }

    /// How many numbers of tabs are used up.
    pub fn tabs_counted(&self) -> u32 {
        self.tabs_counted
    }

    /// The tabs of browsers that are away, and their numbers.
    pub fn remembered(&self) -> &[RememberedTab] {
        &self.config.remembered
    }

    /// What a session had before its browser or its daemon went, and has not found again.
    pub fn restored_tabs(&self, session: SessionId) -> Option<&RestoredTabs> {
        Some(&self.sessions.get(&session)?.config.restored_tabs)
    }

    /// The tab that a session worked in and that is gone, as long as it has not been told.
    pub fn loss(&self, session: SessionId) -> Option<Loss> {
        let browser_bindings = &self.sessions.get(&session)?.browser_bindings;
        browser_bindings.iter().find_map(|browser_binding| {
            let browser = self.browsers.get(&browser_binding.browser);
            Some(Loss {
                tab: browser_binding.lost_tab()?,
                browser: browser.map(|browser| browser.key.clone()),
            })
        })
    }

    /// The tab that a session is bound to, in the first of its browsers where it is bound to one.
    pub fn bound_tab(&self, session: SessionId) -> Option<TabId> {
        let browser_bindings = &self.sessions.get(&session)?.browser_bindings;
        browser_bindings
            .iter()
            .find_map(BrowserBinding::focused_tab)
    }
}

fn view(id: TabId, tab: &Tab) -> Option<TabView<'_>> {
    let home = tab.home.as_ref()?;
    Some(TabView {
        id,
        browser: home.browser,
        url: &tab.url,
        title: tab.title.as_deref().unwrap_or_default(),
        target: &home.target,
        holder: tab.focused_by.first().copied(),
        bound: &tab.focused_by,
        owner: tab.owner,
        opening: tab.stage == TabPhase::Opening,
    })
}
