//! Tabs that an extension opened for agents. It hears which of them are known, so that those are closed, and only
//! those, that nobody would ever ask for: their worker, their socket or their daemon went at the wrong moment.

use super::{MainLoop, target_of};
use crate::extension::PeerName;
use std::collections::HashSet;
use tabmux_core::BrowserId;
use tabmux_protocol::extension::ToExtension;

/// Tabs that are only being opened, in browsers that are reached through an extension.
pub(super) type Opening = HashSet<(BrowserId, u32)>;

impl MainLoop {
    /// Says of tabs that have been opened that they are known, once that is written down.
    pub(in crate::main_loop) fn acknowledge_opened(&mut self) {
        if self.persons.peers.is_empty() {
            return;
        }
        let opening = self.core.held_tabs().filter(|tab| tab.opening);
        let opening = opening.filter(|tab| self.persons.ways.contains_key(&tab.browser));
        let opening: Opening = opening
            .filter_map(|tab| Some((tab.browser, tab.target.0.parse().ok()?)))
            .collect();
        let before = std::mem::replace(&mut self.persons.opening, opening);
        for (browser, tab_id) in before.difference(&self.persons.opening) {
            let way = self.persons.ways.get(browser);
            let shown = way.and_then(|way| self.persons.peers.get(way));
            // One that came to nothing is closed.
            if self.core.tab(*browser, &target_of(*tab_id)).is_none() {
                continue;
            }
            if let Some(peer) = shown.map(|shown| shown.peer.clone()) {
                let (writing, tab_id) = (self.memory.writing(), *tab_id);
                tokio::spawn(async move {
                    if let Some(writing) = writing {
                        writing.await;
                    }
                    // If it is not heard, we are asked.
                    peer.tell(ToExtension::TabKnown { tab_id });
                });
            }
        }
    }

    /// Closes tabs that an extension opened on an earlier connection, unless somebody knows them.
    pub(super) fn tidy(&self, peer: &PeerName, tabs: &[u32]) {
        let Some(shown) = self.persons.peers.get(peer) else {
            return;
        };
        for &tab_id in tabs.iter().take(MOST_LEFT) {
            shown.peer.tell(match self.is_anybodys(peer, tab_id) {
                true => ToExtension::TabKnown { tab_id },
                false => ToExtension::CloseTab {
                    request_id: UNASKED,
                    tab_id,
                },
            });
        }
    }

    /// Whether a session has a tab, or will have it again as soon as it or its browser is back.
    fn is_anybodys(&self, peer: &PeerName, tab: u32) -> bool {
        let target = target_of(tab);
        let mut held = self.core.held_tabs();
        let mut sessions = self.sessions.keys();
        held.any(|tab| {
            // One that is only being opened belongs to a connection that is over.
            let is_here = self.persons.ways.get(&tab.browser) == Some(peer);
            is_here && !tab.opening && *tab.target == target
        }) || sessions.any(|session| {
            let restored_tabs = self.core.restored_tabs(*session);
            restored_tabs
                .is_some_and(|had| had.opened.contains(&target) || had.bound.contains(&target))
        }) || self.memory.awaits(&target)
    }
}

/// An extension leaves a few at most; what is beyond stays.
const MOST_LEFT: usize = 100;

/// Nobody waits for the answer.
const UNASKED: u32 = 0;
