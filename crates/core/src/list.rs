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

impl ToolName {
    /// Connects to a browser, or launches one.
    pub const CONNECT_BROWSER: Self = Self::new("connect_browser");
    /// Shows the tabs.
    pub const LIST_TABS: Self = Self::new("list_tabs");
    /// Opens a tab.
    pub const OPEN_TAB: Self = Self::new("open_tab");
    /// Focuses a tab: the session then lists its tools.
    pub const FOCUS_TAB: Self = Self::new("focus_tab");
    /// Closes a tab.
    pub const CLOSE_TAB: Self = Self::new("close_tab");
    /// Shows the pages.
    pub const LIST_PAGES: Self = Self::new("list_pages");
    /// Opens a page and binds the session to it.
    pub const NEW_PAGE: Self = Self::new("new_page");
    /// Binds the session to a page.
    pub const SELECT_PAGE: Self = Self::new("select_page");
    /// Closes a page, unless it is the last one.
    pub const CLOSE_PAGE: Self = Self::new("close_page");
    /// Shows the session's browsers.
    pub const LIST_BROWSERS: Self = Self::new("list_browsers");
    /// Connects a browser again.
    pub const RECONNECT_BROWSER: Self = Self::new("reconnect_browser");
    /// Adds a browser to the session.
    pub const ADD_BROWSER: Self = Self::new("add_browser");
    /// Disconnects a browser from the session.
    pub const DISCONNECT_BROWSER: Self = Self::new("disconnect_browser");
    /// Chooses the default browser.
    pub const SELECT_DEFAULT_BROWSER: Self = Self::new("select_default_browser");
    /// Shows the tabs that have page tools.
    pub const LIST_BROWSER_TABS: Self = Self::new("list_browser_tabs");
    /// Shows the page tools. Available in every mode.
    pub const LIST_PAGE_TOOLS: Self = Self::new("list_page_tools");
    /// Calls a page tool. Available in every mode.
    pub const CALL_PAGE_TOOL: Self = Self::new("call_page_tool");
    /// Adds tools to the list of a progressive session.
    pub const MORE_TOOLS: Self = Self::new("more_tools");
    /// Shows the connection status. Available in every mode.
    pub const CONNECTION_STATUS: Self = Self::new("browser_get_connection_status");
}

/// The tools whose names no page can use, listed or not.
pub(crate) const BUILT_IN: [ToolName; 19] = [
    ToolName::CONNECT_BROWSER,
    ToolName::LIST_TABS,
    ToolName::OPEN_TAB,
    ToolName::FOCUS_TAB,
    ToolName::CLOSE_TAB,
    ToolName::LIST_PAGES,
    ToolName::NEW_PAGE,
    ToolName::SELECT_PAGE,
    ToolName::CLOSE_PAGE,
    ToolName::LIST_BROWSERS,
    ToolName::RECONNECT_BROWSER,
    ToolName::ADD_BROWSER,
    ToolName::DISCONNECT_BROWSER,
    ToolName::SELECT_DEFAULT_BROWSER,
    ToolName::LIST_BROWSER_TABS,
    ToolName::LIST_PAGE_TOOLS,
    ToolName::CALL_PAGE_TOOL,
    ToolName::MORE_TOOLS,
    ToolName::CONNECTION_STATUS,
];

/// The tools of a connected session. Each state has a longer prefix of this list than the one before.
const CONNECTED: [ToolName; 4] = [
    ToolName::LIST_TABS,
    ToolName::OPEN_TAB,
    ToolName::FOCUS_TAB,
    ToolName::CLOSE_TAB,
];
