//! The events that the core handles: what clients, browsers, pages and the driver report.

use crate::{
    BrowserId, BrowserRef, CallId, ConnectFailure, ConnectionId, DocumentId, Mode, PageId,
    RequestId, SchemaId, SessionConfig, SessionId, SiteFilter, Source, TabLocation, TabRef,
    TargetId, ToolKey, ToolName,
};
use std::sync::Arc;
use std::time::Duration;

/// One event.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// A client opened a session.
    SessionOpened {
        /// The new session.
        session: SessionId,
        /// Its settings.
        config: SessionConfig,
    },
    /// A session ended. Its calls are aborted, the tabs it created are closed unless [`OnEnd`](crate::OnEnd)
    /// says otherwise, and its other tabs are released.
    SessionClosed {
        /// The session that ended.
        session: SessionId,
    },
    /// A session's site filter changed.
    SiteFilterChanged {
        /// The session.
        session: SessionId,
        /// Which pages it may not see from now on.
        site_filter: SiteFilter,
    },
    /// The person made a session follow the user, or stopped it.
    FollowChanged {
        /// The session.
        session: SessionId,
        /// Whether its focus follows the user's active tab.
        follows: bool,
    },
    /// A client calls a tool. The driver has checked the arguments and keeps them.
    Call {
        /// The call.
        call: CallId,
        /// The session that calls.
        session: SessionId,
        /// The client's id of the call.
        request: RequestId,
        /// The tool, and the arguments that matter to the core.
        kind: CallKind,
        /// The `browserIndex` argument.
        browser: Option<i64>,
        /// The `timeout` argument, where the tool has one.
        timeout: Option<Duration>,
    },
    /// A client cancels a call.
    Cancel {
        /// The session that called.
        session: SessionId,
        /// The client's id of the call.
        request: RequestId,
    },
    /// [`Output::Connect`](crate::Output::Connect) succeeded.
    Connected {
        /// The browser.
        browser: BrowserId,
        /// Its product and version.
        about: BrowserFacts,
        /// All its tabs.
        tabs: Vec<TabFacts>,
        /// The user's active tab, if it is known.
        front: Option<TargetId>,
        /// Whether it replaces one that sessions may have worked in and that is gone, as a grid does.
        replaces: bool,
    },
    /// [`Output::Connect`](crate::Output::Connect) failed.
    ConnectFailed {
        /// The browser.
        browser: BrowserId,
        /// Why, for the agent.
        failure: ConnectFailure,
    },
    /// [`Output::Connect`](crate::Output::Connect) is waiting for its turn, such as in the queue of a grid: calls
    /// that wait for the browser wait longer.
    StillConnecting {
        /// The browser.
        browser: BrowserId,
    },
    /// A connected browser exited or crashed.
    BrowserGone {
        /// The browser.
        browser: BrowserId,
        /// Why, as the end of the sentence "The browser is gone: …".
        reason: String,
    },
    /// The connection to a browser was lost, but the browser probably still runs with its tabs. Sessions get
    /// their tabs back when it reconnects.
    ConnectionLost {
        /// The browser.
        browser: BrowserId,
        /// Why, as the end of the sentence "The browser is gone: …".
        reason: String,
    },
    /// A disconnected browser can be reached. The core reconnects if sessions have tabs there.
    Reachable {
        /// The browser.
        browser: BrowserId,
    },
    /// A connected browser has a new tab.
    TabAppeared {
        /// The browser.
        browser: BrowserId,
        /// Its facts.
        tab: TabFacts,
        /// Who opened it.
        origin: TabOpener,
    },
    /// A tab's address or title changed.
    TabChanged {
        /// The browser.
        browser: BrowserId,
        /// Its new facts.
        tab: TabFacts,
    },
    /// A tab was closed, or its renderer crashed.
    TabGone {
        /// The browser.
        browser: BrowserId,
        /// The tab.
        target: TargetId,
        /// Whether it crashed.
        crashed: bool,
    },
    /// A worker of the page library connected.
    PagesConnected {
        /// The new connection.
        connection: ConnectionId,
        /// The origin of its pages.
        origin: Arc<str>,
    },
    /// A worker of the page library disconnected, and its tabs are gone with it.
    PagesDisconnected {
        /// The connection.
        connection: ConnectionId,
    },
    /// A tab with the page library appeared, or its address, title or document changed. A new document has
    /// no tools yet.
    PageAppeared {
        /// The worker's connection.
        connection: ConnectionId,
        /// Its facts.
        page: PageFacts,
    },
    /// A tab with the page library was closed, or now shows a page without the library.
    PageGone {
        /// The worker's connection.
        connection: ConnectionId,
        /// The tab.
        page: PageId,
    },
    /// A tab with the page library and this tab of a browser are the same tab.
    PageJoined {
        /// The worker's connection.
        connection: ConnectionId,
        /// The tab.
        page: PageId,
        /// The browser.
        browser: BrowserId,
        /// The browser's id of the tab.
        target: TargetId,
        /// The browser's document in which the page was found.
        document: DocumentId,
    },
    /// A page registered or changed a tool through the library. The same name in the same tab keeps its key.
    ToolRegistered {
        /// The worker's connection.
        connection: ConnectionId,
        /// The tab.
        page: PageId,
        /// The tool.
        tool: ToolFacts,
    },
    /// A page unregistered a tool of the library.
    ToolUnregistered {
        /// The worker's connection.
        connection: ConnectionId,
        /// The tab.
        page: PageId,
        /// The tool.
        key: ToolKey,
    },
    /// All the tools that a source other than the library has found in a tab of a browser. A report
    /// replaces the earlier ones of its source.
    ToolsFound {
        /// The browser.
        browser: BrowserId,
        /// The tab.
        target: TargetId,
        /// The document that they belong to. Reports about older documents are ignored.
        document: DocumentId,
        /// The source.
        source: Source,
        /// The tools, the most useful first, because there may be too many.
        tools: Vec<ToolFacts>,
        /// How many more there are.
        left_out: usize,
    },
    /// A tab of a browser shows a new document, which has no tools yet.
    DocumentChanged {
        /// The browser.
        browser: BrowserId,
        /// The tab.
        target: TargetId,
        /// The new document.
        document: DocumentId,
    },
    /// This tab is the user's active tab now.
    TabActivated {
        /// The tab.
        tab: TabLocation,
    },
    /// This tab is no longer the user's active tab.
    TabDeactivated {
        /// The tab.
        tab: TabLocation,
    },
    /// The person paused all agents: running calls end, and new ones are refused.
    Paused,
    /// The person resumed all agents.
    Resumed,
    /// The person took a tab back: its holders lose it, and the calls on it end.
    TakenBack {
        /// The browser.
        browser: BrowserId,
        /// The tab.
        target: TargetId,
    },
    /// The person gave a tab to a session, which works there from now on. All other sessions lose it.
    Given {
        /// The session that gets it.
        session: SessionId,
        /// The browser.
        browser: BrowserId,
        /// The tab.
        target: TargetId,
    },
    /// The driver finished the work of an output for a call.
    Finished {
        /// The call.
        call: CallId,
        /// The outcome.
        outcome: Finish,
    },
}

