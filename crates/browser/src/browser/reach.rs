//! Comes by a connection to a browser: of one that is launched, or to one that runs.

use super::connect::{ConnectError, Source};
use crate::files::FileThreads;
use crate::launch::{self, BrowserProcess, LaunchOptions};
use crate::screen::Screen;
use crate::{discover, endpoint, profile};
use std::time::Duration;
use tabmux_cdp::{ConnectError as DialError, Connection, Events, Session, WebSocketTransport};

/// The browser's own session and its events; the process of one that we launched.
pub(super) async fn reach(
    source: &Source,
) -> Result<(Session, Events, Option<BrowserProcess>), ConnectError> {
    let over = |transport| {
        let (session, events) = Connection::start(transport);
        (session, events, None)
    };
    match source {
        Source::Launch(options) => {
            profile::wait_for_orphan(&options.profile).await;
            let screen = screen_for(options).await;
            let launched = launch::launch(options, screen.as_ref()).await?;
            let (session, events) = Connection::start(launched.transport);
            Ok((session, events, Some(launched.process)))
        }
        Source::Url(url) => {
            let websocket = discover::websocket_of(url).await?;
            Ok(over(dial(&websocket, &[]).await?))
        }
        Source::WebSocket(url, headers) => Ok(over(dial(url, headers).await?)),
        Source::Running(which) => {
            let which = which.clone();
            let looking = move || discover::running_browsers(&which);
            let running = FileThreads::new().run(looking).await;
            for endpoint in running.unwrap_or_default() {
                match dial(&endpoint, &[]).await {
                    Ok(transport) => return Ok(over(transport)),
                    Err(error) => tracing::debug!(%error, "a browser's profile is out of date"),
                }
            }
            Err(ConnectError::NoneRunning)
        }
    }
}

/// The screen on which a browser's windows open, unless it has none.
async fn screen_for(options: &LaunchOptions) -> Option<Screen> {
    if options.headless {
        return None;
    }
    let clients = options.screen.clone();
    let looking = move || Screen::find(clients);
    FileThreads::new().run(looking).await.ok().flatten()
}

/// Dials a websocket. What fails is told without the secrets of the address.
async fn dial(url: &str, headers: &[(String, String)]) -> Result<WebSocketTransport, ConnectError> {
    let failed = |detail| ConnectError::WebSocket {
        url: endpoint::shown(url),
        detail,
    };
    let (address, credentials) = endpoint::with_credentials_as_header(url);
    // A header that the user wrote goes before what the address says.
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
