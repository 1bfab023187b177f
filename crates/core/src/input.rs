//! What happens to the core: everything a client, a browser or the driver can tell it.

use crate::{
    BrowserId, CallId, ConnectFailure, ConnectionId, DocumentId, Meant, PageId, Place, RequestId,
    SchemaId, SessionConfig, SessionId, Source, TabRef, TargetId, ToolKey, ToolName, Veil,
};
use std::sync::Arc;
use std::time::Duration;

/// One thing that happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// A client arrived.
    SessionOpened {
        /// The new session.
        session: SessionId,
        /// What it is like.
        config: SessionConfig,
    },
    /// A client left. Its calls are aborted, the tabs it created are closed if it wanted that, and its
    /// other tabs are free.
    SessionClosed {
        /// The session that is over.
        session: SessionId,
    },
    /// A client may see other pages than before.
    VeilChanged {
        /// The session.
        session: SessionId,
        /// What it may not see from now on.
        veil: Veil,
    },
    /// A session follows the user from now on, or no longer does: the person wants it so.
    FollowChanged {
        /// The session.
        session: SessionId,
        /// Whether its focus goes to the tab that the user turns to.
        follows: bool,
    },
    /// A client calls a tool; its arguments are well-formed and stay with the driver.
    Call {
        /// The driver's name for the call.
        call: CallId,
        /// Who calls.
        session: SessionId,
        /// The client's name for the call.
        request: RequestId,
        /// What it calls.
        kind: CallKind,
        /// The number of the browser that the agent named.
        browser: Option<i64>,
        /// The `timeout` argument, where the tool has one.
        timeout: Option<Duration>,
    },
    /// A client no longer wants an answer.
    Cancel {
        /// Who called.
        session: SessionId,
        /// The client's name for the call.
        request: RequestId,
    },
    /// [`Output::Connect`](crate::Output::Connect) succeeded.
    Connected {
        /// The browser that was meant.
        browser: BrowserId,
        /// What it is.
        about: BrowserFacts,
        /// All its tabs: the list is complete.
        tabs: Vec<TabFacts>,
        /// The tab that the user has in front, if that is known.
        front: Option<TargetId>,
    },
    /// [`Output::Connect`](crate::Output::Connect) failed.
    ConnectFailed {
        /// The browser that was meant.
        browser: BrowserId,
        /// Why, in the agent's terms.
        failure: ConnectFailure,
    },
    /// A connected browser is no longer there.
    BrowserGone {
        /// Which one.
        browser: BrowserId,
        /// Why, as the end of the sentence "The browser is gone: …".
        reason: String,
    },
    /// The connection to a browser ended, and the browser is probably still there with its tabs: sessions
    /// have them again when it is back.
    ConnectionLost {
        /// Which one.
        browser: BrowserId,
        /// Why, as the end of the sentence "The browser is gone: …".
        reason: String,
    },
    /// A browser that is not connected can be reached. It is connected now if sessions have tabs there.
    Reachable {
        /// Which one.
        browser: BrowserId,
    },
    /// A connected browser has a new tab.
    TabAppeared {
        /// Where.
        browser: BrowserId,
        /// What is known about it.
        tab: TabFacts,
        /// Who made it.
        origin: Origin,
    },
    /// A tab's address or title is another one now.
    TabChanged {
        /// Where.
        browser: BrowserId,
        /// What is known about it now.
        tab: TabFacts,
    },
    /// A tab is closed, or its renderer died.
    TabGone {
        /// Where.
        browser: BrowserId,
        /// Which tab.
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
    /// A worker of the page library is gone, and its tabs with it.
    PagesDisconnected {
        /// Which one.
        connection: ConnectionId,
    },
    /// A tab with the page library is there, or its address, title or document is another one now. A new
    /// document has no tools yet.
    PageAppeared {
        /// Whose connection it is.
        connection: ConnectionId,
        /// What is known about it.
        page: PageFacts,
    },
    /// A tab with the page library is closed, or shows a page without the library.
    PageGone {
        /// Whose connection it was.
        connection: ConnectionId,
        /// Which tab.
        page: PageId,
    },
    /// A tab with the page library turned out to be this tab of a browser.
    PageJoined {
        /// Whose connection it is.
        connection: ConnectionId,
        /// Which tab.
        page: PageId,
        /// Where it is.
        browser: BrowserId,
        /// The browser's name of it.
        target: TargetId,
        /// The browser's document in which the page was found.
        document: DocumentId,
    },
    /// A page registered a tool through the library, or changed it. The same name in the same tab keeps
    /// its key.
    ToolRegistered {
        /// Whose connection it is.
        connection: ConnectionId,
        /// Which tab.
        page: PageId,
        /// The tool.
        tool: ToolFacts,
    },
    /// A page took back a tool that it had registered through the library.
    ToolUnregistered {
        /// Whose connection it is.
        connection: ConnectionId,
        /// Which tab.
        page: PageId,
        /// The tool.
        key: ToolKey,
    },
    /// All the tools that one source other than the library has for a tab of a browser now. Later
    /// reports replace earlier ones.
    ToolsFound {
        /// Where.
        browser: BrowserId,
        /// Which tab.
        target: TargetId,
        /// The document that they belong to. What is said about an older one is ignored.
        document: DocumentId,
        /// Who says so.
        source: Source,
        /// The tools. The better ones come first, where there may be too many.
        tools: Vec<ToolFacts>,
        /// How many more there are.
        left_out: usize,
    },
    /// A tab of a browser shows another document, which has no tools yet.
    DocumentChanged {
        /// Where.
        browser: BrowserId,
        /// Which tab.
        target: TargetId,
        /// The new document.
        document: DocumentId,
    },
    /// The user has this tab in front now.
    TabActivated {
        /// Where it is.
        tab: Place,
    },
    /// The user no longer has this tab in front.
    TabDeactivated {
        /// Where it is.
        tab: Place,
    },
    /// The person wants all agents to stop: calls that are at work end, and new ones are refused.
    Paused,
    /// The person lets them go on.
    Resumed,
    /// The person wants a tab back: whoever holds it loses it, and its calls end.
    TakenBack {
        /// Where.
        browser: BrowserId,
        /// Which tab.
        target: TargetId,
    },
    /// The person gives a tab to a session, which works there from now on, and takes it from all others.
    Given {
        /// To whom.
        session: SessionId,
        /// Where.
        browser: BrowserId,
        /// Which tab.
        target: TargetId,
    },
    /// The work that an output handed out for a call is over.
    Finished {
        /// The call it was for.
        call: CallId,
        /// How it went.
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
        /// An address that was checked already.
        url: Arc<str>,
        /// Whether the new tab is to be focused.
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
        /// An address that was checked already.
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
        /// Which one.
        tool: ToolName,
        /// How it gets along with other calls on the same tab.
        access: Access,
        /// The tab it is for; `None` is the one that the session is bound to.
        tab: Option<TabRef>,
    },
    /// A tool of a page, called by its own name.
    PageTool {
        /// Which one.
        name: ToolName,
        /// The tab it is for; `None` lets the core choose. It binds the session to nothing.
        tab: Option<TabRef>,
    },
    /// `call_page_tool`: the same, in every mode and state.
    CallPageTool {
        /// Which one.
        name: ToolName,
        /// The tab it is for; `None` lets the core choose. It binds the session to nothing.
        tab: Option<TabRef>,
    },
    /// `list_page_tools`.
    ListPageTools {
        /// The tab whose tools are meant; `None` are all that can be called.
        tab: Option<TabRef>,
    },
    /// `list_browser_tabs`.
    ListBrowserTabs,
    /// `more_tools`.
    MoreTools {
        /// What the agent calls them.
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
        /// Whether to try also while the browser is left alone.
        force: bool,
    },
    /// `add_browser`.
    AddBrowser {
        /// The browser.
        meant: Meant,
    },
    /// `disconnect_browser`.
    DisconnectBrowser,
    /// `select_default_browser`.
    SelectDefaultBrowser,
}