/// What a client calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallKind {
    /// `connect_browser`.
    ConnectBrowser {
        /// Whether a browser may be launched if none is found.
        launch: bool,
    },
    /// `list_tabs`.
    ListTabs,
    /// `open_tab`.
    OpenTab {
        /// The address, already checked.
        url: Arc<str>,
        /// Whether to focus the new tab.
        focus: bool,
    },
    /// `focus_tab`.
    FocusTab {
        /// The tab to focus.
        tab: TabRef,
    },
    /// `close_tab`.
    CloseTab {
        /// The tab to close; `None` is the focused one.
        tab: Option<TabRef>,
    },
    /// `list_pages`.
    ListPages,
    /// `new_page`.
    NewPage {
        /// The address, already checked.
        url: Arc<str>,
    },
    /// `select_page`.
    SelectPage {
        /// The tab to bind the session to.
        tab: TabRef,
    },
    /// `close_page`.
    ClosePage {
        /// The tab to close.
        tab: TabRef,
    },
    /// A page action.
    Page {
        /// The tool.
        tool: ToolName,
        /// Whether it can run at the same time as other calls on its tab.
        access: Access,
        /// The tab; `None` is the one that the session is bound to.
        tab: Option<TabRef>,
    },
    /// A page tool, called by its own name.
    PageTool {
        /// The tool.
        name: ToolName,
        /// The tab; `None` lets the core choose. The session is not bound to it.
        tab: Option<TabRef>,
    },
    /// `call_page_tool`: a page tool, in every mode and state.
    CallPageTool {
        /// The tool.
        name: ToolName,
        /// The tab; `None` lets the core choose. The session is not bound to it.
        tab: Option<TabRef>,
    },
    /// `list_page_tools`.
    ListPageTools {
        /// The tab whose tools to list; `None` lists all that the session can call.
        tab: Option<TabRef>,
    },
    /// `list_browser_tabs`.
    ListBrowserTabs,
    /// `more_tools`.
    MoreTools {
        /// The category, as the agent wrote it.
        category: Arc<str>,
        /// The page actions of that category.
        tools: Vec<ToolName>,
    },
    /// `browser_get_connection_status`.
    ConnectionStatus,
    /// `list_browsers`.
    ListBrowsers,
    /// `reconnect_browser`.
    ReconnectBrowser {
        /// Whether to ignore the cooldown.
        force: bool,
    },
    /// `add_browser`.
    AddBrowser {
        /// The browser.
        wanted: BrowserRef,
    },
    /// `disconnect_browser`.
    DisconnectBrowser,
    /// `select_default_browser`.
    SelectDefaultBrowser,
}

