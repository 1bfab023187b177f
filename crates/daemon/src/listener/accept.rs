//! Accepts connections, and reads one request from each. Silent connections use few slots, for a short time.

use super::Shared;
use super::peer_user::Ends;
use crate::pending_slots::PendingSlot;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};

/// Accepts for as long as it is polled.
pub(super) async fn run(listener: TcpListener, shared: Arc<Shared>) {
    loop {
        let (stream, peer) = match listener.accept().await {
            Ok((stream, peer)) => (stream, peer),
            Err(error) if is_about_one_connection(&error) => continue,
            Err(error) => {
                // Probably out of file descriptors. Existing connections are not affected.
                tracing::warn!(%error, "a connection of a page or an extension could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let Some(pending) = shared.heads.enter().await else {
            return;
        };
        tokio::spawn(serve(stream, peer, pending, Arc::clone(&shared)));
    }
}

/// Answers one request. A websocket that begins with it continues in its own task.
async fn serve(stream: TcpStream, peer: SocketAddr, pending: PendingSlot, shared: Arc<Shared>) {
    // Sends at once: the system would otherwise gather data for up to 40 ms.
    let _ = stream.set_nodelay(true);
    let Ok(local) = stream.local_addr() else {
        return;
    };
    let ends = Ends { peer, local };
    let (stop, evicted) = (shared.stop.clone(), pending.eviction());
    // The slot is kept until the request is read.
    let head = Mutex::new(Some(pending));
    let service = service_fn(move |request| {
        let shared = Arc::clone(&shared);
        let head = head.lock().unwrap_or_else(PoisonError::into_inner).take();
        async move { Ok::<_, Infallible>(super::answer(request, ends, head, &shared).await) }
    });
    let connection = http1::Builder::new()
        .max_buf_size(LONGEST_HEAD)
        // One timeout below covers everything.
        .header_read_timeout(None)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    tokio::select! {
        served = connection => {
            if let Err(error) = served {
                tracing::debug!(%error, "a request was not answered");
            }
        }
        () = evicted.cancelled() => {}
        () = tokio::time::sleep(HEAD_LIMIT) => {}
        () = stop.cancelled() => {}
    }
}

/// Whether the error concerns only one connection, which was lost before it was accepted.
fn is_about_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::Interrupted
    )
}

/// The timeout for a request and its answer. Browsers send theirs at once.
const HEAD_LIMIT: Duration = Duration::from_secs(5);
/// Browsers need less than 1 kB; hyper reads in pieces of 8 kB.
const LONGEST_HEAD: usize = 16 * 1024;
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
