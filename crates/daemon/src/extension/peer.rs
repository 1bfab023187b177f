//! One connected extension: its tabs, and the CDP connections that work in them.

use super::tunnel::{Deliveries, Tunnels};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tabmux_browser::ChannelTransport;
use tabmux_protocol::extension::{FromExtension, ToExtension};
use tokio::sync::{mpsc, watch};

/// The name of one installation of the extension.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PeerName(pub(crate) String);

/// What an extension says of itself when it connects.
#[derive(Debug)]
pub(crate) struct Introduction {
    pub(crate) instance: PeerName,
    pub(crate) name: Option<String>,
    pub(crate) version: Option<String>,
}

/// One connected extension.
#[derive(Debug)]
pub(crate) struct Peer {
    pub(crate) instance: PeerName,
    /// The name of its browser profile.
    pub(crate) name: Option<String>,
    /// The version of its files.
    pub(crate) version: Option<String>,
    tunnels: Mutex<Tunnels>,
    stage: watch::Sender<Phase>,
    out: mpsc::Sender<ToExtension>,
}

/// The state of a connected extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// It has not described its browser yet.
    New,
    /// It has described its browser and its tabs.
    Known,
    /// It has disconnected.
    Gone,
}

impl Peer {
    pub(crate) fn new(introduction: Introduction, out: mpsc::Sender<ToExtension>) -> Self {
        Self {
            instance: introduction.instance,
            name: introduction.name,
            version: introduction.version,
            tunnels: Mutex::default(),
            stage: watch::Sender::new(Phase::New),
            out,
        }
    }

    /// Handles a message of the extension. False if the extension asks to end the connection.
    pub(crate) async fn handle(&self, message: FromExtension) -> bool {
        let told = matches!(message, FromExtension::Connected { .. });
        let goes_on = message != FromExtension::Disconnected;
        let deliveries = self.tunnels().handle(message);
        self.deliver(deliveries).await;
        if told {
            self.stage.send_if_modified(|stage| {
                let is_new = *stage == Phase::New;
                if is_new {
                    *stage = Phase::Known;
                }
                is_new
            });
        }
        goes_on
    }

    /// Opens a connection to its browser, once that is known. `None` if the extension has disconnected: its tabs are
    /// no longer known, which must not look like a browser without tabs.
    pub(crate) async fn open(self: Arc<Self>) -> Option<ChannelTransport> {
        let mut stage = self.stage.subscribe();
        let introduced = stage.wait_for(|stage| *stage != Phase::New);
        let introduced = tokio::time::timeout(INTRODUCTION_LIMIT, introduced).await;
        drop(introduced.ok()?.ok()?);
        let (transport, mut written, feed) = ChannelTransport::new();
        let number = {
            let mut tunnels = self.tunnels();
            // Checked under the lock: `end` sets the state before it takes the lock.
            if self.is_gone() {
                return None;
            }
            tunnels.open(feed)
        };
        tokio::spawn(async move {
            while let Some(frame) = written.recv().await {
                let deliveries = self.tunnels().command(number, &frame);
                self.deliver(deliveries).await;
            }
            let deliveries = self.tunnels().close(number);
            self.deliver(deliveries).await;
        });
        Some(transport)
    }

    /// The tabs in private windows, as far as agents may see them.
    pub(crate) fn private_tabs(&self) -> Vec<u32> {
        self.tunnels().private_tabs()
    }

    /// Shows tabs of private windows to agents, or hides them.
    pub(crate) fn set_private(self: &Arc<Self>, allowed: bool) {
        if self.tunnels().has_private() == allowed {
            return;
        }
        let (peer, deliveries) = (Arc::clone(self), self.tunnels().set_private(allowed));
        tokio::spawn(async move { peer.deliver(deliveries).await });
    }

    /// Sends a message. False if the queue is full or closed.
    pub(crate) fn tell(&self, message: ToExtension) -> bool {
        self.out.try_send(message).is_ok()
    }

    /// The extension is gone: ends every connection to its browser, and refuses new ones.
    pub(crate) fn end(&self) {
        self.stage.send_replace(Phase::Gone);
        self.tunnels().end();
    }

    pub(crate) fn is_gone(&self) -> bool {
        *self.stage.borrow() == Phase::Gone
    }

    async fn deliver(&self, deliveries: Deliveries) {
        for message in deliveries.to_extension {
            let _ = self.out.send(message).await;
        }
        for (feed, frame) in deliveries.to_tunnels {
            let _ = feed.send(frame).await;
        }
    }

    fn tunnels(&self) -> MutexGuard<'_, Tunnels> {
        self.tunnels.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How long an extension may take to describe its tabs.
const INTRODUCTION_LIMIT: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use super::*;
    use tabmux_protocol::extension::BrowserInfo;

    fn peer() -> Arc<Peer> {
        let (out, _) = mpsc::channel(8);
        let introduction = Introduction {
            instance: PeerName("0123456789".into()),
            name: None,
            version: None,
        };
        Arc::new(Peer::new(introduction, out))
    }

    fn introduction() -> FromExtension {
        FromExtension::Connected {
            browser: BrowserInfo::default(),
            tabs: Vec::new(),
        }
    }

    #[tokio::test]
    async fn a_disconnected_extension_is_not_a_browser_without_tabs() {
        let there = peer();
        there.handle(introduction()).await;
        assert!(Arc::clone(&there).open().await.is_some());
        there.end();
        assert!(Arc::clone(&there).open().await.is_none());
        // A late message does not reactivate it.
        there.handle(introduction()).await;
        assert!(there.open().await.is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn waiting_for_an_introduction_ends_when_the_extension_disconnects() {
        let silent = peer();
        let begun = tokio::time::Instant::now();
        let opening = tokio::spawn(Arc::clone(&silent).open());
        tokio::task::yield_now().await;
        silent.end();
        assert!(opening.await.unwrap().is_none());
        assert_eq!(begun.elapsed(), Duration::ZERO);
    }
}
