//! What an agent with a changing tool list is told when the browser that it worked in is gone.

use crate::{ConnectFailure, LostTab, ToolName};
use std::fmt;
use thiserror::Error;

/// A call that was not carried out because its session is not connected any more.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LostBrowser {
    /// The tab that it worked in went with its browser.
    #[error(
        "{tool} was not carried out: {lost}, and none is connected now. Call connect_browser, then open_tab \
         to work in a new tab."
    )]
    Gone {
        /// The tool that was called.
        tool: ToolName,
        /// The tab.
        lost: LostTab,
    },
    /// The browser was to be connected again, and cannot be.
    #[error(
        "{tool} was not carried out: the browser that this session worked in cannot be reached any more. {}. \
         Call connect_browser to connect again.",
        Why(.failure)
    )]
    Unreachable {
        /// The tool that was called.
        tool: ToolName,
        /// Why not.
        failure: ConnectFailure,
    },
}

/// What happened, and what to do first if somebody has to.
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
