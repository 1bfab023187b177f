//! Accepts connections, and reads requests from them. Silent connections use few places, for a short time.

use crate::gate::{Gate, LONGEST_BODY};
use crate::hosts::Hosts;
use crate::patience::Patient;
use crate::probe::Probe;
use crate::service::Service;
use crate::tls::Tls;
use crate::tokens::TokenFile;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tabmux_daemon::{PendingSlot, PendingSlots};
use tabmux_mcp::http::{HttpService, OpenSession};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Who may connect, and for how long.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// Hosts and origins.
    pub hosts: Hosts,
    /// The tokens.
    pub tokens: TokenFile,
    /// A session that nobody uses ends after this.
    pub idle: Duration,
    /// If clients speak TLS.
    pub tls: Option<Tls>,
    /// What is told about the daemon.
    pub probe: Option<Probe>,
}

/// Serves until `stop`. Running calls then have some seconds to end.
pub async fn serve<O: OpenSession>(
    listener: TcpListener,
    opener: O,
    options: ServeOptions,
    stop: CancellationToken,
) {
    let service = |longest_body, streams| HttpService::new(opener, longest_body, streams);
    serve_with(listener, service, options, stop).await;
}

/// Serves what `make` makes behind the same gate. It gets the longest body, and what ends its streams.
pub async fn serve_with<S: Service>(
    listener: TcpListener,
    make: impl FnOnce(u64, CancellationToken) -> S,
    options: ServeOptions,
    stop: CancellationToken,
) {
    let streams = CancellationToken::new();
    let service = make(LONGEST_BODY, streams.clone());
    let gate = Arc::new(Gate::new(
        options.hosts,
        options.tokens,
        options.probe,
        service,
    ));
    let connections = TaskTracker::new();
    let slots = Slots {
        unproved: PendingSlots::new(MOST_UNPROVED),
        all: Arc::new(Semaphore::new(MOST_CONNECTIONS)),
    };
    let accepting = async {
        loop {
            match listener.accept().await {
                Ok((stream, _)) => {
                    let Some(unproved) = slots.unproved.enter().await else {
                        return;
                    };
                    let (gate, slots, stop) = (Arc::clone(&gate), slots.clone(), stop.clone());
                    let tls = options.tls.clone();
                    connections.spawn(async move {
                        // Sends at once: the system would otherwise gather data for up to 40 ms.
                        let _ = stream.set_nodelay(true);
                        let Some(tls) = tls else {
                            return serve_connection(stream, unproved, gate, slots, stop).await;
                        };
                        let accepted = tokio::select! {
                            accepted = tls.accept(stream) => accepted,
                            () = unproved.evicted() => None,
                            () = stop.cancelled() => None,
                        };
                        if let Some(stream) = accepted {
                            serve_connection(stream, unproved, gate, slots, stop).await;
                        }
                    });
                }
                Err(error) => {
                    // Probably out of file descriptors. Existing connections are not affected.
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    };
    let ending = async {
        loop {
            tokio::time::sleep(LOOK).await;
            gate.end_unused(options.idle).await;
        }
    };
    tokio::select! {
        () = accepting => {}
        () = ending => {}
        () = stop.cancelled() => {}
    }
    connections.close();
    let _ = tokio::time::timeout(LAST_CALLS, connections.wait()).await;
    streams.cancel();
    let _ = tokio::time::timeout(LAST_ANSWERS, connections.wait()).await;
}

/// Places for connections.
#[derive(Clone)]
struct Slots {
    /// Those that have not shown a token. The oldest makes room for the next.
    unproved: Arc<PendingSlots>,
    all: Arc<Semaphore>,
}

async fn serve_connection<S: Service>(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    unproved: PendingSlot,
    gate: Arc<Gate<S>>,
    slots: Slots,
    stop: CancellationToken,
) {
    let evicted = unproved.eviction();
    let unproved = Arc::new(Mutex::new(Some(unproved)));
    let place = Arc::new(Mutex::new(None));
    let service = service_fn(|request| {
        let (gate, unproved) = (Arc::clone(&gate), Arc::clone(&unproved));
        let (place, all) = (Arc::clone(&place), Arc::clone(&slots.all));
        async move {
            let proved = || {
                let mut place = place.lock().unwrap_or_else(PoisonError::into_inner);
                if place.is_none()
                    && let Ok(permit) = all.try_acquire_owned()
                {
                    *place = Some(permit);
                    // Without a place it remains one of those that make room for others.
                    let mut unproved = unproved.lock().unwrap_or_else(PoisonError::into_inner);
                    drop(unproved.take());
                }
            };
            Ok::<_, Infallible>(gate.answer(request, proved).await)
        }
    });
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_LIMIT)
        .max_buf_size(LONGEST_HEAD);
    let mut connection =
        pin!(builder.serve_connection(TokioIo::new(Patient::new(stream)), service));
    let mut is_stopping = false;
    loop {
        tokio::select! {
            served = connection.as_mut() => {
                if let Err(error) = served {
                    tracing::debug!(%error, "a connection ended");
                }
                return;
            }
            () = evicted.cancelled() => return,
            () = stop.cancelled(), if !is_stopping => {
                is_stopping = true;
                connection.as_mut().graceful_shutdown();
            }
        }
    }
}

/// Connections without a token so far. Clients send it with their first request.
const MOST_UNPROVED: usize = 128;
const MOST_CONNECTIONS: usize = 1_024;
/// For the head of a request, and between two of them.
const HEAD_LIMIT: Duration = Duration::from_secs(30);
const LONGEST_HEAD: usize = 32 * 1024;
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// How often to look for sessions that have to end.
const LOOK: Duration = Duration::from_millis(500);
const LAST_CALLS: Duration = Duration::from_secs(3);
const LAST_ANSWERS: Duration = Duration::from_millis(500);
