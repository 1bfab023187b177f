//! The extensions that have proved themselves, one for each browser profile.

use super::peer::{Peer, PeerName};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tabmux_browser::ChannelTransport;
use tabmux_protocol::overview::ExtensionRow;
use tokio::sync::watch;
use tokio::time::Instant;

/// All extensions that are connected.
#[derive(Debug)]
pub(crate) struct Extensions {
    peers: Mutex<Peers>,
    /// The number of connected extensions.
    count: watch::Sender<usize>,
    /// Whether this user has installed the extension, so that waiting for it makes sense.
    expected: AtomicBool,
}

#[derive(Debug)]
struct Peers {
    connected: HashMap<PeerName, (u64, Arc<Peer>)>,
    arrivals: u64,
    /// The latest time at which a disconnected extension noticed it and began to reconnect.
    away_since: Instant,
}

/// This installation is already connected, and that connection stays.
#[derive(Debug)]
pub(crate) struct Busy;

impl Default for Extensions {
    fn default() -> Self {
        Self {
            peers: Mutex::new(Peers {
                connected: HashMap::new(),
                arrivals: 0,
                away_since: Instant::now(),
            }),
            count: watch::Sender::new(0),
            expected: AtomicBool::new(false),
        }
    }
}

impl Extensions {
    /// Adds a peer. It is listed until the slot is dropped.
    pub(crate) fn slot(self: &Arc<Self>, peer: Arc<Peer>) -> Result<ExtensionSlot, Busy> {
        let mut peers = self.peers();
        if peers.connected.contains_key(&peer.instance) || peers.connected.len() >= MOST_PEERS {
            return Err(Busy);
        }
        peers.arrivals += 1;
        let arrival = peers.arrivals;
        let entry = (arrival, Arc::clone(&peer));
        peers.connected.insert(peer.instance.clone(), entry);
        self.count.send_replace(peers.connected.len());
        Ok(ExtensionSlot {
            all: Arc::clone(self),
            peer,
        })
    }

    /// Whether any extension is connected.
    pub(crate) fn is_connected(&self) -> bool {
        *self.count.borrow() > 0
    }

    /// The connected extensions, for people.
    pub(crate) fn rows(&self) -> Vec<ExtensionRow> {
        let peers = self.peers();
        let rows = peers.connected.values().map(|(_, peer)| ExtensionRow {
            name: peer.name.clone(),
            version: peer.version.clone(),
        });
        let mut rows: Vec<_> = rows.collect();
        rows.sort();
        rows
    }

    /// The number of connected extensions, as a watch.
    pub(crate) fn count(&self) -> watch::Receiver<usize> {
        self.count.subscribe()
    }

    /// Notes that this user has installed the extension.
    pub(crate) fn expect(&self) {
        self.expected.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_expected(&self) -> bool {
        self.expected.load(Ordering::Relaxed)
    }

    /// A connection to the browser of that name, or to the one that connected last. Waits up to `limit` for an
    /// extension that may be reconnecting.
    pub(crate) async fn reach(
        &self,
        name: Option<&str>,
        limit: Duration,
    ) -> Option<(PeerName, ChannelTransport)> {
        self.reach_where(limit, || self.find(name)).await
    }

    /// The same for the browser of one installation.
    pub(crate) async fn reach_peer(
        &self,
        instance: &PeerName,
        limit: Duration,
    ) -> Option<ChannelTransport> {
        let connected = || {
            let peers = self.peers();
            let (_, peer) = peers.connected.get(instance)?;
            Some(Arc::clone(peer))
        };
        let reached = self.reach_where(limit, connected).await;
        reached.map(|(_, transport)| transport)
    }

    async fn reach_where(
        &self,
        limit: Duration,
        find: impl Fn() -> Option<Arc<Peer>>,
    ) -> Option<(PeerName, ChannelTransport)> {
        let end = Instant::now() + limit;
        let mut count = self.count();
        loop {
            count.mark_unchanged();
            if let Some(peer) = find() {
                let transport = Arc::clone(&peer).open().await;
                if let Some(transport) = transport {
                    return Some((peer.instance.clone(), transport));
                }
                if !peer.is_gone() {
                    return None;
                }
                // It disconnected meanwhile, and may have reconnected already.
            }
            let reconnected_by = self.peers().away_since + RECONNECT_TIME;
            let change = tokio::time::timeout_at(reconnected_by.min(end), count.changed());
            change.await.ok()?.ok()?;
        }
    }

    /// The connected extension of this name, or any if the name is `None`.
    pub(crate) fn meant_by(&self, name: Option<&str>) -> Option<PeerName> {
        self.find(name).map(|peer| peer.instance.clone())
    }

    fn find(&self, name: Option<&str>) -> Option<Arc<Peer>> {
        let peers = self.peers();
        let matching = peers.connected.values().filter(|(_, peer)| match name {
            Some(name) => peer.name.as_deref() == Some(name),
            None => true,
        });
        let latest = matching.max_by_key(|(arrival, _)| *arrival);
        latest.map(|(_, peer)| Arc::clone(peer))
    }

    fn peers(&self) -> MutexGuard<'_, Peers> {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A peer's entry in the registry.
#[derive(Debug)]
pub(crate) struct ExtensionSlot {
    all: Arc<Extensions>,
    peer: Arc<Peer>,
}

impl Drop for ExtensionSlot {
    fn drop(&mut self) {
        let mut peers = self.all.peers();
        peers.connected.remove(&self.peer.instance);
        peers.away_since = Instant::now();
        self.all.count.send_replace(peers.connected.len());
        self.peer.end();
    }
}

/// More profiles than any user has open.
const MOST_PEERS: usize = 32;

/// A disconnected extension tries to connect every 30 s.
const RECONNECT_TIME: Duration = Duration::from_secs(35);