/// How a page action gets along with other calls on the same tab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Changes nothing, so it runs at once, beside whatever else runs.
    Read,
    /// Acts on the page: one at a time, sessions taking turns, in arrival order within a session.
    Act,
    /// Clears the way for others, so it runs at once and however busy the tab is.
    Bypass,
}

/// What a browser is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrowserFacts {
    /// Its product name.
    pub name: Arc<str>,
    /// Its version.
    pub version: Arc<str>,
    /// Whether we launched it: then its blank tabs are nobody's, and not shown until they are used.
    pub launched: bool,
}

/// What is known about a tab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TabFacts {
    /// The browser's name of it.
    pub target: TargetId,
    /// Its address.
    pub url: Arc<str>,
    /// Its title; `None` while it loads and has none yet.
    pub title: Option<Arc<str>>,
    /// Whether it shows an empty page that nobody has used.
    pub blank: bool,
    /// The session in whose own context it is, if it is in one.
    pub context: Option<SessionId>,
}

/// What is known about a tab with the page library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageFacts {
    /// Its own name.
    pub id: PageId,
    /// Its address.
    pub url: Arc<str>,
    /// Its title.
    pub title: Arc<str>,
    /// The document it shows, in the library's count.
    pub document: DocumentId,
}

/// What is known about a tool of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolFacts {
    /// The driver's name for it.
    pub key: ToolKey,
    /// What the page calls it: any text.
    pub name: Arc<str>,
    /// What is published of it.
    pub schema: SchemaId,
    /// Whether it says of itself that it changes nothing.
    pub read_only: bool,
}

/// Who made a tab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The user, or the browser itself.
    Browser,
    /// A page: this is a popup of that tab.
    Popup {
        /// The tab that opened it.
        opener: TargetId,
    },
    /// We did, for an [`Output::OpenTab`](crate::Output::OpenTab).
    Call(CallId),
    /// We did, to keep a browser alive whose last tab is being closed.
    Spare,
}

/// How the work for a call went. Payloads stay with the driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finish {
    /// It was done.
    Done,
    /// The page has no such tool any more, and nothing ran.
    NotBegun,
    /// It was not.
    Failed {
        /// What happened and what to do next, in a sentence for the agent.
        message: String,
    },
}

impl CallKind {
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
