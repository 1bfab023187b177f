//! Why there is no connection to a browser.

use super::devtools::DiscoverError;
use super::launch::LaunchError;
use tabmux_cdp::CdpError;

/// Why there is no connection. Users and agents read the text.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// No running browser allows remote debugging.
    #[error("No browser found")]
    NoneRunning,
    /// The same, and none may be launched.
    #[error(
        "No matching running browser allows remote debugging, and --autoConnect does not launch one. Allow \
         it at chrome://inspect/#remote-debugging"
    )]
    NoneToAttach,
    /// The extension was chosen, and is not connected.
    #[error("Browser extension not connected")]
    NoExtension,
    /// The configured browser cannot be reached.
    #[error(transparent)]
    Discover(#[from] DiscoverError),
    /// The websocket could not be opened.
    #[error("No browser answers at {url} ({detail}).")]
    WebSocket {
        /// Its address.
        url: String,
        /// What went wrong.
        detail: String,
    },
    /// The server refused.
    #[error("{0}")]
    Refused(String),
    /// A grid has handed out no browser: it has no free one, or none of the wanted kind.
    #[error("{0}")]
    NoneHandedOut(String),
    /// The calls that wanted the browser were cancelled.
    #[error("No call waits for this browser any more")]
    GivenUp,
    /// Our browser did not start.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// Our browser started, but exited or did not respond during startup.
    #[error("The browser exited or did not respond during startup ({0})")]
    FailedAtStartup(CdpError),
    /// It is connected, but does not respond.
    #[error("The browser does not respond ({0}). If it hangs, restart it.")]
    Unresponsive(CdpError),
}
