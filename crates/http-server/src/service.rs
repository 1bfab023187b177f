//! What answers the requests that passed the gate. The conformance suite tests the gate with another one than ours.

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use std::future::Future;
use std::time::Duration;
use tabmux_mcp::http::{HttpResponse, HttpService, OpenSession, Principal};

/// A server behind the gate.
pub trait Service: Send + Sync + 'static {
    /// Answers a request, whose [`Principal`] is in its extensions.
    fn answer(&self, request: Request<Full<Bytes>>) -> impl Future<Output = HttpResponse> + Send;

    /// Ends a session that began with a handshake, and its running calls.
    fn end(&self, id: &str) -> impl Future<Output = ()> + Send;

    /// Ends the sessions without a handshake that no request has used for so long, and those of principals that may no
    /// longer connect.
    fn end_unused(&self, limit: Duration, may: impl Fn(&Principal) -> bool);

    /// Numbers about it, in the text format of Prometheus.
    fn metrics(&self) -> String;
}

impl<O: OpenSession> Service for HttpService<O> {
    async fn answer(&self, request: Request<Full<Bytes>>) -> HttpResponse {
        Self::answer(self, request).await
    }

    async fn end(&self, id: &str) {
        Self::end(self, id).await;
    }

    fn end_unused(&self, limit: Duration, may: impl Fn(&Principal) -> bool) {
        Self::end_unused(self, limit, may);
    }

    fn metrics(&self) -> String {
        Self::metrics(self)
    }
}
