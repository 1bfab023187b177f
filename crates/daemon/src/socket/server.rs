//! Serves all connections of the daemon's socket, until it is stopped or idle.

use super::connection;
use super::listen::{Held, Listening};
use super::named::Named;
use crate::handle::Hub;
use crate::pending_slots::PendingSlots;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How long the daemon runs.
#[derive(Clone, Copy, Debug)]
pub struct ServeOptions {
    /// The daemon ends after this long without a session; never, if `None`.
    pub idle: Option<Duration>,
}

/// State that all connections of a daemon share.
pub(super) struct Shared {
    pub(super) hub: Arc<Hub>,
    /// The number of open sessions.
    pub(super) sessions: watch::Sender<usize>,
    pub(super) named: Named,
    /// Slots for connections that have registered.
    pub(super) registered: Arc<Semaphore>,
    pub(super) stop: CancellationToken,
}

/// Serves until `stop`, or until the daemon was idle for a while. The returned lock keeps the next daemon waiting
/// while the rest shuts down.
pub async fn serve(
    listening: Listening,
    hub: Arc<Hub>,
    options: ServeOptions,
    stop: CancellationToken,
) -> Held {
    let shared = Arc::new(Shared {
        hub,
        sessions: watch::Sender::new(0),
        named: Named::default(),
        registered: Arc::new(Semaphore::new(MOST_REGISTERED)),
        stop: stop.clone(),
    });
    let unregistered = PendingSlots::new(MOST_UNREGISTERED);
    let connections = TaskTracker::new();
    let idle = unneeded(
        shared.sessions.subscribe(),
        [shared.hub.pages.subscribe(), shared.hub.extensions.count()],
        options.idle,
    );
    tokio::pin!(idle);
    loop {
        let stream = tokio::select! {
            stream = listening.accept() => stream,
            () = stop.cancelled() => break,
            () = &mut idle => {
                tracing::info!("the daemon is idle, so it ends");
                break;
            }
        };
        let stream = match stream {
            Ok(stream) => stream,
            Err(error) => {
                // Probably out of file descriptors. Existing connections are not affected.
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let pending = tokio::select! {
            pending = unregistered.enter() => pending,
            () = stop.cancelled() => break,
        };
        let Some(pending) = pending else {
            break;
        };
        connections.spawn(connection::serve(stream, pending, Arc::clone(&shared)));
    }
    let held = listening.close();
    stop.cancel();
    connections.close();
    let _ = tokio::time::timeout(FLUSH_LIMIT, connections.wait()).await;
    held
}

/// Resolves when there has been no session, page worker or extension for `limit`.
async fn unneeded(
    sessions: watch::Receiver<usize>,
    [mut pages, mut extensions]: [watch::Receiver<usize>; 2],
    limit: Option<Duration>,
) {
    loop {
        for count in [&mut pages, &mut extensions] {
            if count.wait_for(|open| *open == 0).await.is_err() {
                return;
            }
        }
        tokio::select! {
            () = idle(sessions.clone(), limit) => return,
            _ = pages.wait_for(|open| *open > 0) => {}
            _ = extensions.wait_for(|open| *open > 0) => {}
        }
    }
}

/// Resolves when the count has been zero for `limit`, or when its sender is dropped.
pub(super) async fn idle(mut count: watch::Receiver<usize>, limit: Option<Duration>) {
    let Some(limit) = limit else {
        return std::future::pending().await;
    };
    loop {
        if count.wait_for(|open| *open == 0).await.is_err() {
            return;
        }
        let busy = count.wait_for(|open| *open > 0);
        if !matches!(tokio::time::timeout(limit, busy).await, Ok(Ok(_))) {
            return;
        }
    }
}

/// More than the session limit, so that the main loop can tell excess clients why.
pub(super) const MOST_REGISTERED: usize = 256;
/// A status request or a registration takes only a moment.
const MOST_UNREGISTERED: usize = 64;
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
const FLUSH_LIMIT: Duration = Duration::from_millis(500);

#[cfg(test)]
mod tests {
    use super::*;

    /// With the counter dropped and no session open, this wait once spun forever.
    #[tokio::test(start_paused = true)]
    async fn waiting_ends_when_the_counter_is_dropped() {
        let count = watch::Sender::new(0);
        let waiting = tokio::spawn(idle(count.subscribe(), Some(Duration::from_secs(60))));
        drop(count);
        let ended = tokio::time::timeout(Duration::from_secs(1), waiting).await;
        assert!(ended.is_ok(), "it still waits");
    }
}
