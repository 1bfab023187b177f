//! Through which extension each browser is connected.

use crate::extension::PeerName;
use std::collections::{HashMap, HashSet};
use tabmux_core::BrowserId;

/// The extensions of browsers.
#[derive(Debug, Default)]
pub(crate) struct ExtensionLinks {
    /// Of browsers that are connected through one.
    now: HashMap<BrowserId, PeerName>,
    /// The last one of each browser, also of disconnected ones.
    last: HashMap<BrowserId, PeerName>,
    /// Browsers whose extension reconnected before its disconnection was noticed.
    reconnected_early: HashSet<BrowserId>,
}

impl ExtensionLinks {
    pub(crate) fn of(&self, browser: BrowserId) -> Option<&PeerName> {
        self.now.get(&browser)
    }

    /// The same, also for a disconnected browser.
    pub(crate) fn last_of(&self, browser: BrowserId) -> Option<&PeerName> {
        self.last.get(&browser)
    }

    /// The browsers that are connected through an extension.
    pub(crate) fn browsers_of(&self, peer: &PeerName) -> Vec<BrowserId> {
        let here = self.now.iter().filter(|(_, its_peer)| *its_peer == peer);
        here.map(|(browser, _)| *browser).collect()
    }

    /// An extension connected. Browsers that still seem to be connected through it will be reported gone.
    pub(crate) fn reconnected(&mut self, peer: &PeerName) {
        let before = self.browsers_of(peer);
        self.reconnected_early.extend(before);
    }

    /// A browser is connected, through this extension if any, or disconnected.
    pub(super) fn set(&mut self, browser: BrowserId, peer: Option<PeerName>) {
        match peer {
            Some(peer) => {
                self.last.insert(browser, peer.clone());
                self.now.insert(browser, peer)
            }
            None => self.now.remove(&browser),
        };
    }

    /// Whether the extension of a browser that is reported gone had reconnected before that.
    pub(super) fn take_reconnected_early(&mut self, browser: BrowserId) -> bool {
        self.reconnected_early.remove(&browser)
    }

    /// Forgets browsers that no longer exist.
    pub(super) fn keep_only(&mut self, known: &HashSet<BrowserId>) {
        self.last.retain(|browser, _| known.contains(browser));
    }
}
