//! Tabs that an extension opened for agents. The daemon confirms the tabs that it knows. So only those are closed
//! that would be lost, because the worker, the socket or the daemon ended at the wrong moment.

use super::MainLoop;
use super::panel_events::target_of;
use crate::extension::PeerName;
use tabmux_protocol::extension::ToExtension;

impl MainLoop {
    /// Confirms newly opened tabs to their extension, once they are stored.
    pub(super) fn acknowledge_opened(&mut self) {
        if self.panel.is_empty() {
            return;
        }
        let opening = self.core.held_tabs().filter(|tab| tab.opening);
        let opening = opening.filter(|tab| self.browsers.links.of(tab.browser).is_some());
        let opening = opening.filter_map(|tab| Some((tab.browser, tab.target.0.parse().ok()?)));
        let opening = opening.collect();
        for (browser, tab_id) in self.panel.now_opening(opening) {
            // A tab that the core does not know will be closed.
            if self.core.tab(browser, &target_of(tab_id)).is_none() {
                continue;
            }
            let peer = self.browsers.links.of(browser);
            if let Some(peer) = peer.and_then(|peer| self.panel.peer(peer)).cloned() {
                let writing = self.memory.writing();
                tokio::spawn(async move {
                    if let Some(writing) = writing {
                        writing.await;
                    }
                    // If the message is lost, the extension asks later.
                    peer.tell(ToExtension::TabKnown { tab_id });
                });
            }
        }
    }

    /// Closes tabs that an extension opened on an earlier connection, unless a session has them.
    pub(super) fn tidy(&self, peer: &PeerName, tabs: &[u32]) {
        let Some(extension) = self.panel.peer(peer) else {
            return;
        };
        for &tab_id in tabs.iter().take(MOST_LEFT) {
            extension.tell(match self.is_in_use(peer, tab_id) {
                true => ToExtension::TabKnown { tab_id },
                false => ToExtension::CloseTab {
                    request_id: UNASKED,
                    tab_id,
                },
            });
        }
    }

    /// Whether a session has a tab, or will have it again when the session or its browser reconnects.
    fn is_in_use(&self, peer: &PeerName, tab: u32) -> bool {
        let target = target_of(tab);
        let mut held = self.core.held_tabs();
        let mut sessions = self.sessions.iter();
        held.any(|tab| {
            // A tab that was still being opened belongs to the closed connection.
            let is_here = self.browsers.links.of(tab.browser) == Some(peer);
            is_here && !tab.opening && *tab.target == target
        }) || sessions.any(|(session, _)| {
            let restored_tabs = self.core.restored_tabs(session);
            restored_tabs
                .is_some_and(|had| had.opened.contains(&target) || had.bound.contains(&target))
        }) || self.memory.awaits(&target)
    }
}

/// An extension has a few such tabs at most; further ones stay open.
const MOST_LEFT: usize = 100;

/// No reply is needed.
const UNASKED: u32 = 0;
