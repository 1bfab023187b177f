//! rmcp's server with our settings, for any handler: ours, and the one of the conformance suite.

use super::HttpResponse;
use super::sent_events::SentEvents;
use futures_util::{Stream, StreamExt as _};
use http::Request;
use http_body::Body;
use rmcp::ServerHandler;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::session::{
    ServerSseMessage, SessionId, SessionManager,
};
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use std::fmt::{self, Display};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Streamable HTTP over a handler.
pub struct Streamable<H> {
    service: StreamableHttpService<H, Sessions>,
    sessions: Arc<Sessions>,
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
        let sessions = sessions.with_event_store(Arc::new(SentEvents::default()));
        let sessions = Arc::new(Sessions(sessions));
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

/// Sessions that began with a handshake. A client whose connection was cut comes back for the answer of its call. One
/// without a handshake cannot: the end of its connection cancels the call.
struct Sessions(LocalSessionManager);

type Local = LocalSessionManager;
type Failure = <Local as SessionManager>::Error;

impl SessionManager for Sessions {
    type Error = Failure;
    type Transport = <Local as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Failure> {
        self.0.create_session().await
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Failure> {
        self.0.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Failure> {
        self.0.has_session(id).await
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Failure> {
        self.0.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Failure> {
        self.0.create_stream(id, message).await
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), Failure> {
        self.0.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Failure> {
        self.0.create_standalone_stream(id).await
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Failure> {
        // A stream for notifications on which none was sent: rmcp names its beginning like this.
        if last_event_id == BEGINNING {
            return Ok(self.0.create_standalone_stream(id).await?.left_stream());
        }
        Ok(self.0.resume(id, last_event_id).await?.right_stream())
    }
}

const BEGINNING: &str = "0";
