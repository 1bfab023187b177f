//! Tabs that an extension opened for agents. The daemon confirms the tabs that it knows. So only those are closed
//! that would be lost, because the worker, the socket or the daemon ended at the wrong moment.

use super::Panel;
use crate::browsers::Browsers;
use crate::extension::PeerName;
use crate::main_loop::OpenSessions;
use crate::memory::Memory;
use tabmux_core::{Core, TargetId};
use tabmux_protocol::extension::ToExtension;

impl Panel {
    /// Confirms newly opened tabs to their extension, once they are stored.
    pub(crate) fn acknowledge_opened(&mut self, core: &Core, browsers: &Browsers, memory: &Memory) {
        if self.is_empty() {
            return;
        }
        let opening = core.held_tabs().filter(|tab| tab.opening);
        let opening = opening.filter(|tab| browsers.links.of(tab.browser).is_some());
        let opening = opening.filter_map(|tab| Some((tab.browser, tab.target.0.parse().ok()?)));
        let opening = opening.collect();
        for (browser, tab_id) in self.now_opening(opening) {
            // A tab that the core does not know will be closed.
            if core.tab(browser, &target_of(tab_id)).is_none() {
                continue;
            }
            let peer = browsers.links.of(browser);
            if let Some(peer) = peer.and_then(|peer| self.peer(peer)).cloned() {
                let writing = memory.writing();
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
    pub(crate) fn tidy(
        &self,
        peer: &PeerName,
        tabs: &[u32],
        core: &Core,
        browsers: &Browsers,
        sessions: &OpenSessions,
        memory: &Memory,
    ) {
        let Some(extension) = self.peer(peer) else {
            return;
        };
        for &tab_id in tabs.iter().take(MOST_LEFT) {
            let target = target_of(tab_id);
            // A tab that was still being opened belongs to the closed connection.
            let is_held = core.held_tabs().any(|tab| {
                let is_here = browsers.links.of(tab.browser) == Some(peer);
                is_here && !tab.opening && *tab.target == target
            });
            let is_in_use = is_held || returns(&target, core, sessions, memory);
            extension.tell(match is_in_use {
                true => ToExtension::TabKnown { tab_id },
                false => ToExtension::CloseTab {
                    request_id: UNASKED,
                    tab_id,
                },
            });
        }
    }
}

/// Whether a session will have a tab again when the session or its browser reconnects.
fn returns(target: &TargetId, core: &Core, sessions: &OpenSessions, memory: &Memory) -> bool {
    let mut sessions = sessions.iter();
    sessions.any(|(session, _)| {
        let restored_tabs = core.restored_tabs(session);
        restored_tabs.is_some_and(|had| had.opened.contains(target) || had.bound.contains(target))
    }) || memory.awaits(target)
}

/// The target id of an extension's tab is its number.
pub(crate) fn target_of(tab: u32) -> TargetId {
    TargetId(tab.to_string().into())
}

/// An extension has a few such tabs at most; further ones stay open.
const MOST_LEFT: usize = 100;

/// No reply is needed.
const UNASKED: u32 = 0;
