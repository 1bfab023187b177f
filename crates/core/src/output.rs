//! What the driver must do: work in browsers and pages, answers and notices for clients.

use crate::{
    BrowserId, BrowserKey, BrowserState, CallId, ConnectFailure, ConnectionId, PageId, PageRefusal,
    Reason, Refusal, RequestId, SchemaId, SessionId, Source, TabId, TabLocation, TabName, TargetId,
    Time, ToolKey, ToolName,
};
use std::sync::Arc;

/// One action for the driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Connect to a browser. Answered by `Connected` or `ConnectFailed`.
    Connect {
        /// The id by which the core refers to it from now on.
        browser: BrowserId,
        /// Which browser to connect to.
        key: BrowserKey,
        /// Whether to launch one if none is found.
        launch: bool,
        /// Whether to run its start command if it cannot be reached.
        start: bool,
    },
    /// Disconnect from a browser: no session uses it any more. Needs no answer.
    Disconnect {
        /// The browser.
        browser: BrowserId,
    },
    /// Ask a browser for the titles of its tabs, because it does not report when a title changes.
    /// Answered by `TabChanged` for each tab whose title changed, and then by `Finished`.
    Refresh {
        /// The call this is for.
        call: CallId,
        /// The browser.
        browser: BrowserId,
    },
    /// Open a tab, navigate it, wait until it has loaded. Answered by `TabAppeared` with
    /// `TabOpener::Call` as soon as the tab exists, and then by `Finished`. For a page action whose session
    /// has no tab yet, this comes first and its `Run` follows.
    OpenTab {
        /// The call this is for.
        call: CallId,
        /// The browser.
        browser: BrowserId,
        /// The address to open.
        url: Arc<str>,
        /// Whether the session will focus it.
        focus: bool,
    },
    /// Wait until a tab that will be focused has loaded and can be described. Answered by `Finished`.
    PrepareFocus {
        /// The call this is for.
        call: CallId,
        /// The browser.
        browser: BrowserId,
        /// The tab.
        target: TargetId,
    },
    /// Close a tab because an agent asked for it. Answered by `TabGone`, or by `Finished`.
    CloseTab {
        /// The call this is for.
        call: CallId,
        /// The browser.
        browser: BrowserId,
        /// The tab.
        target: TargetId,
        /// Whether it is the browser's last tab, so that a spare one must be opened first.
        last: bool,
    },
    /// Run a page action on a tab that the session holds; it may still be loading. Answered by `Finished`.
    Run {
        /// The call this is for.
        call: CallId,
        /// The browser.
        browser: BrowserId,
        /// The tab.
        target: TargetId,
    },
    /// Run a tool of a page, in this tab and no other. Answered by `Finished`.
    RunTool {
        /// The call this is for.
        call: CallId,
        /// The tab: reached through the worker for tools of the library, else through the browser.
        place: TabLocation,
        /// The tool.
        tool: ToolKey,
        /// The name that the page gave it.
        name: Arc<str>,
        /// Why this tab was chosen.
        reason: Reason,
    },
    /// Discard a `RunTool`: its page is gone and never started the tool. Another `RunTool` for the same call
    /// follows, and only its result counts.
    TakeBack {
        /// The call this is for.
        call: CallId,
    },
    /// Tell a worker that its connection is refused. The core ignores what it sends.
    PagesRefused {
        /// The connection.
        connection: ConnectionId,
        /// Why.
        refusal: PageRefusal,
    },
    /// Tell a worker that one of its tabs is refused. The core ignores what it sends about that tab.
    PageRefused {
        /// The worker's connection.
        connection: ConnectionId,
        /// The tab.
        page: PageId,
        /// Why.
        refusal: PageRefusal,
    },
    /// Tools of a tab were refused: they are not listed and cannot be called.
    ToolsRefused {
        /// The tab.
        place: TabLocation,
        /// Where they came from.
        source: Source,
        /// The refused tools.
        tools: Vec<ToolKey>,
        /// Why.
        refusal: PageRefusal,
    },
    /// Stop working for a call: its result is no longer needed. `Finished` may follow or not.
    Abort {
        /// The call that is over.
        call: CallId,
    },
    /// Close a tab that is no longer needed: the call it was opened for failed, or the session that
    /// created it ended. Needs no answer but `TabGone`.
    Discard {
        /// The browser.
        browser: BrowserId,
        /// The tab.
        target: TargetId,
        /// Whether it is the browser's last tab, so that a spare one must be opened first.
        last: bool,
    },
    /// A session holds this tab, until `Release` or until it is gone or discarded.
    Hold {
        /// The browser.
        browser: BrowserId,
        /// The tab.
        target: TargetId,
    },
    /// No session holds this tab any more.
    Release {
        /// The browser.
        browser: BrowserId,
        /// The tab.
        target: TargetId,
    },
    /// Answer a call. Each call gets exactly one.
    Reply {
        /// The call.
        call: CallId,
        /// The session that called.
        session: SessionId,
        /// The client's id of the call.
        request: RequestId,
        /// The answer.
        reply: Reply,
        /// The call's browser, if it was lost and reconnected and the session does not know that yet.
        renewed: Option<Renewed>,
        /// Generated tools that appeared on the session's page since its list last changed, if its agent was not
        /// told about them yet.
        appeared: Vec<ToolRow>,
    },
    /// Tell a session that its tool list changed, or now refers to another tab.
    ToolsChanged {
        /// The session.
        session: SessionId,
    },
    /// A session was refused because there are too many. Its calls are refused, too.
    SessionRefused {
        /// The refused session.
        session: SessionId,
        /// Why.
        refusal: Refusal,
    },
}

