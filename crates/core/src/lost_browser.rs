//! What a progressive session's agent reads when its browser is gone.

use crate::{ConnectFailure, LostTab, ToolName};
use std::fmt;
use thiserror::Error;

/// A call that did not run because its session is no longer connected.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LostBrowser {
    /// The session's tab is gone with its browser.
    #[error(
        "{tool} was not carried out: {lost}, and no browser is connected now. Call connect_browser, then open_tab \
         to work in a new tab."
    )]
    Gone {
        /// The tool that was called.
        tool: ToolName,
        /// The lost tab.
        lost: LostTab,
    },
    /// Reconnecting to the browser failed.
    #[error(
        "{tool} was not carried out: the browser that this session worked in cannot be reached any more. {}. \
         Call connect_browser to connect again.",
        Why(.failure)
    )]
    Unreachable {
        /// The tool that was called.
        tool: ToolName,
        /// Why it failed.
        failure: ConnectFailure,
    },
}

/// What happened, and what the user has to do first, if anything.
struct Why<'a>(&'a ConnectFailure);

impl fmt::Display for Why<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.error().trim_end_matches('.'))?;
        match self.0 {
            ConnectFailure::Away { instructions, .. } => write!(f, ". {instructions}"),
            ConnectFailure::NotFound | ConnectFailure::Failed { .. } => Ok(()),
        }
    }
}
