//! A running browser at the address of its websocket.

use super::{Acquired, ConnectError, Ownership};
use crate::dial::{self, DialError, RemoteAddress};
use crate::endpoint;
use std::time::Duration;
use tabmux_cdp::{ConnectError as HandshakeError, Connection, WebSocketTransport};
use url::Url;

/// Attaches to the browser at `ws://…` or `wss://…`.
pub(super) async fn acquire(
    address: &RemoteAddress,
    limit: Duration,
) -> Result<Acquired, ConnectError> {
    let (session, events) = Connection::start(connect(address, limit).await?);
    Ok(Acquired {
        session,
        events,
        ownership: Ownership::Theirs,
        replaces: false,
    })
}

/// Opens a websocket. Errors do not contain the secrets of the address.
pub(super) async fn connect(
    address: &RemoteAddress,
    limit: Duration,
) -> Result<WebSocketTransport, ConnectError> {
    let failed = |detail| ConnectError::WebSocket {
        url: endpoint::shown(&address.url),
        detail,
    };
    match tokio::time::timeout(limit, attempt(address)).await {
        Ok(connected) => connected,
        Err(_) => Err(failed(format!("no answer in {} s", limit.as_secs()))),
    }
}

async fn attempt(address: &RemoteAddress) -> Result<WebSocketTransport, ConnectError> {
    let failed = |error: HandshakeError| ConnectError::WebSocket {
        url: endpoint::shown(&address.url),
        detail: error.to_string(),
    };
    let url = Url::parse(&address.url).ok();
    let is_websocket = |url: &Url| matches!(url.scheme(), "ws" | "wss") && url.host().is_some();
    let Some(url) = url.filter(is_websocket) else {
        return Err(failed(HandshakeError::BadUrl));
    };
    let mut connected = handshake(&url, address).await;
    // Chrome refuses host names other than localhost with this status.
    if let Err(Failure::Handshake(HandshakeError::Refused { status: 500 })) = &connected {
        connected = handshake(&url, &endpoint::as_localhost(address)).await;
    }
    let error = match connected {
        Ok(transport) => return Ok(transport),
        Err(Failure::Dial(DialError::Unreachable(detail))) => {
            return Err(failed(HandshakeError::Unreachable { detail }));
        }
        Err(Failure::Dial(error)) => {
            return Err(ConnectError::Refused(error.sentence(&address.url)));
        }
        Err(Failure::Handshake(error)) => error,
    };
    let is_odd = !matches!(error, HandshakeError::Refused { status } if status != 400);
    if is_odd && dial::speaks_tls(&url).await {
        let sentence = DialError::SpeaksTls.sentence(&address.url);
        return Err(ConnectError::Refused(sentence));
    }
    if let Some(error) = DialError::in_text(&error.to_string()) {
        return Err(ConnectError::Refused(error.sentence(&address.url)));
    }
    Err(match error {
        HandshakeError::Refused { status } => {
            ConnectError::Refused(endpoint::refusal(&address.url, status))
        }
        error => failed(error),
    })
}

enum Failure {
    Dial(DialError),
    Handshake(HandshakeError),
}

async fn handshake(url: &Url, address: &RemoteAddress) -> Result<WebSocketTransport, Failure> {
    let stream = dial::open(url, &address.tls).await.map_err(Failure::Dial)?;
    let (plain, credentials) = endpoint::with_credentials_as_header(&address.url);
    // A header that the user configured takes precedence over the address.
    let headers: Vec<_> = credentials
        .iter()
        .chain(&address.headers)
        .cloned()
        .collect();
    let connected = WebSocketTransport::over(stream.into_halves(), &plain, &headers).await;
    connected.map_err(Failure::Handshake)
}