/// The answer to a call. Its tabs have the session's own numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// `connect_browser`: connected.
    Connected {
        /// The browser's product name.
        name: Arc<str>,
        /// Its version.
        version: Arc<str>,
        /// How many of its tabs the session sees.
        tab_count: usize,
    },
    /// `connect_browser`: not connected.
    NotConnected(ConnectFailure),
    /// `list_tabs`.
    Tabs {
        /// The tabs the session sees, oldest first.
        tabs: Vec<TabRow>,
        /// The tab that it has focused.
        focused: Option<TabId>,
    },
    /// `list_pages`.
    Pages {
        /// The tabs the session sees, oldest first.
        pages: Vec<TabRow>,
        /// The tab that it is bound to.
        selected: Option<TabId>,
    },
    /// `open_tab` and `new_page`.
    Opened {
        /// The new tab.
        tab: TabRow,
        /// The names of its page-specific tools; none unless it was focused.
        tools: Vec<ToolName>,
    },
    /// `focus_tab` and `select_page`.
    Focused {
        /// The focused tab.
        tab: TabRow,
        /// The names of its page-specific tools.
        tools: Vec<ToolName>,
        /// Whether another session holds this tab, too.
        shared: bool,
    },
    /// `close_tab` and `close_page`.
    Closed {
        /// The closed tab.
        tab: TabId,
        /// Whether another session held this tab, too.
        shared: bool,
    },
    /// `list_browser_tabs`.
    BrowserTabs {
        /// The tabs that have the page library or page tools, oldest first.
        tabs: Vec<PageRow>,
        /// How many more there are.
        left_out: usize,
    },
    /// `list_page_tools`.
    PageTools {
        /// The tools, by name.
        tools: Vec<ToolRow>,
        /// How many more there are.
        left_out: usize,
        /// How many more tools these pages offer beyond the limits.
        not_taken: usize,
        /// How many more tools could be generated from these pages.
        not_generated: usize,
    },
    /// `more_tools`: the tools of a category, which a progressive session has in its list from now on.
    Added {
        /// The category, as the agent wrote it.
        category: Arc<str>,
        /// The tools, by name.
        tools: Vec<ToolName>,
    },
    /// A page action or page tool finished; the driver has its result.
    Done {
        /// The tab it ran in.
        tab: TabId,
        /// Whether the agent named this tab and another session holds it, too.
        shared: bool,
    },
    /// `browser_get_connection_status`: the core's part.
    Status {
        /// Whether the session is connected to its browser.
        connected: bool,
        /// How many sessions are open.
        active_sessions: usize,
        /// The session's browsers.
        browsers: Vec<BrowserRow>,
    },
    /// `list_browsers`.
    Browsers {
        /// The session's browsers, by number.
        browsers: Vec<BrowserRow>,
    },
    /// `reconnect_browser`, `add_browser` and `select_default_browser`: the browser's state.
    Browser {
        /// The browser.
        browser: BrowserRow,
    },
    /// `disconnect_browser`.
    Disconnected {
        /// The number that the browser had.
        number: usize,
    },
    /// The work failed; the driver wrote the message.
    Failed {
        /// A sentence for the agent.
        message: String,
    },
    /// The call did not run, or did not finish.
    Refused(Refusal),
    /// The client cancelled the call or disconnected: nothing must be sent to it.
    Cancelled,
}

/// A tab as a session sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TabRow {
    /// Its number.
    pub id: TabId,
    /// Its title, or `Loading...` until it has one. A blank page has its address instead.
    pub title: Arc<str>,
    /// Its address.
    pub url: Arc<str>,
    /// Whether the session is bound to it; in progressive mode this means that it is focused.
    pub focused: bool,
    /// Whether another session holds it.
    pub shared: bool,
    /// How many page tools appear when it is focused.
    pub tool_count: usize,
}

/// A tab whose page has tools, as a session sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageRow {
    /// Its name in texts for agents.
    pub name: TabName,
    /// Its address.
    pub url: Arc<str>,
    /// Its title.
    pub title: Arc<str>,
    /// Whether it is the user's active tab.
    pub active: bool,
    /// When it was last registered, focused or used.
    pub last_seen: Time,
}

/// A page tool, in the tab where a call of it would run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolRow {
    /// Its published name.
    pub name: ToolName,
    /// The tab's number.
    pub tab: TabId,
    /// The tab's name in texts for agents.
    pub tab_name: TabName,
    /// The tab's address.
    pub url: Arc<str>,
    /// The tab, as the driver knows it.
    pub place: TabLocation,
    /// The driver's key of it.
    pub key: ToolKey,
    /// Its published content.
    pub schema: SchemaId,
    /// Where it came from.
    pub source: Source,
    /// Whether it declares itself read-only.
    pub read_only: bool,
}

/// A browser as a session sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrowserRow {
    /// Its number among the session's browsers, from 1.
    pub index: usize,
    /// What people call it.
    pub label: Arc<str>,
    /// Why it is disconnected, if it is.
    pub error: Option<Arc<str>>,
    /// Whether calls without `browserIndex` go to it.
    pub is_default: bool,
    /// Its product name, while it is connected.
    pub name: Option<Arc<str>>,
    /// The state of its connection.
    pub state: BrowserState,
}

/// A browser that was lost and reconnected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Renewed {
    /// Its number in the session.
    pub number: usize,
    /// Whether the user named it by its address; otherwise it was launched again.
    pub attached: bool,
    /// What happened.
    pub renewal: Renewal,
}

/// How a lost browser came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Renewal {
    /// It is connected again, or was started again.
    Reconnected,
    /// A grid has handed out another one.
    Replaced,
}
