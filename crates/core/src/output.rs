//! What the core wants done: work for the driver, answers and notices for clients.

use crate::{
    BrowserId, BrowserKey, BrowserState, CallId, ConnectFailure, ConnectionId, PageId, PageRefusal,
    Place, Reason, Refusal, RequestId, SchemaId, SessionId, Source, TabId, TabName, TargetId, Time,
    ToolKey, ToolName,
};
use std::sync::Arc;

/// One thing for the driver to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Connect to a browser. Answered by `Connected` or `ConnectFailed`.
    Connect {
        /// The core's name for it, used from now on.
        browser: BrowserId,
        /// The browser that sessions mean.
        key: BrowserKey,
        /// Whether to launch one if none is found.
        launch: bool,
        /// Whether to run its start command if it cannot be reached.
        start: bool,
    },
    /// Let go of a browser: no session means it any more. Needs no answer.
    Disconnect {
        /// Which one.
        browser: BrowserId,
    },
    /// Ask a browser how its tabs are called now, because it does not tell by itself when a title
    /// changes. Answered by `TabChanged` for those that are called otherwise, and then by `Finished`.
    Refresh {
        /// The call this is for.
        call: CallId,
        /// Where.
        browser: BrowserId,
    },
    /// Open a tab, navigate it, wait until it has loaded. Answered by `TabAppeared` with
    /// `Origin::Call` as soon as there is a tab, and then by `Finished`. A page action whose session
    /// has no tab yet gets one this way first, and its `Run` after that.
    OpenTab {
        /// The call this is for.
        call: CallId,
        /// Where.
        browser: BrowserId,
        /// What to show.
        url: Arc<str>,
        /// Whether the session will focus it.
        focus: bool,
    },
    /// Wait until a tab that will be focused has loaded and can be described. Answered by `Finished`.
    PrepareFocus {
        /// The call this is for.
        call: CallId,
        /// Where.
        browser: BrowserId,
        /// Which tab.
        target: TargetId,
    },
    /// Close a tab because its agent says so. Answered by `TabGone`, or by `Finished`.
    CloseTab {
        /// The call this is for.
        call: CallId,
        /// Where.
        browser: BrowserId,
        /// Which tab.
        target: TargetId,
        /// Whether the browser keeps no other tab, so that a spare one must be opened first.
        last: bool,
    },
    /// Run a page action on a tab, which is held but may still be loading. Answered by `Finished`.
    Run {
        /// The call this is for.
        call: CallId,
        /// Where.
        browser: BrowserId,
        /// Which tab.
        target: TargetId,
    },
    /// Run a tool of a page, in this tab and no other. Answered by `Finished`.
    RunTool {
        /// The call this is for.
        call: CallId,
        /// Where: behind the worker for tools of the library, else in the browser.
        place: Place,
        /// Which tool.
        tool: ToolKey,
        /// What the page calls it.
        name: Arc<str>,
        /// Why it runs there.
        reason: Reason,
    },
    /// Forget that a page was told to run a tool: it went away and never began. The tool is run elsewhere,
    /// and only what comes from there counts.
    TakeBack {
        /// The call this is for.
        call: CallId,
    },
    /// Tell a worker that its connection is not wanted. Whatever it says is ignored.
    PagesRefused {
        /// Which one.
        connection: ConnectionId,
        /// What to tell it.
        refusal: PageRefusal,
    },
    /// Tell a worker that a tab of it is not taken in. Whatever it says about that tab is ignored.
    PageRefused {
        /// Whose connection it is.
        connection: ConnectionId,
        /// Which tab.
        page: PageId,
        /// What to tell it.
        refusal: PageRefusal,
    },
    /// Tools of a tab are left out, and cannot be called.
    ToolsRefused {
        /// Where.
        place: Place,
        /// Who offered them.
        source: Source,
        /// Which ones.
        tools: Vec<ToolKey>,
        /// Why.
        refusal: PageRefusal,
    },
    /// Stop working for a call: nobody wants the result any more. `Finished` may follow or not.
    Abort {
        /// The call that is over.
        call: CallId,
    },
    /// Close a tab that nobody needs any more: the call it was opened for came to nothing, or the
    /// session that created it is over. Needs no answer but `TabGone`.
    Discard {
        /// Where.
        browser: BrowserId,
        /// Which tab.
        target: TargetId,
        /// Whether the browser keeps no other tab, so that a spare one must be opened first.
        last: bool,
    },
    /// A tab is held by a session now. It is until `Release`, or until it is gone or discarded.
    Hold {
        /// Where.
        browser: BrowserId,
        /// Which tab.
        target: TargetId,
    },
    /// A tab is held by no session any more.
    Release {
        /// Where.
        browser: BrowserId,
        /// Which tab.
        target: TargetId,
    },
    /// Answer a call. Exactly one per call.
    Reply {
        /// The driver's name for the call.
        call: CallId,
        /// Who called.
        session: SessionId,
        /// The client's name for the call.
        request: RequestId,
        /// The answer.
        reply: Reply,
        /// The call's browser, if that was lost and is back and the session was not told yet.
        renewed: Option<Renewed>,
    },
    /// Tell a session that its tool list changed, or now means another tab.
    ToolsChanged {
        /// Whom to tell.
        session: SessionId,
    },
    /// A session was not opened because there are too many. Calls of it are refused.
    SessionRefused {
        /// The session that is not open.
        session: SessionId,
        /// What to tell its client.
        refusal: Refusal,
    },
}

