//! The session tools: their names, and the mode that has each.

use crate::{Mode, ToolName};

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
    /// Shows the page tools.
    pub const LIST_PAGE_TOOLS: Self = Self::new("list_page_tools");
    /// Calls a page tool.
    pub const CALL_PAGE_TOOL: Self = Self::new("call_page_tool");
    /// Adds tools to the list of a progressive session.
    pub const MORE_TOOLS: Self = Self::new("more_tools");
    /// Shows the connection status.
    pub const CONNECTION_STATUS: Self = Self::new("browser_get_connection_status");

    /// The names of the session tools: all our tools except the page actions.
    pub fn session_tools() -> impl Iterator<Item = Self> {
        SESSION_TOOLS.iter().map(|(tool, _)| *tool)
    }

    /// Whether sessions of a mode can call this tool, listed or not. Only session tools depend on the mode.
    pub fn exists_in(self, mode: Mode) -> bool {
        let known = SESSION_TOOLS.iter().find(|(tool, _)| *tool == self);
        known.is_none_or(|(_, only)| only.is_none_or(|only| only == mode))
    }
}

/// The session tools, and the mode whose sessions can call each, listed or not; `None`: those of both modes. No page
/// can use these names.
const SESSION_TOOLS: [(ToolName, Option<Mode>); 19] = [
    (ToolName::CONNECT_BROWSER, Some(Mode::Progressive)),
    (ToolName::LIST_TABS, Some(Mode::Progressive)),
    (ToolName::OPEN_TAB, Some(Mode::Progressive)),
    (ToolName::FOCUS_TAB, Some(Mode::Progressive)),
    (ToolName::CLOSE_TAB, Some(Mode::Progressive)),
    (ToolName::MORE_TOOLS, Some(Mode::Progressive)),
    (ToolName::LIST_PAGES, Some(Mode::Static)),
    (ToolName::NEW_PAGE, Some(Mode::Static)),
    (ToolName::SELECT_PAGE, Some(Mode::Static)),
    (ToolName::CLOSE_PAGE, Some(Mode::Static)),
    (ToolName::RECONNECT_BROWSER, Some(Mode::Static)),
    (ToolName::ADD_BROWSER, Some(Mode::Static)),
    (ToolName::DISCONNECT_BROWSER, Some(Mode::Static)),
    (ToolName::SELECT_DEFAULT_BROWSER, Some(Mode::Static)),
    (ToolName::LIST_BROWSERS, None),
    (ToolName::LIST_BROWSER_TABS, None),
    (ToolName::LIST_PAGE_TOOLS, None),
    (ToolName::CALL_PAGE_TOOL, None),
    (ToolName::CONNECTION_STATUS, None),
];
