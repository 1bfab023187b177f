//! Tabs that sessions of an earlier daemon opened and nobody came back for are closed.

use super::{Event, MainLoop};
use crate::extension::{Extensions, PeerName};
use crate::memory::Abandoned;
use crate::work::discard;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tabmux_browser::{Browser, Connected, Source, TabSettings};
use tabmux_core::{BrowserId, TargetId};
use tokio::sync::mpsc;

/// A browser that nobody here is connected to.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Elsewhere {
    /// By its address.
    At(String),
    /// A person's, through this installation of the extension: another one's tabs may have the same names.
    Through(PeerName),
}

impl MainLoop {
    pub(super) fn close_abandoned(&mut self) {
        let mut elsewhere: HashMap<Elsewhere, Vec<TargetId>> = HashMap::new();
        self.noted = None;
        for tab in self.memory.take_abandoned() {
            let peer = tab.extension.clone().map(PeerName);
            match (self.connection_to(&tab, peer.as_ref()), peer) {
                (Some(here), _) => self.close_if_free(here, tab.target),
                (None, Some(peer)) => {
                    let tabs = elsewhere.entry(Elsewhere::Through(peer)).or_default();
                    tabs.push(tab.target);
                }
                (None, None) => {
                    let tabs = elsewhere.entry(Elsewhere::At(tab.browser)).or_default();
                    tabs.push(tab.target);
                }
            }
        }
        for (place, targets) in elsewhere {
            let extensions = Arc::clone(&self.extensions);
            self.closing.spawn(close(place, targets, extensions));
        }
    }

    /// The browser with this tab, if somebody here is connected to it.
    fn connection_to(&self, tab: &Abandoned, peer: Option<&PeerName>) -> Option<BrowserId> {
        let mut known = self.core.browsers();
        let here = known.find(|browser| {
            let same = match peer {
                Some(peer) => self.persons.way_to(browser.id) == Some(peer),
                None => *browser.key.0 == *tab.browser,
            };
            same && self.browsers.contains_key(&browser.id)
        });
        here.map(|browser| browser.id)
    }

    fn close_if_free(&self, id: BrowserId, target: TargetId) {
        let tabs = || self.core.tabs().filter(|tab| tab.browser == id);
        let free = tabs().any(|tab| *tab.target == target && tab.holder.or(tab.owner).is_none());
        if let (true, Some(browser)) = (free, self.browsers.get(&id)) {
            let last = tabs().count() == 1;
            self.closing.spawn(discard(browser.clone(), target, last));
        }
    }
}

async fn close(place: Elsewhere, targets: Vec<TargetId>, extensions: Arc<Extensions>) {
    let settings = TabSettings::default();
    let connected = match place {
        Elsewhere::At(address) => {
            let source = match address.starts_with("ws") {
                true => Source::WebSocket(address, Vec::new()),
                false => Source::Url(address),
            };
            Browser::connect(&source, settings).await
        }
        Elsewhere::Through(peer) => {
            let Some(transport) = extensions.reach_peer(&peer, PATIENCE).await else {
                return;
            };
            Browser::connect_over(transport, settings).await
        }
    };
    // Otherwise it has ended, and its tabs with it.
    if let Ok(connected) = connected {
        close_in(connected, targets).await;
    }
}

async fn close_in(connected: Connected, targets: Vec<TargetId>) {
    let is_left = |target: &&TargetId| {
        let mut tabs = connected.info.tabs.iter();
        tabs.any(|tab| tab.target.as_str() == &*target.0)
    };
    let left: Vec<_> = targets.iter().filter(is_left).cloned().collect();
    let mut others = connected.info.tabs.len() - left.len();
    let (report, mut events) = mpsc::channel::<Event>(64);
    let browser = connected.follow(0, report);
    let ignore = async { while events.recv().await.is_some() {} };
    let close = async {
        for target in left {
            // A browser must not end with its last tab: it is not ours.
            discard(browser.clone(), target, others == 0).await;
            others = others.max(1);
        }
        browser.shut_down().await;
    };
    tokio::join!(ignore, close);
}

/// An extension comes by itself within this time if its browser runs.
const PATIENCE: Duration = Duration::from_secs(35);
