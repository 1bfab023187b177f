//! The loopback listener, through which local web pages and this user's extension reach the daemon. Nothing else can
//! connect.

mod accept;
mod bind;
mod extension_socket;
mod frame_gate;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod large_messages;
mod origin;
mod origin_slots;
mod page_frames;
mod page_socket;
mod peer_user;
mod relay;
mod upgrade;
mod websocket;

pub use bind::{BindError, Bound};
pub use origin::PageOrigins;
pub(crate) use origin::quota_owner;

use crate::handle::Hub;
use crate::pending_slots::{PendingSlot, PendingSlots};
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use large_messages::LargeMessages;
use origin_slots::OriginSlots;
use peer_user::{Ends, PeerUsers};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// State that all connections share.
struct Shared {
    hub: Arc<Hub>,
    origins: PageOrigins,
    port: u16,
    /// The file with the pairing secret.
    secret: PathBuf,
    /// Limits how many connections read that file at once.
    secret_turns: Arc<Semaphore>,
    other_users: bool,
    peer_users: PeerUsers,
    /// Bytes of workers behind extensions that are received but not read yet.
    relayed: Arc<AtomicUsize>,
    /// Connections whose request has not been read yet.
    heads: Arc<PendingSlots>,
    /// Pages that have not been accepted yet, and extensions that have not proved themselves.
    pending: Arc<PendingSlots>,
    unproved: Arc<PendingSlots>,
    /// Accepted pages. Extensions that have proved themselves have their slots in the registry.
    pages: Arc<OriginSlots>,
    large_of_pages: LargeMessages,
    large_of_extensions: LargeMessages,
    stop: CancellationToken,
}

/// Which clients the listener accepts.
#[derive(Clone, Debug)]
pub struct ListenerAccess {
    /// The origins whose pages may offer tools.
    pub origins: PageOrigins,
    /// The file with the pairing secret.
    pub secret: PathBuf,
    /// Whether processes of other users may connect, too.
    pub other_users: bool,
}

/// Serves until `stop`.
pub async fn serve(bound: Bound, hub: Arc<Hub>, access: ListenerAccess, stop: CancellationToken) {
    let shared = Arc::new(Shared {
        hub,
        origins: access.origins,
        secret: access.secret,
        secret_turns: Arc::new(Semaphore::new(SECRET_TURNS)),
        peer_users: PeerUsers::default(),
        relayed: Arc::default(),
        other_users: access.other_users,
        port: bound.port(),
        heads: PendingSlots::new(MOST_HEADS),
        pending: PendingSlots::new(MOST_PENDING),
        unproved: PendingSlots::new(MOST_UNPROVED),
        pages: OriginSlots::new(MOST_PAGES),
        large_of_pages: LargeMessages::new(MOST_LARGE),
        large_of_extensions: LargeMessages::new(MOST_LARGE),
        stop: stop.clone(),
    });
    let sockets = bound.sockets().into_iter();
    let accepting = sockets.map(|socket| accept::run(socket, Arc::clone(&shared)));
    // A page that keeps its connection open does not delay the shutdown.
    tokio::select! {
        _ = futures_util::future::join_all(accepting) => {}
        () = stop.cancelled() => {}
    }
}

/// Answers a request that came over this connection: the checks that all routes have in common, and the router.
async fn answer(
    request: Request<Incoming>,
    ends: Ends,
    head: Option<PendingSlot>,
    shared: &Arc<Shared>,
) -> Response<String> {
    // Refuses first of all a web page that reached us under another host name (DNS rebinding).
    let Some(host) = dialled(&request).filter(|host| origin::is_our_host(host, shared.port)) else {
        return status(StatusCode::FORBIDDEN);
    };
    let host = host.to_owned();
    if !shared.other_users
        && let Err(reason) = shared.peer_users.check(ends).await
    {
        tracing::warn!(%reason, "refused a connection");
        return Response::builder()
            .status(StatusCode::FORBIDDEN)
            .header(header::CONNECTION, "close")
            .body(reason.to_string())
            .unwrap_or_else(|_| status(StatusCode::FORBIDDEN));
    }
    // The request is read, so this slot is free again; the next step uses another one.
    drop(head);
    match (request.method(), request.uri().path()) {
        (&Method::GET, "/") => extension_socket::answer(request, host, shared).await,
        (&Method::GET, "/page") => page_socket::answer(request, shared).await,
        (_, "/" | "/page") => status(StatusCode::METHOD_NOT_ALLOWED),
        _ => status(StatusCode::NOT_FOUND),
    }
}

/// Refuses the request and closes the connection.
fn status(status: StatusCode) -> Response<String> {
    let mut response = Response::new(String::new());
    *response.status_mut() = status;
    let close = HeaderValue::from_static("close");
    response.headers_mut().insert(header::CONNECTION, close);
    response
}

/// The host of a request, if there is exactly one.
fn dialled(request: &Request<Incoming>) -> Option<&str> {
    let mut names = request.headers().get_all(header::HOST).iter();
    let (name, another) = (names.next()?, names.next());
    let elsewhere = request.uri().authority();
    let name = name.to_str().ok()?;
    (another.is_none() && elsewhere.is_none()).then_some(name)
}

fn text_of(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

/// Browsers send their request at once, so few connections wait here.
const MOST_HEADS: usize = 64;
/// A hello and its answer, or a proof, take a few milliseconds; the oldest connection is evicted first.
const MOST_PENDING: usize = 32;
const MOST_UNPROVED: usize = 32;
/// A file system that hangs blocks at most this many threads.
const SECRET_TURNS: usize = 2;
/// A worker has one connection for all tabs of its site.
const MOST_PAGES: usize = 64;
/// How many messages of more than 64 kB may be received at once from pages, and as many from extensions.
const MOST_LARGE: usize = 3;
