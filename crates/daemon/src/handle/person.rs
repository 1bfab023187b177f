//! How a person's extension talks to the main loop.

use super::post;
use crate::extension::{Peer, PeerName};
use crate::main_loop::{Event, PersonEvent};
use crate::panel::PersonRequest;
use crate::policy::{self, PolicyReader};
use std::sync::Arc;
use tokio::sync::mpsc;

/// One person's extension. Dropping this unregisters it.
#[derive(Debug)]
pub(crate) struct PersonHandle {
    peer: PeerName,
    policy_reader: Option<PolicyReader>,
    events: mpsc::Sender<Event>,
}

impl PersonHandle {
    pub(super) async fn arrive(
        peer: Arc<Peer>,
        policy_reader: Option<PolicyReader>,
        events: mpsc::Sender<Event>,
    ) -> Self {
        let name = peer.instance.clone();
        let arrived = PersonEvent::Arrived { peer };
        let _ = events.send(Event::Person(arrived)).await;
        Self {
            peer: name,
            policy_reader,
            events,
        }
    }

    /// Passes on a request of the person. False if the main loop has ended.
    pub(crate) async fn request(&self, request: PersonRequest) -> bool {
        policy::reread(self.policy_reader.as_ref()).await;
        let peer = self.peer.clone();
        let event = PersonEvent::Requested { peer, request };
        self.events.send(Event::Person(event)).await.is_ok()
    }
}

impl Drop for PersonHandle {
    fn drop(&mut self) {
        let peer = self.peer.clone();
        post(&self.events, Event::Person(PersonEvent::Left { peer }));
    }
}
