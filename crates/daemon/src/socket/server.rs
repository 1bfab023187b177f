//! Serves all connections of the daemon's socket, until it is stopped or idle.

use super::connection;
use super::listen::{Held, Listening};
use crate::handle::Hub;
use crate::pending_slots::PendingSlots;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
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
        registered: Arc::new(Semaphore::new(MOST_REGISTERED)),
        stop: stop.clone(),
    });
    let unregistered = PendingSlots::new(MOST_UNREGISTERED);
    let connections = TaskTracker::new();
    let idle = shared.hub.unused_for(options.idle);
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

/// More than the session limit, so that the main loop can tell excess clients why.
pub(super) const MOST_REGISTERED: usize = 256;
/// A status request or a registration takes only a moment.
const MOST_UNREGISTERED: usize = 64;
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
const FLUSH_LIMIT: Duration = Duration::from_millis(500);
