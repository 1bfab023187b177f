//! Read-only views of the core's state.

use super::Core;
use crate::session::BrowserBinding;
use crate::tab::{Tab, TabPhase};
use crate::{
    BrowserFacts, BrowserId, BrowserKey, BrowserState, Loss, RememberedTab, RestoredTabs,
    SessionId, TabId, TargetId,
};
use std::collections::BTreeSet;

/// A read-only view of a browser.
#[derive(Clone, Copy, Debug)]
pub struct BrowserView<'a> {
    /// Its number.
    pub id: BrowserId,
    /// Its key in session settings.
    pub key: &'a BrowserKey,
    /// The state of its connection.
    pub state: BrowserState,
    /// Its product and version, while it is connected.
    pub about: Option<&'a BrowserFacts>,
}

/// A read-only view of a tab.
#[derive(Clone, Copy, Debug)]
pub struct TabView<'a> {
    /// Its number.
    pub id: TabId,
    /// Its browser.
    pub browser: BrowserId,
    /// Its address.
    pub url: &'a str,
    /// Its title; empty while it has none.
    pub title: &'a str,
    /// The browser's id of it.
    pub target: &'a TargetId,
    /// A session that is bound to it.
    pub holder: Option<SessionId>,
    /// All sessions that are bound to it.
    pub bound: &'a BTreeSet<SessionId>,
    /// The session that it was opened for.
    pub owner: Option<SessionId>,
    /// Whether it is still being opened.
    pub opening: bool,
}

impl Core {
    /// All browsers that sessions use.
    pub fn browsers(&self) -> impl Iterator<Item = BrowserView<'_>> {
        self.browsers.iter().map(|(&id, browser)| BrowserView {
            id,
            key: &browser.key,
            state: browser.state(),
            about: browser.connection().map(|known| &known.about),
        })
    }

    /// All tabs of connected browsers that sessions can see.
    pub fn tabs(&self) -> impl Iterator<Item = TabView<'_>> {
        let open = |(_, tab): &(&TabId, &Tab)| tab.is_open();
        let tabs = self.tabs.iter().filter(open);
        tabs.filter_map(|(&id, tab)| view(id, tab))
    }

    /// All tabs that sessions hold, including those that are still being opened.
    pub fn held_tabs(&self) -> impl Iterator<Item = TabView<'_>> {
        self.tabs.iter().filter_map(|(&id, tab)| {
            let is_there = matches!(tab.stage, TabPhase::Opening | TabPhase::Open) && tab.is_held();
            is_there.then(|| view(id, tab)).flatten()
        })
    }

    /// The highest tab number used so far.
    pub fn tabs_counted(&self) -> u32 {
        self.tabs_counted
    }

    /// The tabs of disconnected browsers, and their numbers.
    pub fn remembered(&self) -> &[RememberedTab] {
        &self.config.remembered
    }

    /// What a session had before it lost its browser or daemon, as far as it is not restored yet.
    pub fn restored_tabs(&self, session: SessionId) -> Option<&RestoredTabs> {
        Some(&self.sessions.get(&session)?.config.restored_tabs)
    }

    /// The tab that a session worked in and lost, until the session knows about it.
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

    /// The tab that a session is bound to, in the first of its browsers where it has one.
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
