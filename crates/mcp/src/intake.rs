//! What every transport does with a message before rmcp gets it: requests take effect in the order in which they
//! came, and nothing reaches rmcp that its handshake does not accept.
//!
//! rmcp runs every request in a separate task. So a transport delivers nothing more until a request that must
//! not be overtaken has passed its turn on, or was dropped.

use crate::subscribers::Subscribers;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, GetExtensions as _, GetMeta as _,
    JsonRpcMessage, ProtocolVersion,
};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The messages of one client, on their way to rmcp.
pub(crate) struct Intake {
    subscribers: Arc<Subscribers>,
    has_begun: bool,
    turns: Arc<Semaphore>,
}

impl Intake {
    pub(crate) fn new(subscribers: Arc<Subscribers>) -> Self {
        Self {
            subscribers,
            has_begun: false,
            turns: Arc::new(Semaphore::new(1)),
        }
    }

    /// Waits until no request has the turn. Never returns `None`, since the semaphore is never closed.
    pub(crate) async fn next_turn(&self) -> Option<Turn> {
        let permit = Arc::clone(&self.turns).acquire_owned().await.ok()?;
        Some(Turn(Arc::new(Mutex::new(Some(permit)))))
    }

    /// The message for rmcp, unless it came too early.
    pub(crate) fn admit(
        &mut self,
        mut message: ClientJsonRpcMessage,
        turn: Turn,
    ) -> Option<ClientJsonRpcMessage> {
        match &mut message {
            JsonRpcMessage::Request(request) => {
                self.has_begun |= begins_session(&request.request);
                if needs_turn(&request.request) {
                    let changes_before = self.subscribers.changes();
                    request.request.extensions_mut().insert(RequestOrder {
                        turn,
                        changes_before,
                    });
                }
                Some(message)
            }
            JsonRpcMessage::Notification(_) if !self.has_begun => None,
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::InitializedNotification(_) = notification.notification {
                    self.subscribers.client_is_ready();
                }
                Some(message)
            }
            // Before the session begins we have sent no request.
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {
                Some(message).filter(|_| self.has_begun)
            }
        }
    }
}

/// Travels with a request through rmcp to its handler.
#[derive(Clone)]
pub(crate) struct RequestOrder {
    /// To be passed on as soon as the request has taken effect.
    pub(crate) turn: Turn,
    /// How often the tool list had changed before the request was read.
    pub(crate) changes_before: u64,
}

/// The right to be the next request to take effect.
#[derive(Clone)]
pub(crate) struct Turn(Arc<Mutex<Option<OwnedSemaphorePermit>>>);

impl Turn {
    pub(crate) fn pass_on(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

/// Runs a call, and passes its turn on once the backend has seen it.
pub(crate) async fn begin_in_turn<F: Future>(call: F, arrival: Option<RequestOrder>) -> F::Output {
    let mut call = pin!(call);
    poll_fn(|context| {
        let poll = call.as_mut().poll(context);
        if let Some(arrival) = &arrival {
            arrival.turn.pass_on();
        }
        poll
    })
    .await
}

/// Whether later requests must not overtake this one.
fn needs_turn(request: &ClientRequest) -> bool {
    matches!(
        request,
        ClientRequest::CallToolRequest(_)
            | ClientRequest::ReadResourceRequest(_)
            | ClientRequest::SubscriptionsListenRequest(_)
    )
}

/// Whether this request ends rmcp's handshake. Before that rmcp accepts no notification.
fn begins_session(request: &ClientRequest) -> bool {
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::DiscoverRequest(_) | ClientRequest::PingRequest(_) => false,
        _ => {
            let meta = request.get_meta();
            let newest = ProtocolVersion::V_2026_07_28;
            meta.missing_required_keys(&newest).is_empty()
                && meta
                    .protocol_version()
                    .is_some_and(|version| ProtocolVersion::KNOWN_VERSIONS.contains(&version))
        }
    }
}
