//! rmcp's server with our settings, for any handler: ours, and the one of the conformance suite.

use super::HttpResponse;
use http::Request;
use http_body::Body;
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::SessionManager as _;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use std::fmt::{self, Display};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Streamable HTTP over a handler.
pub struct Streamable<H> {
    service: StreamableHttpService<H, LocalSessionManager>,
    sessions: Arc<LocalSessionManager>,
}

impl<H: ServerHandler> Streamable<H> {
    /// A server that refuses longer bodies, and whose streams end when `stop` is cancelled. `make` makes the handler of
    /// a session, or of a request without one.
    pub fn new(
        make: impl Fn() -> H + Send + Sync + 'static,
        longest_body: u64,
        stop: CancellationToken,
    ) -> Self {
        let mut sessions = LocalSessionManager::default();
        // The caller ends idle sessions: rmcp would end those whose call takes long.
        sessions.session_config.keep_alive = None;
        // What is left of a cancelled call: there is no answer to come back for.
        sessions.session_config.completed_cache_ttl = Duration::ZERO;
        let sessions = Arc::new(sessions);
        // Hosts and origins are checked before.
        let config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .with_json_response(true)
            .with_max_request_body_bytes(usize::try_from(longest_body).unwrap_or(usize::MAX))
            .with_cancellation_token(stop);
        let make = move || Ok(make());
        Self {
            service: StreamableHttpService::new(make, Arc::clone(&sessions), config),
            sessions,
        }
    }

    /// Answers a request.
    pub async fn answer<T>(&self, request: Request<T>) -> HttpResponse
    where
        T: Body + Send + 'static,
        T::Error: Display,
    {
        self.service.handle(request).await
    }

    /// Ends a session that began with a handshake.
    pub async fn end(&self, id: &str) {
        let _ = self.sessions.close_session(&id.into()).await;
    }
}

impl<H> fmt::Debug for Streamable<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Streamable").finish_non_exhaustive()
    }
}
