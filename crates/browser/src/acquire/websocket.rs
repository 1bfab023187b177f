//! A running browser at the address of its websocket.

use super::{Acquired, ConnectError, Ownership};
use crate::endpoint;
use std::time::Duration;
use tabmux_cdp::{ConnectError as DialError, Connection, WebSocketTransport};

/// Attaches to the browser at `ws://…`, with these headers.
pub(super) async fn acquire(
    url: &str,
    headers: &[(String, String)],
) -> Result<Acquired, ConnectError> {
    let (session, events) = Connection::start(dial(url, headers).await?);
    Ok(Acquired {
        session,
        events,
        ownership: Ownership::Theirs,
    })
}

/// Opens a websocket. Errors do not contain the secrets of the address.
async fn dial(url: &str, headers: &[(String, String)]) -> Result<WebSocketTransport, ConnectError> {
    let failed = |detail| ConnectError::WebSocket {
        url: endpoint::shown(url),
        detail,
    };
    let (address, credentials) = endpoint::with_credentials_as_header(url);
    // A header that the user configured takes precedence over the address.
    let headers: Vec<_> = credentials.iter().chain(headers).cloned().collect();
    let dialled = WebSocketTransport::connect(&address, &headers);
    match tokio::time::timeout(DIAL_LIMIT, dialled).await {
        Ok(Ok(transport)) => Ok(transport),
        Ok(Err(DialError::Refused { status })) => {
            Err(ConnectError::Refused(endpoint::refusal(url, status)))
        }
        Ok(Err(error)) => Err(failed(error.to_string())),
        Err(_) => Err(failed(format!("no answer in {} s", DIAL_LIMIT.as_secs()))),
    }
}

const DIAL_LIMIT: Duration = Duration::from_secs(5);
