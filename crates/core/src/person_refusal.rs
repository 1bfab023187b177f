//! What agents are told when the person at the browser decided otherwise.

use crate::{TabId, ToolName};
use thiserror::Error;

/// A call that the person stopped, or that is not for the tab which the agent thinks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PersonRefusal {
    /// All agents are paused.
    #[error(
        "The person paused all agents, so {tool} was {}. Call it again when they have resumed you in the \
         side panel of their browser; until then only browser_get_connection_status answers.",
        if *.begun { "stopped before it was done" } else { "not carried out" }
    )]
    Paused {
        /// The tool that was called.
        tool: ToolName,
        /// Whether it was at work.
        begun: bool,
    },
    /// The session was given a tab since it called last. Said once.
    #[error(
        "{tool} was not carried out: the person gave this session tab {tab} to work in. Call {tool} again \
         to work there."
    )]
    Given {
        /// The tool that was called.
        tool: ToolName,
        /// The tab that the session is bound to now.
        tab: TabId,
    },
}
