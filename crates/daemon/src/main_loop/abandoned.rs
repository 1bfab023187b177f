//! Closes tabs of an earlier daemon's sessions that did not reconnect.

use super::{Event, MainLoop};
use crate::extension::{Extensions, PeerName};
use crate::memory::{Abandoned, TabNotes};
use crate::options::is_endpoint;
use crate::work::discard;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tabmux_browser::{Browser, Connected, OutputRoot, Source, TabSettings};
use tabmux_core::{BrowserId, TargetId};
use tokio::sync::mpsc;

/// A browser that no session here is connected to.
#[derive(Debug, PartialEq, Eq, Hash)]
enum UnconnectedBrowser {
    /// By its address.
    At(String),
    /// A person's browser, through this installation of the extension: tabs of another installation may have the same
    /// ids.
    Through(PeerName),
}

impl UnconnectedBrowser {
    /// The address of a browser, if it can be reached without the flags of the sessions that used it.
    fn of(browser: String, peer: Option<PeerName>) -> Option<Self> {
        match peer {
            Some(peer) => Some(Self::Through(peer)),
            None => is_endpoint(&browser).then_some(Self::At(browser)),
        }
    }
}

impl MainLoop {
    pub(super) fn close_abandoned(&mut self) {
        for (place, targets) in self.close_abandoned_here() {
            let extensions = Arc::clone(&self.extensions);
            self.closing.spawn(close(place, targets, extensions));
        }
    }

    /// Closes such tabs in connected browsers. Returns those in other browsers.
    fn close_abandoned_here(&mut self) -> HashMap<UnconnectedBrowser, Vec<TargetId>> {
        let mut in_other_browsers: HashMap<UnconnectedBrowser, Vec<TargetId>> = HashMap::new();
        self.noted = None;
        let awaited = self.awaited_tabs();
        for tab in self.memory.take_abandoned() {
            let peer = tab.extension.clone().map(PeerName);
            let here = self.connection_to(&tab, peer.as_ref());
            if let Some(here) = here {
                self.close_if_free(here, tab.target);
            } else if awaited.iter().any(|awaited| tab.is(awaited)) {
                // Another session that used it has reconnected, but has not connected its browser yet.
            } else if let Some(place) = UnconnectedBrowser::of(tab.browser, peer) {
                in_other_browsers.entry(place).or_default().push(tab.target);
            } else {
                tracing::warn!("an abandoned tab stays open: its browser has no address");
            }
        }
        in_other_browsers
    }

    /// The tabs to which restored sessions were bound, and which they have not found again yet.
    fn awaited_tabs(&self) -> Vec<TabNotes> {
        let sessions = self.sessions.iter();
        let missing = sessions.filter_map(|(id, session)| {
            let restored_tabs = self.core.restored_tabs(*id)?;
            Some(self.memory.missing(&session.client, restored_tabs))
        });
        missing.flatten().filter(|tab| tab.bound).collect()
    }

    /// The connected browser with this tab, if there is one.
    fn connection_to(&self, tab: &Abandoned, peer: Option<&PeerName>) -> Option<BrowserId> {
        let mut known = self.core.browsers();
        let here = known.find(|browser| {
            let same = match peer {
                Some(peer) => self.persons.peer_of(browser.id) == Some(peer),
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

async fn close(place: UnconnectedBrowser, targets: Vec<TargetId>, extensions: Arc<Extensions>) {
    let settings = TabSettings::default();
    let connected = match place {
        UnconnectedBrowser::At(address) => {
            let source = match address.starts_with("ws") {
                true => Source::WebSocket(address, Vec::new()),
                false => Source::Url(address),
            };
            Browser::connect(&source, settings, &OutputRoot::usual()).await
        }
        UnconnectedBrowser::Through(peer) => {
            let Some(transport) = extensions.reach_peer(&peer, RECONNECT_TIME).await else {
                return;
            };
            Browser::connect_over(transport, settings).await
        }
    };
    match connected {
        Ok(connected) => close_in(connected, targets).await,
        // The browser has ended together with its tabs, or it needs headers, which are never stored.
        Err(error) => {
            let tabs = targets.len();
            tracing::warn!(%error, tabs, "abandoned tabs may stay open: their browser cannot be reached");
        }
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
            // The browser must not end with its last tab, because tabmux did not launch it.
            discard(browser.clone(), target, others == 0).await;
            others = others.max(1);
        }
        browser.shut_down().await;
    };
    tokio::join!(ignore, close);
}

/// An extension reconnects within this time if its browser is running.
const RECONNECT_TIME: Duration = Duration::from_secs(35);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::Audit;
    use crate::handle::Client;
    use crate::memory::Memory;
    use crate::options::SessionOptions;
    use crate::policy::PolicyFile;
    use crate::questions::Asking;
    use serde_json::json;
    use tabmux_core::SessionId;
    use tabmux_protocol::session as wire;
    use tabmux_protocol::wire::Resume;

    const URL: &str = "http://127.0.0.1:9222";

    #[tokio::test]
    async fn a_tab_of_a_restored_session_is_not_closed() {
        let tab = |browser: &str, target: &str, opened, bound| json!({"browser": browser, "target": target, "number": 1, "stays": true, "opened": opened, "bound": bound});
        let session = |tabs: &[serde_json::Value]| json!({"secret": "s3cret", "tabs": tabs});
        let notes = json!({"tabsCounted": 9, "sessions": {
            "sess_gone": session(&[
                tab(URL, "shared", true, true),
                tab(URL, "own", true, false),
                tab("http://127.0.0.1:9333", "shared", true, false),
                tab("launched 0123456789abcdef", "nowhere", true, false),
            ]),
            "sess_back": session(&[tab(URL, "shared", false, true)]),
        }});
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sessions.json");
        std::fs::write(&path, notes.to_string()).unwrap();
        let mut main_loop = MainLoop::new(
            mpsc::channel(8).0,
            true,
            Audit::nowhere(),
            Memory::at(path, Duration::ZERO),
            Arc::default(),
            PolicyFile::at(None),
            Asking::default(),
        );
        let resume = Resume {
            session_id: tabmux_protocol::wire::SessionId("sess_back".into()),
            secret: "s3cret".into(),
            told: false,
        };
        let mut wanted = wire::SessionOptions::default();
        let address = wire::EndpointAddress::DevTools { url: URL.into() };
        wanted.browser.choice = wire::BrowserChoice::Endpoints {
            endpoints: vec![address.into()],
        };
        let mut options = SessionOptions::from_wire(wanted).unwrap();
        options.restored_tabs = main_loop.memory.take_up(&resume).unwrap();
        let client = Client {
            session: "sess_back".into(),
            ..Client::default()
        };
        let notify = mpsc::channel(8).0;
        main_loop.open(SessionId(1), Box::new(options), client, notify);

        let in_other_browsers = main_loop.close_abandoned_here();
        let tabs = |url: &str| {
            in_other_browsers
                .get(&UnconnectedBrowser::At(url.into()))
                .cloned()
        };
        let own = |name: &str| Some(vec![TargetId(name.into())]);
        assert_eq!(tabs(URL), own("own"));
        assert_eq!(tabs("http://127.0.0.1:9333"), own("shared"));
        assert_eq!(in_other_browsers.len(), 2, "{in_other_browsers:?}");
    }
}
