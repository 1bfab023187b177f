//! What agents read when the person at the browser intervened.

use crate::{TabId, ToolName};
use thiserror::Error;

/// A call that the person stopped, or whose tab the person changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PersonRefusal {
    /// All agents are paused.
    #[error(
        "The person paused all agents, so {tool} was {}. Call it again after they have resumed agents in \
         the side panel of their browser; until then only browser_get_connection_status works.",
        if *.begun { "stopped before it was done" } else { "not carried out" }
    )]
    Paused {
        /// The tool that was called.
        tool: ToolName,
        /// Whether it was running.
        begun: bool,
    },
    /// The person gave the session a tab since its last call. Reported once.
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
