//! Which people paused all agents.

use crate::extension::PeerName;
use std::collections::{HashMap, HashSet};
use tokio::time::Instant;

/// The pauses, by the extension through which they were requested.
#[derive(Debug, Default)]
pub(crate) struct Pauses {
    /// The extensions that paused all agents, and since when they are disconnected, if they are.
    paused_by: HashMap<PeerName, Option<Instant>>,
    /// The extensions that had paused agents before a person resumed them.
    resumed: HashSet<PeerName>,
}

impl Pauses {
    /// A person pauses all agents. False if this only repeats a request of an earlier connection, and the agents were
    /// resumed in another browser meanwhile.
    pub(crate) fn pause(&mut self, peer: &PeerName, again: bool) -> bool {
        if again && self.resumed.contains(peer) {
            return false;
        }
        self.resumed.remove(peer);
        self.paused_by.insert(peer.clone(), None);
        true
    }

    /// A person resumes all agents.
    pub(crate) fn resume(&mut self) {
        let paused_by = std::mem::take(&mut self.paused_by);
        self.resumed.extend(paused_by.into_keys());
    }

    /// An extension connected again.
    pub(super) fn returned(&mut self, peer: &PeerName) {
        if let Some(away) = self.paused_by.get_mut(peer) {
            *away = None;
        }
    }

    /// An extension disconnected. Returns whether it had paused the agents.
    pub(super) fn left(&mut self, peer: &PeerName, left: Instant) -> bool {
        let away = self.paused_by.get_mut(peer);
        away.map(|away| *away = Some(left)).is_some()
    }

    /// An extension has been disconnected for long, since this time. Returns whether the agents go on.
    pub(crate) fn lapse(&mut self, peer: &PeerName, left: Instant) -> bool {
        // If it reconnected and disconnected again meanwhile, the time starts again.
        if self.paused_by.get(peer) != Some(&Some(left)) {
            return false;
        }
        self.paused_by.remove(peer);
        self.paused_by.is_empty()
    }
}
