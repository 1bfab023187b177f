//! Closes tabs of an earlier daemon's sessions that did not reconnect.

use super::OpenSessions;
use crate::browsers::{Browsers, UnconnectedBrowser};
use crate::extension::PeerName;
use crate::memory::{Abandoned, Memory, TabNotes};
use std::collections::HashMap;
use tabmux_core::{BrowserId, Core, TargetId};

pub(super) fn close_abandoned(
    core: &Core,
    sessions: &OpenSessions,
    browsers: &mut Browsers,
    memory: &mut Memory,
) {
    let in_other_browsers = close_connected(core, sessions, browsers, memory);
    browsers.close_unconnected(in_other_browsers);
}

/// Closes such tabs in connected browsers. Returns those in other browsers.
fn close_connected(
    core: &Core,
    sessions: &OpenSessions,
    browsers: &mut Browsers,
    memory: &mut Memory,
) -> HashMap<UnconnectedBrowser, Vec<TargetId>> {
    let mut in_other_browsers: HashMap<UnconnectedBrowser, Vec<TargetId>> = HashMap::new();
    let awaited = awaited_tabs(core, sessions, memory);
    for tab in memory.take_abandoned() {
        let peer = tab.extension.clone().map(PeerName);
        let here = connection_to(core, browsers, &tab, peer.as_ref());
        if let Some(here) = here {
            close_if_free(core, browsers, here, tab.target);
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
fn awaited_tabs(core: &Core, sessions: &OpenSessions, memory: &Memory) -> Vec<TabNotes> {
    let sessions = sessions.iter();
    let missing = sessions.filter_map(|(id, session)| {
        let restored_tabs = core.restored_tabs(id)?;
        Some(memory.missing(&session.client, restored_tabs))
    });
    missing.flatten().filter(|tab| tab.bound).collect()
}

/// The connected browser with this tab, if there is one.
fn connection_to(
    core: &Core,
    browsers: &Browsers,
    tab: &Abandoned,
    peer: Option<&PeerName>,
) -> Option<BrowserId> {
    let mut known = core.browsers();
    let here = known.find(|browser| {
        let same = match peer {
            Some(peer) => browsers.links.of(browser.id) == Some(peer),
            None => *browser.key.0 == *tab.browser,
        };
        same && browsers.get(browser.id).is_some()
    });
    here.map(|browser| browser.id)
}

fn close_if_free(core: &Core, browsers: &mut Browsers, id: BrowserId, target: TargetId) {
    let tabs = || core.tabs().filter(|tab| tab.browser == id);
    let free = tabs().any(|tab| *tab.target == target && tab.holder.or(tab.owner).is_none());
    if free {
        let last = tabs().count() == 1;
        browsers.discard(id, target, last);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::Audit;
    use crate::handle::Client;
    use crate::main_loop::{LoopFiles, MainLoop};
    use crate::options::SessionOptions;
    use crate::policy::PolicyFile;
    use crate::questions::Asking;
    use crate::state::State;
    use serde_json::json;
    use std::sync::Arc;
    use std::time::Duration;
    use tabmux_core::SessionId;
    use tabmux_protocol::session as wire;
    use tabmux_protocol::wire::Resume;
    use tokio::sync::{mpsc, watch};

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
            LoopFiles {
                audit: Audit::nowhere(),
                memory: Memory::at(path, Duration::ZERO),
                policy: PolicyFile::at(None),
            },
            Arc::default(),
            Asking::default(),
            watch::Sender::new(Arc::new(State::empty())),
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

        let in_other_browsers = close_connected(
            &main_loop.core,
            &main_loop.sessions,
            &mut main_loop.browsers,
            &mut main_loop.memory,
        );
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
