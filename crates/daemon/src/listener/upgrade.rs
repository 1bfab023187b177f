//! Upgrades a request to a websocket.

use super::websocket::Socket;
use hyper::body::Incoming;
use hyper::{Request, Response, StatusCode};
use std::time::Duration;
use tokio_tungstenite::tungstenite::handshake::server::create_response_with_body;

/// Answers a websocket request, and passes the websocket to `serve` in a separate task.
pub(super) fn upgrade<F>(
    mut request: Request<Incoming>,
    serve: impl FnOnce(Socket) -> F + Send + 'static,
) -> Response<String>
where
    F: Future<Output = ()> + Send + 'static,
{
    let Ok(response) = create_response_with_body(&request, String::new) else {
        return super::status(StatusCode::BAD_REQUEST);
    };
    let upgraded = hyper::upgrade::on(&mut request);
    tokio::spawn(async move {
        let upgraded = tokio::time::timeout(UPGRADE_LIMIT, upgraded).await;
        if let Ok(Ok(upgraded)) = upgraded {
            serve(Socket::new(upgraded).await).await;
        }
    });
    response
}

/// The timeout after the request has been read.
const UPGRADE_LIMIT: Duration = Duration::from_secs(5);
