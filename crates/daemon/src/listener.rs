//! The loopback listener: web pages of this machine and this user's extension reach the daemon here, and
//! nobody else does.

mod bind;
mod extension_socket;
mod origin;
mod page_socket;
mod page_words;
mod relay;

pub use bind::{BindError, Bound};
pub use origin::PageOrigins;

use crate::handle::Hub;
use axum::Router;
use axum::extract::{Request, State, WebSocketUpgrade};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::serve::ListenerExt;
use std::path::PathBuf;
use std::sync::Arc;
use tabmux_browser::text::one_line;
use tabmux_protocol::extension::{self, EXTENSION_ID};
use tabmux_protocol::page::LONGEST_FRAME;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// What all connections share.
struct Shared {
    hub: Arc<Hub>,
    origins: PageOrigins,
    port: u16,
    /// Where the secret is that extensions share with us.
    secret: PathBuf,
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
        places: Arc::new(Semaphore::new(MOST_CONNECTIONS)),
        extension_places: Arc::new(Semaphore::new(MOST_EXTENSIONS)),
        stop: stop.clone(),
    });
    let router = Router::new()
        .route("/", get(own_extension))
        .route("/page", get(page))
        .layer(middleware::from_fn_with_state(
            Arc::clone(&shared),
            only_local,
        ))
        .with_state(shared);
    let served = bound.sockets().into_iter().map(|socket| {
        let stop = stop.clone();
        // What is said waits for no more: the system would gather it for up to 40 ms.
        let socket = socket.tap_io(|connection| {
            let _ = connection.set_nodelay(true);
        });
        let server = axum::serve(socket, router.clone());
        async move {
            let served = server.with_graceful_shutdown(stop.cancelled_owned()).await;
            if let Err(error) = served {
                tracing::warn!(%error, "the loopback listener has ended");
            }
        }
    });
    let served = futures_util::future::join_all(served);
    // A page that holds its connection does not hold up the end.
    tokio::select! {
        _ = served => {}
        () = stop.cancelled() => {}
    }
}

/// A web page that was led here under another name (DNS rebinding) is sent away before anything else.
async fn only_local(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let host = text_of(request.headers(), header::HOST);
    match host.is_some_and(|host| origin::is_our_host(host, shared.port)) {
        true => next.run(request).await,
        false => StatusCode::FORBIDDEN.into_response(),
    }
}

async fn page(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
) -> Response {
    // Only a browser's page has an origin, and only a page may come here.
    let origin = text_of(&headers, header::ORIGIN).and_then(origin::of_page);
    let Some(origin) = origin else {
        return StatusCode::FORBIDDEN.into_response();
    };
    let Ok(place) = Arc::clone(&shared.places).try_acquire_owned() else {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    };
    upgrade
        .max_message_size(LONGEST_FRAME)
        .max_frame_size(LONGEST_FRAME)
        .on_upgrade(move |socket| async move {
            page_socket::serve(socket, &origin, &shared).await;
            drop(place);
        })
}

async fn own_extension(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
) -> Response {
    let origin = text_of(&headers, header::ORIGIN);
    let id = origin.and_then(|origin| origin.strip_prefix("chrome-extension://"));
    if id != Some(EXTENSION_ID) {
        let origin = one_line(origin.unwrap_or("none"), 200);
        tracing::warn!(
            origin,
            "refused an extension: this is not the origin of ours"
        );
        return StatusCode::FORBIDDEN.into_response();
    }
    let Ok(place) = Arc::clone(&shared.extension_places).try_acquire_owned() else {
        tracing::warn!("refused an extension: there are {MOST_EXTENSIONS} connections already");
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    };
    // The proofs are about the name that was dialled, so that they are good for no other place.
    let host = text_of(&headers, header::HOST)
        .unwrap_or_default()
        .to_owned();
    upgrade
        .max_message_size(extension::LONGEST_FRAME)
        .max_frame_size(extension::LONGEST_FRAME)
        .on_upgrade(move |socket| async move {
            extension_socket::serve(socket, &host, &shared).await;
            drop(place);
        })
}

fn text_of(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

const MOST_CONNECTIONS: usize = 128;
const MOST_EXTENSIONS: usize = 32;
