//! Opens the connection to a browser, launching it first if needed.

use super::connect::{ConnectError, Source};
use crate::files::FileThreads;
use crate::launch::{self, BrowserProcess, LaunchOptions};
use crate::screen::Screen;
use crate::{discover, endpoint, profile};
use std::time::Duration;
use tabmux_cdp::{ConnectError as DialError, Connection, Events, Session, WebSocketTransport};

/// The browser's CDP session and its events, and the process if we launched it.
pub(super) async fn open_connection(
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
                    Err(error) => {
                        tracing::debug!(%error, "a profile names a browser that does not run")
                    }
                }
            }
            Err(ConnectError::NoneRunning)
        }
    }
}

/// The screen for a browser's windows; `None` if it has no windows.
async fn screen_for(options: &LaunchOptions) -> Option<Screen> {
    if options.headless {
        return None;
    }
    let clients = options.screen.clone();
    let looking = move || Screen::find(clients);
    FileThreads::new().run(looking).await.ok().flatten()
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
