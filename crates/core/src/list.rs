//! Progressive mode: the state of a session decides which tools it lists.

use crate::{LostBrowser, LostTab, Refusal, TabId, ToolName};

/// The state of a progressive session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Disconnected {
        lost: Option<LostTab>,
    },
    /// The connection is lost, and the next call reconnects.
    Reconnecting {
        focused: bool,
        lost: Option<LostTab>,
    },
    NoTabs,
    NoFocus {
        lost: Option<LostTab>,
    },
    Focused(TabId),
}

impl State {
    /// The core tools of this state, in published order.
    pub(crate) fn core_tools(self) -> &'static [ToolName] {
        match self {
            Self::Disconnected { .. } => &[ToolName::CONNECT_BROWSER],
            Self::NoTabs => &CONNECTED[..2],
            Self::NoFocus { .. } | Self::Reconnecting { focused: false, .. } => &CONNECTED[..3],
            Self::Focused(_) | Self::Reconnecting { focused: true, .. } => &CONNECTED,
        }
    }

    /// Why this state does not have a tool, and which tool to call next.
    pub(crate) fn refusal(self, tool: ToolName) -> Refusal {
        match self {
            Self::Disconnected { lost: None } => Refusal::NotConnected { tool },
            Self::Disconnected { lost: Some(lost) } => LostBrowser::Gone { tool, lost }.into(),
            _ if tool == ToolName::CONNECT_BROWSER => Refusal::AlreadyConnected,
            Self::NoTabs => Refusal::NoTabs { tool },
            Self::NoFocus { lost }
            | Self::Reconnecting {
                focused: false,
                lost,
            } => Refusal::NoFocus { tool, lost },
            Self::Focused(_) | Self::Reconnecting { focused: true, .. } => {
                Refusal::NotOffered { tool }
            }
        }
    }
}

/// The tools of a connected session. Each state has a longer prefix of this list than the one before.
const CONNECTED: [ToolName; 4] = [
    ToolName::LIST_TABS,
    ToolName::OPEN_TAB,
    ToolName::FOCUS_TAB,
    ToolName::CLOSE_TAB,
];
