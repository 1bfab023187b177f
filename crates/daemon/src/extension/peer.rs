//! The extensions that have proved themselves, one for each profile of each browser.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tabmux_protocol::extension::{BrowserInfo, FromExtension, ToExtension};
use tokio::sync::{mpsc, watch};

/// The name of one installation of the extension.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PeerName(pub(crate) String);

/// All extensions that are connected.
#[derive(Debug)]
pub(crate) struct Extensions {
    peers: Mutex<HashMap<PeerName, Arc<Peer>>>,
    /// How many there are.
    count: watch::Sender<usize>,
}

/// One connected extension.
#[derive(Debug)]
pub(crate) struct Peer {
    pub(crate) instance: PeerName,
    /// What people call its profile.
    pub(crate) name: Option<String>,
    /// Its browser, once it has told.
    pub(crate) browser: Mutex<BrowserInfo>,
    #[expect(dead_code, reason = "work in its tabs comes next")]
    pub(crate) out: mpsc::Sender<ToExtension>,
}

impl Peer {
    /// Takes note of what the extension says. False if it wants to be left alone.
    pub(crate) async fn hear(&self, message: FromExtension) -> bool {
        match message {
            FromExtension::Connected { browser, .. } => {
                *self.browser.lock().unwrap_or_else(PoisonError::into_inner) = browser;
                true
            }
            FromExtension::Disconnected => false,
            _ => true,
        }
    }
}

/// There is a connection of this installation already, and it stays.
#[derive(Debug)]
pub(crate) struct Busy;

impl Default for Extensions {
    fn default() -> Self {
        Self {
            peers: Mutex::default(),
            count: watch::Sender::new(0),
        }
    }
}

impl Extensions {
    /// Takes a peer in. It is there until the place is dropped.
    pub(crate) fn seat(self: &Arc<Self>, peer: Arc<Peer>) -> Result<Seat, Busy> {
        let mut peers = self.peers();
        if peers.contains_key(&peer.instance) || peers.len() >= MOST_PEERS {
            return Err(Busy);
        }
        peers.insert(peer.instance.clone(), Arc::clone(&peer));
        self.count.send_replace(peers.len());
        Ok(Seat {
            all: Arc::clone(self),
            peer,
        })
    }

    /// Whether there is one.
    pub(crate) fn is_connected(&self) -> bool {
        *self.count.borrow() > 0
    }

    /// How many there are, now and later.
    pub(crate) fn count(&self) -> watch::Receiver<usize> {
        self.count.subscribe()
    }

    fn peers(&self) -> MutexGuard<'_, HashMap<PeerName, Arc<Peer>>> {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A peer's place among all.
#[derive(Debug)]
pub(crate) struct Seat {
    all: Arc<Extensions>,
    peer: Arc<Peer>,
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut peers = self.all.peers();
        peers.remove(&self.peer.instance);
        self.all.count.send_replace(peers.len());
    }
}

/// More profiles than anybody has open.
const MOST_PEERS: usize = 32;
