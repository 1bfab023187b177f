//! Streamable HTTP: many clients at one address, in both eras of the protocol.
//!
//! - `handler`: finds the session of a request, and passes the request to its handler.
//! - `calls`: counts calls, for those that watch the server.
//! - `addresses`: the addresses of resources of clients without a handshake.
//! - `named`: the sessions of clients without a handshake, by the name that their calls give.
//! - `places`: how many long resources are read at once.
//! - `handshakes`: the sessions of the others, by their ids.
//! - [`Streamable`]: rmcp's server, with our settings.
//!
//! Who may connect is decided before: a request carries its [`Principal`]. A session belongs to the principal that
//! opened it, and so does everything in it.

mod addresses;
mod calls;
mod handler;
mod handshakes;
mod named;
mod places;
mod streamable;

use bytes::Bytes;
use handler::RemoteHandler;
use handshakes::{Handshakes, SESSION_ID};
use http::{Request, Response};
use http_body::Body;
use http_body_util::combinators::BoxBody;
use named::NamedSessions;
use places::Kept;
use std::convert::Infallible;
use std::fmt::{self, Display};
use std::sync::Arc;
use std::time::Duration;
use tabmux_protocol::Backend;
use tokio_util::sync::CancellationToken;

pub use streamable::Streamable;
pub use tabmux_protocol::session::TokenLimits;

/// Who sends a request; in its extensions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Principal {
    /// The name of its token, for people.
    pub name: Arc<str>,
    /// What tells its token from another one of this name.
    pub key: Arc<str>,
    /// What its token allows.
    pub limits: Arc<TokenLimits>,
}

/// Opens the sessions of clients.
pub trait OpenSession: Send + Sync + 'static {
    /// What a session works with.
    type Backend: Backend;

    /// Opens a session; dropping it ends it. The error is a sentence.
    ///
    /// # Errors
    /// When there are too many.
    fn open(&self, principal: &Principal) -> Result<Self::Backend, String>;
}

/// The answers of [`HttpService`].
pub type HttpResponse = Response<BoxBody<Bytes, Infallible>>;

/// The server at `/mcp`.
pub struct HttpService<O: OpenSession> {
    streamable: Streamable<RemoteHandler<O>>,
    handshakes: Handshakes<O::Backend>,
    named: Arc<NamedSessions<O>>,
}

impl<O: OpenSession> HttpService<O> {
    /// A server that refuses longer bodies, and whose streams end when `stop` is cancelled.
    pub fn new(opener: O, longest_body: u64, stop: CancellationToken) -> Self {
        let named = Arc::new(NamedSessions::new(opener));
        let handlers = Arc::clone(&named);
        let make = move || RemoteHandler::new(Arc::clone(&handlers));
        Self {
            streamable: Streamable::new(make, longest_body, stop),
            handshakes: Handshakes::default(),
            named,
        }
    }

    /// Answers a request that may be made. The answer to a handshake that failed names no session.
    pub async fn answer<T>(&self, mut request: Request<T>) -> HttpResponse
    where
        T: Body + Send + 'static,
        T::Error: Display,
    {
        let opened = Handshakes::expect(&mut request);
        let kept = Kept::of(&mut request);
        let mut response = self.streamable.answer(request).await;
        if !self.handshakes.note(response.headers(), &opened)
            && let Some(id) = response.headers_mut().remove(SESSION_ID)
            && let Ok(id) = id.to_str()
        {
            self.streamable.end(id).await;
        }
        kept.until_end_of(response)
    }

    /// Ends a session that began with a handshake, and its running calls.
    pub async fn end(&self, id: &str) {
        self.handshakes.end(id);
        self.streamable.end(id).await;
    }

    /// Ends the sessions without a handshake that no request has used for so long, and those of principals that may no
    /// longer connect.
    pub fn end_unused(&self, limit: Duration, may: impl Fn(&Principal) -> bool) {
        self.named.end_unused(limit, may);
    }
}

impl<O: OpenSession> HttpService<O> {
    /// Numbers about the calls so far, in the text format of Prometheus.
    pub fn metrics(&self) -> String {
        self.named.calls().metrics()
    }
}

impl<O: OpenSession> fmt::Debug for HttpService<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpService").finish_non_exhaustive()
    }
}
