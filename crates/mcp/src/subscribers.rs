//! Which notifications a client wants, in either era of the protocol.

use crate::progress::ProgressSink;
use crate::relisting::Relisting;
use rmcp::{
    Peer, RoleServer,
    model::{RequestId as ClientRequestId, ResourceUpdatedNotificationParam},
    service::SubscriptionSink,
};
use std::{
    collections::{BTreeSet, HashMap},
    sync::{Mutex, MutexGuard, PoisonError},
};
use tabmux_protocol::limits::MOST_WATCHED;
use tabmux_protocol::{Progress, RequestId};
use tokio::sync::Notify;
use tokio::time::Instant;

/// The subscribers of one client: the client itself once its handshake is complete (until 2025-11-25),
/// its open subscriptions (from 2026-07-28), and its calls that want progress.
#[derive(Debug, Default)]
pub(crate) struct Subscribers {
    // Locked briefly, never while something is sent.
    state: Mutex<State>,
    /// Whether the client reacts to changes of its list.
    pub(crate) relisting: Relisting,
    became_ready: Notify,
    /// Notified when a call that wants progress has come.
    new_call: Notify,
    /// Held while progress is sent, so that values arrive in order.
    sending: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct State {
    client: Option<Peer<RoleServer>>,
    is_ready: bool,
    has_missed_a_change: bool,
    changes: u64,
    subscriptions: Vec<SubscriptionSink>,
    /// The resources that the client watches, until 2025-11-25.
    watched: BTreeSet<String>,
    calls: HashMap<RequestId, ProgressSink>,
}

/// Why a client cannot have another subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TooMany {
    /// It has too many.
    Subscriptions,
    /// It would watch too many resources.
    Resources,
}

impl Subscribers {
    /// The client sent `initialize`.
    pub(crate) fn set_client(&self, client: Peer<RoleServer>) {
        self.lock().client = Some(client);
    }

    /// The client sent `notifications/initialized`: from now on it may get notifications.
    pub(crate) fn client_is_ready(&self) {
        self.lock().is_ready = true;
        self.became_ready.notify_one();
    }

    /// Returns how often the tool list has changed before.
    pub(crate) fn subscribe(&self, sink: SubscriptionSink) -> Result<u64, TooMany> {
        let mut state = self.lock();
        if state.subscriptions.len() >= MOST_SUBSCRIPTIONS {
            return Err(TooMany::Subscriptions);
        }
        if let Some(more) = &sink.accepted().resource_subscriptions {
            let mut watched = state.all_watched();
            watched.extend(more.iter().map(String::as_str));
            if watched.len() > MOST_WATCHED {
                return Err(TooMany::Resources);
            }
        }
        state.subscriptions.push(sink);
        Ok(state.changes)
    }

    pub(crate) fn unsubscribe(&self, id: &ClientRequestId) {
        self.lock().subscriptions.retain(|sink| sink.id() != id);
    }

    /// The client watches a resource from now on. False if it watches too many.
    pub(crate) fn watch(&self, uri: String) -> bool {
        let mut state = self.lock();
        let watched = state.all_watched();
        let has_room = watched.len() < MOST_WATCHED || watched.contains(&*uri);
        if has_room {
            state.watched.insert(uri);
        }
        has_room
    }

    pub(crate) fn unwatch(&self, uri: &str) {
        self.lock().watched.remove(uri);
    }

    /// All resources that the client watches.
    pub(crate) fn watched(&self) -> Vec<String> {
        let state = self.lock();
        state.all_watched().into_iter().map(str::to_owned).collect()
    }

    /// Tells all subscribers that a resource changed.
    pub(crate) async fn notify_resource_changed(&self, uri: &str) {
        let (client, subscriptions) = {
            let state = self.lock();
            let is_watched = state.is_ready && state.watched.contains(uri);
            let client = state.client.clone().filter(|_| is_watched);
            (client, state.subscriptions.clone())
        };
        if let Some(client) = client {
            let params = ResourceUpdatedNotificationParam::new(uri);
            let _ = client.notify_resource_updated(params).await;
        }
        for sink in subscriptions {
            // Sinks refuse what was not subscribed to.
            let _ = sink.notify_resource_updated(uri).await;
        }
    }

