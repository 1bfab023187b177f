//! The loopback listener: web pages of this machine and this user's extension reach the daemon here, and
//! nobody else does.

mod accept;
mod bind;
mod extension_socket;
mod frame_gate;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod large_messages;
mod origin;
mod page_socket;
mod page_words;
mod peer_user;
mod places;
mod relay;
mod upgrade;
mod websocket;

pub use bind::{BindError, Bound};
pub use origin::PageOrigins;
pub(crate) use origin::party;

use crate::handle::Hub;
use crate::lobby::{Guest, Lobby};
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use large_messages::LargeMessages;
use peer_user::{Ends, PeerUsers};
use places::Places;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use tabmux_browser::text::one_line;
use tabmux_protocol::extension::EXTENSION_ID;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// What all connections share.
struct Shared {
    hub: Arc<Hub>,
    origins: PageOrigins,
    port: u16,
    /// Where the secret is that extensions share with us.
    secret: PathBuf,
    /// Who works on that file.
    secret_turns: Arc<Semaphore>,
    other_users: bool,
    peer_users: PeerUsers,
    /// What workers behind extensions have said and nobody has read yet, in bytes.
    relayed: Arc<AtomicUsize>,
    /// Those whose request has not been read yet.
    heads: Arc<Lobby>,
    /// Pages that have not been welcomed yet, and extensions that have not proved themselves.
    unwelcomed: Arc<Lobby>,
    unproved: Arc<Lobby>,
    /// Pages that are welcome. Extensions that have proved themselves have their places in the registry.
    pages: Arc<Places>,
    large_of_pages: LargeMessages,
    large_of_extensions: LargeMessages,
    stop: CancellationToken,
}

/// Whom the listener lets in.
#[derive(Clone, Debug)]
pub struct Guests {
    /// The origins whose pages may offer tools.
    pub origins: PageOrigins,
    /// The file with the secret that extensions have to know.
    pub secret: PathBuf,
    /// Whether processes of other users may connect, too.
    pub other_users: bool,
}

/// Serves until `stop`.
pub async fn serve(bound: Bound, hub: Arc<Hub>, guests: Guests, stop: CancellationToken) {
    let shared = Arc::new(Shared {
        hub,
        origins: guests.origins,
        secret: guests.secret,
        secret_turns: Arc::new(Semaphore::new(SECRET_TURNS)),
        peer_users: PeerUsers::default(),
        relayed: Arc::default(),
        other_users: guests.other_users,
        port: bound.port(),
        heads: Lobby::new(MOST_HEADS),
        unwelcomed: Lobby::new(MOST_UNWELCOMED),
        unproved: Lobby::new(MOST_UNPROVED),
        pages: Places::new(MOST_PAGES),
        large_of_pages: LargeMessages::new(MOST_LARGE),
        large_of_extensions: LargeMessages::new(MOST_LARGE),
        stop: stop.clone(),
    });
    let sockets = bound.sockets().into_iter();
    let accepting = sockets.map(|socket| accept::run(socket, Arc::clone(&shared)));
    // A page that holds its connection does not hold up the end.
    tokio::select! {
        _ = futures_util::future::join_all(accepting) => {}
        () = stop.cancelled() => {}
    }
}

/// Answers a request that came over this connection.
async fn answer(
    request: Request<Incoming>,
    ends: Ends,
    head: Option<Guest>,
    shared: &Arc<Shared>,
) -> Response<String> {
    // A web page that was led here under another name (DNS rebinding) is sent away before anything else.
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
    // From here on it has a place of another kind, or none: those without a request do not take it along.
    drop(head);
    match (request.method(), request.uri().path()) {
        (&Method::GET, "/") => own_extension(request, host, shared).await,
        (&Method::GET, "/page") => page(request, shared).await,
        (_, "/" | "/page") => status(StatusCode::METHOD_NOT_ALLOWED),
        _ => status(StatusCode::NOT_FOUND),
    }
}

async fn page(request: Request<Incoming>, shared: &Arc<Shared>) -> Response<String> {
    // Only a browser's page has an origin, and only a page may come here.
    let origin = text_of(request.headers(), header::ORIGIN).and_then(origin::of_page);
    let Some(origin) = origin else {
        return status(StatusCode::FORBIDDEN);
    };
    let Some(guest) = shared.unwelcomed.enter().await else {
        return status(StatusCode::SERVICE_UNAVAILABLE);
    };
    let shared = Arc::clone(shared);
    upgrade::upgrade(request, move |socket| async move {
        page_socket::serve(socket, guest, &origin, &shared).await;
    })
}

async fn own_extension(
    request: Request<Incoming>,
    host: String,
    shared: &Arc<Shared>,
) -> Response<String> {
    let origin = text_of(request.headers(), header::ORIGIN);
    let id = origin.and_then(|origin| origin.strip_prefix("chrome-extension://"));
    if id != Some(EXTENSION_ID) {
        let origin = one_line(origin.unwrap_or("none"), 200);
        tracing::warn!(
            origin,
            "refused an extension: this is not the origin of ours"
        );
        return status(StatusCode::FORBIDDEN);
    }
    let Some(guest) = shared.unproved.enter().await else {
        return status(StatusCode::SERVICE_UNAVAILABLE);
    };
    let shared = Arc::clone(shared);
    // The proofs are about the name that was dialled, so that they are good for no other place.
    upgrade::upgrade(request, move |socket| async move {
        extension_socket::serve(socket, guest, &host, &shared).await;
    })
}

/// A refusal, and the end of the connection.
fn status(status: StatusCode) -> Response<String> {
    let mut response = Response::new(String::new());
    *response.status_mut() = status;
    let close = HeaderValue::from_static("close");
    response.headers_mut().insert(header::CONNECTION, close);
    response
}

/// The one name that a request was made under.
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

/// Browsers send their request at once, so those who wait longer hardly are any.
const MOST_HEADS: usize = 64;
/// A hello and its answer, or a proof, take a few milliseconds; those that have been there longest go first.
const MOST_UNWELCOMED: usize = 32;
const MOST_UNPROVED: usize = 32;
/// A file system that hangs costs so many threads.
const SECRET_TURNS: usize = 2;
/// A worker has one for all tabs of its site.
const MOST_PAGES: usize = 64;
/// As many messages of more than 64 kB may be on their way at once from pages, and as many from extensions.
const MOST_LARGE: usize = 3;
