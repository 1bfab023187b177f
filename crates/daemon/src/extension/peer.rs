//! One connected extension: the tabs it tells of, and the connections that work in them.

use super::tunnel::{Deliveries, Tunnels};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tabmux_browser::ChannelTransport;
use tabmux_protocol::extension::{FromExtension, ToExtension};
use tokio::sync::{mpsc, watch};

/// The name of one installation of the extension.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PeerName(pub(crate) String);

/// One connected extension.
#[derive(Debug)]
pub(crate) struct Peer {
    pub(crate) instance: PeerName,
    /// What people call its profile.
    pub(crate) name: Option<String>,
    tunnels: Mutex<Tunnels>,
    /// Whether it has told of its browser and its tabs.
    known: watch::Sender<bool>,
    out: mpsc::Sender<ToExtension>,
}

impl Peer {
    pub(crate) fn new(
        instance: PeerName,
        name: Option<String>,
        out: mpsc::Sender<ToExtension>,
    ) -> Self {
        Self {
            instance,
            name,
            tunnels: Mutex::default(),
            known: watch::Sender::new(false),
            out,
        }
    }

    /// Takes note of what the extension says. False if it wants to be left alone.
    pub(crate) async fn hear(&self, message: FromExtension) -> bool {
        let told = matches!(message, FromExtension::Connected { .. });
        let goes_on = message != FromExtension::Disconnected;
        let deliveries = self.tunnels().hear(message);
        self.deliver(deliveries).await;
        if told {
            self.known.send_replace(true);
        }
        goes_on
    }

    /// Begins a connection to its browser, once that is known.
    pub(crate) async fn open(self: Arc<Self>) -> Option<ChannelTransport> {
        let mut known = self.known.subscribe();
        let known = known.wait_for(|known| *known);
        tokio::time::timeout(INTRODUCTION_LIMIT, known)
            .await
            .ok()?
            .ok()?;
        let (transport, mut written, feed) = ChannelTransport::new();
        let number = self.tunnels().open(feed);
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

    /// The tabs that are in private windows, as far as anybody may know of them.
    pub(crate) fn private_tabs(&self) -> Vec<u32> {
        self.tunnels().private_tabs()
    }

    /// Tabs of private windows are there for agents from now on, or no longer are.
    pub(crate) fn set_private(self: &Arc<Self>, allowed: bool) {
        if self.tunnels().has_private() == allowed {
            return;
        }
        let (peer, deliveries) = (Arc::clone(self), self.tunnels().set_private(allowed));
        tokio::spawn(async move { peer.deliver(deliveries).await });
    }

    /// Says something, unless it does not listen. False then.
    pub(crate) fn tell(&self, message: ToExtension) -> bool {
        self.out.try_send(message).is_ok()
    }

    /// The extension is gone: every connection to its browser ends.
    pub(crate) fn end(&self) {
        self.tunnels().end();
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

/// How long an extension may take to tell of its tabs.
const INTRODUCTION_LIMIT: Duration = Duration::from_secs(10);