    /// How often the tool list has changed.
    pub(crate) fn changes(&self) -> u64 {
        self.lock().changes
    }

    /// From now on the client wants progress of this call.
    pub(crate) fn follow(&self, call: RequestId, sink: ProgressSink) {
        self.lock().calls.insert(call, sink);
        self.new_call.notify_one();
    }

    pub(crate) fn forget(&self, call: &RequestId) {
        self.lock().calls.remove(call);
    }

    /// Notifies all subscribers that the tool list changed; returns when all notifications are sent.
    pub(crate) async fn notify_tools_changed(&self) {
        let (client, subscriptions) = {
            let mut state = self.lock();
            state.changes += 1;
            state.has_missed_a_change |= state.client.is_some() && !state.is_ready;
            let client = state.client.clone().filter(|_| state.is_ready);
            (client, state.subscriptions.clone())
        };
        if client.is_some() || !subscriptions.is_empty() {
            self.relisting.notified(Instant::now());
        }
        // A failure means that the connection is closed, which the transport handles.
        if let Some(client) = client {
            let _ = client.notify_tool_list_changed().await;
        }
        for sink in subscriptions {
            let _ = sink.notify_tool_list_changed().await;
        }
    }

    /// Waits until the client becomes ready.
    pub(crate) async fn becomes_ready(&self) {
        self.became_ready.notified().await;
    }

    /// Notifies a client that has become ready of a change that it missed before.
    pub(crate) async fn catch_up(&self) {
        let client = {
            let mut state = self.lock();
            let missed = std::mem::take(&mut state.has_missed_a_change);
            state.client.clone().filter(|_| missed)
        };
        if let Some(client) = client {
            let _ = client.notify_tool_list_changed().await;
        }
    }

    /// Sends the progress of a call, unless the client did not ask for it or the value does not rise.
    pub(crate) async fn notify_progress(&self, progress: Progress) {
        let _guard = self.sending.lock().await;
        let notification = {
            let mut state = self.lock();
            let sink = state.calls.get_mut(&progress.request_id);
            sink.and_then(|sink| sink.advance(progress))
        };
        if let Some((client, params)) = notification {
            let _ = client.notify_progress(params).await;
        }
    }

    /// Waits until some call has sent no progress for so long that it is time for a heartbeat.
    pub(crate) async fn until_heartbeat_due(&self) {
        loop {
            let due = self.lock().calls.values().map(ProgressSink::due).min();
            match due {
                None => self.new_call.notified().await,
                Some(due) => tokio::select! {
                    () = tokio::time::sleep_until(due) => return,
                    () = self.new_call.notified() => {}
                },
            }
        }
    }

    /// Sends a heartbeat for each call that has sent no progress for too long.
    pub(crate) async fn send_heartbeats(&self) {
        let _guard = self.sending.lock().await;
        let now = Instant::now();
        let notifications: Vec<_> = {
            let mut state = self.lock();
            let due = state.calls.values_mut().filter(|sink| sink.due() <= now);
            due.map(|sink| sink.heartbeat(now)).collect()
        };
        for (client, params) in notifications {
            let _ = client.notify_progress(params).await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// What the client watches, in all its subscriptions.
    fn all_watched(&self) -> BTreeSet<&str> {
        let of_sinks = self.subscriptions.iter();
        let of_sinks = of_sinks.filter_map(|sink| sink.accepted().resource_subscriptions.as_ref());
        let watched = self.watched.iter().chain(of_sinks.flatten());
        watched.map(String::as_str).collect()
    }
}

const MOST_SUBSCRIPTIONS: usize = 64;