/// Whether a page action can run at the same time as other calls on its tab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Changes nothing: runs at once, in parallel with all others.
    Read,
    /// Acts on the page: one call at a time. Sessions take turns; the calls of a session run in order.
    Act,
    /// Unblocks other calls, for example by closing a dialog: runs at once, however busy the tab is.
    Bypass,
}

/// A browser's product and version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrowserFacts {
    /// Its product name.
    pub name: Arc<str>,
    /// Its version.
    pub version: Arc<str>,
    /// Whether tabmux launched it: then its blank tabs are hidden from sessions until they are used.
    pub launched: bool,
}

/// What is known about a tab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TabFacts {
    /// The browser's id of it.
    pub target: TargetId,
    /// Its address.
    pub url: Arc<str>,
    /// Its title; `None` while it loads and has none yet.
    pub title: Option<Arc<str>>,
    /// Whether it shows an empty page.
    pub blank: bool,
    /// The session whose isolated browser context it is in, if any.
    pub context: Option<SessionId>,
}

/// What is known about a tab with the page library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageFacts {
    /// The id that it gave itself.
    pub id: PageId,
    /// Its address.
    pub url: Arc<str>,
    /// Its title.
    pub title: Arc<str>,
    /// The document it shows, as the library counts documents.
    pub document: DocumentId,
}

/// What is known about a page tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolFacts {
    /// The driver's key of it.
    pub key: ToolKey,
    /// The name that the page gave it: any text.
    pub name: Arc<str>,
    /// Its published content.
    pub schema: SchemaId,
    /// Whether it declares itself read-only.
    pub read_only: bool,
}

/// Who opened a tab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TabOpener {
    /// The user, or the browser itself.
    Browser,
    /// A page: the tab is a popup.
    Popup {
        /// The tab that opened it.
        opener: TargetId,
    },
    /// tabmux, for an [`Output::OpenTab`](crate::Output::OpenTab).
    Call(CallId),
    /// tabmux, to keep a browser alive whose last tab is being closed.
    Spare,
}

/// The outcome of the work for a call. The driver keeps the payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finish {
    /// It succeeded.
    Done,
    /// The page no longer has the tool, and nothing ran.
    NotBegun,
    /// It failed.
    Failed {
        /// What happened and what to do next, in a sentence for the agent.
        message: String,
    },
}

impl CallKind {
    /// Whether sessions of a mode can make this call.
    pub fn exists_in(&self, mode: Mode) -> bool {
        match self {
            // Pages choose the names of their tools.
            Self::PageTool { .. } => true,
            _ => self.tool().exists_in(mode),
        }
    }

    /// The tool's published name.
    pub fn tool(&self) -> ToolName {
        match self {
            Self::ConnectBrowser { .. } => ToolName::CONNECT_BROWSER,
            Self::ListTabs => ToolName::LIST_TABS,
            Self::OpenTab { .. } => ToolName::OPEN_TAB,
            Self::FocusTab { .. } => ToolName::FOCUS_TAB,
            Self::CloseTab { .. } => ToolName::CLOSE_TAB,
            Self::ListPages => ToolName::LIST_PAGES,
            Self::NewPage { .. } => ToolName::NEW_PAGE,
            Self::SelectPage { .. } => ToolName::SELECT_PAGE,
            Self::ClosePage { .. } => ToolName::CLOSE_PAGE,
            Self::ConnectionStatus => ToolName::CONNECTION_STATUS,
            Self::ListBrowsers => ToolName::LIST_BROWSERS,
            Self::ReconnectBrowser { .. } => ToolName::RECONNECT_BROWSER,
            Self::AddBrowser { .. } => ToolName::ADD_BROWSER,
            Self::DisconnectBrowser => ToolName::DISCONNECT_BROWSER,
            Self::SelectDefaultBrowser => ToolName::SELECT_DEFAULT_BROWSER,
            Self::Page { tool, .. } => *tool,
            Self::PageTool { name, .. } => *name,
            Self::CallPageTool { .. } => ToolName::CALL_PAGE_TOOL,
            Self::ListPageTools { .. } => ToolName::LIST_PAGE_TOOLS,
            Self::ListBrowserTabs => ToolName::LIST_BROWSER_TABS,
            Self::MoreTools { .. } => ToolName::MORE_TOOLS,
        }
    }
}