/// The one answer of a call. Tabs in it have the numbers that its session knows them by.
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
        /// The one whose tools it has.
        focused: Option<TabId>,
    },
    /// `list_pages`.
    Pages {
        /// The tabs the session sees, oldest first.
        pages: Vec<TabRow>,
        /// The one it is bound to.
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
        /// Whether another session holds this tab too.
        shared: bool,
    },
    /// `close_tab` and `close_page`.
    Closed {
        /// The tab that is gone.
        tab: TabId,
        /// Whether another session held this tab too.
        shared: bool,
    },
    /// `list_browser_tabs`.
    BrowserTabs {
        /// The tabs that have the page library or tools of their own, oldest first.
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
        /// How many more these tabs' pages offer, for which there is no room.
        not_taken: usize,
        /// How many more could be generated from what these tabs show.
        not_generated: usize,
    },
    /// `more_tools`: what the session can call of that category, and has in its list from now on if that
    /// follows the work.
    Added {
        /// What the agent calls them.
        category: Arc<str>,
        /// The tools, by name.
        tools: Vec<ToolName>,
    },
    /// A page action or page tool came to its end; the driver has what it answered.
    Done {
        /// The tab it ran in.
        tab: TabId,
        /// Whether the agent named that tab although another session holds it too.
        shared: bool,
    },
    /// `browser_get_connection_status`: what the core knows of it.
    Status {
        /// Whether the session is connected to its browser.
        connected: bool,
        /// How many sessions are open.
        active_sessions: usize,
        /// The browsers that the session means.
        browsers: Vec<BrowserRow>,
    },
    /// `list_browsers`.
    Browsers {
        /// The browsers that the session means, by their numbers.
        browsers: Vec<BrowserRow>,
    },
    /// `reconnect_browser`, `add_browser` and `select_default_browser`: how the browser is now.
    Browser {
        /// The browser.
        browser: BrowserRow,
    },
    /// `disconnect_browser`.
    Disconnected {
        /// The number that the browser had.
        number: usize,
    },
    /// The work failed, and says so in the driver's words.
    Failed {
        /// A sentence for the agent.
        message: String,
    },
    /// The call was not carried out, or not to its end.
    Refused(Refusal),
    /// The client cancelled the call or left: nothing must be sent to it.
    Cancelled,
}

/// A tab as a session sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TabRow {
    /// Its number.
    pub id: TabId,
    /// Its title, or `Loading...` until it has one; a blank page never has.
    pub title: Arc<str>,
    /// Its address.
    pub url: Arc<str>,
    /// Whether the session is bound to it, which in progressive mode is to have it focused.
    pub focused: bool,
    /// Whether another session holds it.
    pub shared: bool,
    /// How many page-specific tools appear when it is focused.
    pub tool_count: usize,
}

/// A tab whose page has tools, as a session sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageRow {
    /// What agents call it.
    pub name: TabName,
    /// Its address.
    pub url: Arc<str>,
    /// Its title.
    pub title: Arc<str>,
    /// Whether the user has it in front.
    pub active: bool,
    /// When it was last registered, focused or used.
    pub last_seen: Time,
}

/// A tool of a page, in the tab where a call of it would run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolRow {
    /// Its published name.
    pub name: ToolName,
    /// The tab's number.
    pub tab: TabId,
    /// What agents call the tab.
    pub tab_name: TabName,
    /// The tab's address.
    pub url: Arc<str>,
    /// Where the driver finds it.
    pub place: Place,
    /// The driver's name for it.
    pub key: ToolKey,
    /// What is published of it.
    pub schema: SchemaId,
    /// Who says that the page has it.
    pub source: Source,
    /// Whether it says of itself that it changes nothing.
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
    /// Whether calls without a number mean it.
    pub is_default: bool,
    /// Its product name, while it is connected.
    pub name: Option<Arc<str>>,
    /// How far its connection is.
    pub state: BrowserState,
}

/// A browser that was lost and is back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Renewed {
    /// What the session calls it.
    pub number: usize,
    /// Whether it is one that the user named; otherwise it was launched again.
    pub attached: bool,
}
