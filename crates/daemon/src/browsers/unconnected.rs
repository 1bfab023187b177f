//! Closes tabs in browsers that no session is connected to.

use crate::extension::{Extensions, PeerName};
use crate::main_loop::Event;
use crate::options::is_browser;
use crate::work::discard;
use std::sync::Arc;
use std::time::Duration;
use tabmux_browser::{Browser, Connected, OutputRoot, Source, TabSettings};
use tabmux_core::TargetId;
use tokio::sync::mpsc;

/// A browser that no session here is connected to.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) enum UnconnectedBrowser {
    /// By its address.
    At(String),
    /// A person's browser, through this installation of the extension: tabs of another installation may have the same
    /// ids.
    Through(PeerName),
}

impl UnconnectedBrowser {
    /// The address of a browser, if it can be reached without the flags of the sessions that used it.
    pub(crate) fn of(browser: String, peer: Option<PeerName>) -> Option<Self> {
        match peer {
            Some(peer) => Some(Self::Through(peer)),
            None => is_browser(&browser).then_some(Self::At(browser)),
        }
    }

    /// Connects the browser, and closes these tabs if they are still there.
    pub(super) async fn close(self, targets: Vec<TargetId>, extensions: Arc<Extensions>) {
        let settings = TabSettings::default();
        let connected = match self {
            Self::At(address) => {
                let source = match address.starts_with("ws") {
                    true => Source::WebSocket(address.into()),
                    false => Source::Url(address.into()),
                };
                Browser::connect(&source, settings, &OutputRoot::usual()).await
            }
            Self::Through(peer) => {
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
