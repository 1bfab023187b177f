//! The loopback listener: web pages of this machine and this user's extension reach the daemon here, and
//! nobody else does.

mod accept;
mod bind;
mod extension_socket;
mod origin;
mod pace;
mod page_socket;
mod page_words;
mod relay;
mod upgrade;
mod websocket;

pub use bind::{BindError, Bound};
pub use origin::PageOrigins;

use crate::handle::Hub;
use crate::lobby::Lobby;
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use std::path::PathBuf;
use std::sync::Arc;
use tabmux_browser::text::one_line;
use tabmux_protocol::extension::{self, EXTENSION_ID};
use tabmux_protocol::page;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// What all connections share.
struct Shared {
    hub: Arc<Hub>,
    origins: PageOrigins,
    port: u16,
    /// Where the secret is that extensions share with us.
    secret: PathBuf,
    /// Those whose request has not been read yet.
    heads: Arc<Lobby>,
    places: Arc<Semaphore>,
    extension_places: Arc<Semaphore>,
    stop: CancellationToken,
}

/// Whom the listener lets in.
#[derive(Clone, Debug)]
pub struct Guests {
    /// The origins whose pages may offer tools.
    pub origins: PageOrigins,
    /// The file with the secret that extensions have to know.
    pub secret: PathBuf,
}

/// Serves until `stop`.
pub async fn serve(bound: Bound, hub: Arc<Hub>, guests: Guests, stop: CancellationToken) {
    let shared = Arc::new(Shared {
        hub,
        origins: guests.origins,
        secret: guests.secret,
        port: bound.port(),
        heads: Lobby::new(MOST_HEADS),
        places: Arc::new(Semaphore::new(MOST_CONNECTIONS)),
        extension_places: Arc::new(Semaphore::new(MOST_EXTENSIONS)),
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

/// Answers a request.
async fn answer(request: Request<Incoming>, shared: &Arc<Shared>) -> Response<String> {
    // A web page that was led here under another name (DNS rebinding) is sent away before anything else.
    let host = text_of(request.headers(), header::HOST);
    let Some(host) = host.filter(|host| origin::is_our_host(host, shared.port)) else {
        return status(StatusCode::FORBIDDEN);
    };
    let host = host.to_owned();
    match (request.method(), request.uri().path()) {
        (&Method::GET, "/") => own_extension(request, host, shared),
        (&Method::GET, "/page") => page(request, shared),
        (_, "/" | "/page") => status(StatusCode::METHOD_NOT_ALLOWED),
        _ => status(StatusCode::NOT_FOUND),
    }
}

fn page(request: Request<Incoming>, shared: &Arc<Shared>) -> Response<String> {
    // Only a browser's page has an origin, and only a page may come here.
    let origin = text_of(request.headers(), header::ORIGIN).and_then(origin::of_page);
    let Some(origin) = origin else {
        return status(StatusCode::FORBIDDEN);
    };
    let Ok(place) = Arc::clone(&shared.places).try_acquire_owned() else {
        return status(StatusCode::SERVICE_UNAVAILABLE);
    };
    let shared = Arc::clone(shared);
    upgrade::upgrade(request, page::LONGEST_FRAME, move |socket| async move {
        page_socket::serve(socket, &origin, &shared).await;
        drop(place);
    })
}

fn own_extension(
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
    let Ok(place) = Arc::clone(&shared.extension_places).try_acquire_owned() else {
        tracing::warn!("refused an extension: there are {MOST_EXTENSIONS} connections already");
        return status(StatusCode::SERVICE_UNAVAILABLE);
    };
    let shared = Arc::clone(shared);
    // The proofs are about the name that was dialled, so that they are good for no other place.
    upgrade::upgrade(request, extension::LONGEST_FRAME, move |socket| async move {
        extension_socket::serve(socket, &host, &shared).await;
        drop(place);
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

fn text_of(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

/// Browsers send their request at once, so those who wait longer hardly are any.
const MOST_HEADS: usize = 64;
const MOST_CONNECTIONS: usize = 128;
const MOST_EXTENSIONS: usize = 32;
