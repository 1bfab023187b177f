//! Who wants to hear what the backend tells, in either era of the protocol.

use crate::progress::ProgressSink;
use crate::relisting::Relisting;
use rmcp::{Peer, RoleServer, model::RequestId as ClientRequestId, service::SubscriptionSink};
use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};
use tabmux_protocol::{Progress, RequestId};
use tokio::sync::Notify;
use tokio::time::Instant;

/// The ears of one client: the client itself once its handshake is complete (until 2025-11-25),
/// its open subscriptions (from 2026-07-28), and its calls that want progress.
#[derive(Debug, Default)]
pub(crate) struct Audience {
    // Locked for moments only, never while something is sent.
    ears: Mutex<Ears>,
    /// What the client makes of it.
    pub(crate) relisting: Relisting,
    became_ready: Notify,
    /// A call that wants progress has come.
    follows_more: Notify,
    /// Held while progress is told, lest a later value come before an earlier one.
    telling: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct Ears {
    client: Option<Peer<RoleServer>>,
    is_ready: bool,
    has_missed_a_change: bool,
    changes: u64,
    subscriptions: Vec<SubscriptionSink>,
    calls: HashMap<RequestId, ProgressSink>,
}

impl Audience {
    /// The client said `initialize`.
    pub(crate) fn shake_hands(&self, client: Peer<RoleServer>) {
        self.lock().client = Some(client);
    }

    /// The client said `notifications/initialized`: from now on it may be told things.
    pub(crate) fn client_is_ready(&self) {
        self.lock().is_ready = true;
        self.became_ready.notify_one();
    }

    /// Returns how often the tool list has changed before, or `None` if there are too many
    /// subscriptions already.
    pub(crate) fn subscribe(&self, sink: SubscriptionSink) -> Option<u64> {
        let mut ears = self.lock();
        if ears.subscriptions.len() >= MOST_SUBSCRIPTIONS {
            return None;
        }
        ears.subscriptions.push(sink);
        Some(ears.changes)
    }

    pub(crate) fn unsubscribe(&self, id: &ClientRequestId) {
        self.lock().subscriptions.retain(|sink| sink.id() != id);
    }

    /// How often the tool list has changed.
    pub(crate) fn changes(&self) -> u64 {
        self.lock().changes
    }

    /// Progress of this call is wanted from now on.
    pub(crate) fn follow(&self, call: RequestId, sink: ProgressSink) {
        self.lock().calls.insert(call, sink);
        self.follows_more.notify_one();
    }

    pub(crate) fn forget(&self, call: &RequestId) {
        self.lock().calls.remove(call);
    }

    /// Tells everybody that the tool list changed; returns when it is on its way to all of them.
    pub(crate) async fn tell_tools_changed(&self) {
        let (client, subscriptions) = {
            let mut ears = self.lock();
            ears.changes += 1;
            ears.has_missed_a_change |= ears.client.is_some() && !ears.is_ready;
            let client = ears.client.clone().filter(|_| ears.is_ready);
            (client, ears.subscriptions.clone())
        };
        if client.is_some() || !subscriptions.is_empty() {
            self.relisting.told(Instant::now());
        }
        // A failure means that this ear has gone, which somebody else will notice.
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

    /// Tells a client that has become ready what it missed before.
    pub(crate) async fn catch_up(&self) {
        let client = {
            let mut ears = self.lock();
            let missed = std::mem::take(&mut ears.has_missed_a_change);
            ears.client.clone().filter(|_| missed)
        };
        if let Some(client) = client {
            let _ = client.notify_tool_list_changed().await;
        }
    }

    /// Tells a call's progress, unless nobody wants it or it goes back.
    pub(crate) async fn tell_progress(&self, progress: Progress) {
        let _alone = self.telling.lock().await;
        let told = {
            let mut ears = self.lock();
            let sink = ears.calls.get_mut(&progress.request_id);
            sink.and_then(|sink| sink.advance(progress))
        };
        if let Some((client, params)) = told {
            let _ = client.notify_progress(params).await;
        }
    }

    /// Waits until some call has been silent for so long that its client should hear that it goes on.
    pub(crate) async fn somebody_waits(&self) {
        loop {
            let due = self.lock().calls.values().map(ProgressSink::due).min();
            match due {
                None => self.follows_more.notified().await,
                Some(due) => tokio::select! {
                    () = tokio::time::sleep_until(due) => return,
                    () = self.follows_more.notified() => {}
                },
            }
        }
    }

    /// Tells those whose calls have been silent that they go on.
    pub(crate) async fn tell_who_waits(&self) {
        let _alone = self.telling.lock().await;
        let now = Instant::now();
        let told: Vec<_> = {
            let mut ears = self.lock();
            let due = ears.calls.values_mut().filter(|sink| sink.due() <= now);
            due.map(|sink| sink.go_on(now)).collect()
        };
        for (client, params) in told {
            let _ = client.notify_progress(params).await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Ears> {
        self.ears.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const MOST_SUBSCRIPTIONS: usize = 64;
