//! What the core wants done: work for the driver, answers and notices for clients.

use crate::{
    BrowserId, BrowserKey, CallId, ConnectFailure, Refusal, RequestId, SessionId, TabId, TargetId,
    ToolName,
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
    /// `Origin::Call` as soon as there is a tab, and then by `Finished`.
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
    /// Wait until a tab has loaded and can be described. Answered by `Finished`.
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
    /// Run a page action on a tab. Answered by `Finished`.
    Run {
        /// The call this is for.
        call: CallId,
        /// Where.
        browser: BrowserId,
        /// Which tab.
        target: TargetId,
    },
    /// Stop working for a call: nobody wants the result any more. `Finished` may follow or not.
    Abort {
        /// The call that is over.
        call: CallId,
    },
    /// Close a tab that was opened for a call that came to nothing. Needs no answer but `TabGone`.
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

/// The one answer of a call.
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
    /// `open_tab`.
    Opened {
        /// The new tab.
        tab: TabRow,
        /// The names of its page-specific tools; none unless it was focused.
        tools: Vec<ToolName>,
    },
    /// `focus_tab`.
    Focused {
        /// The focused tab.
        tab: TabRow,
        /// The names of its page-specific tools.
        tools: Vec<ToolName>,
        /// Whether another session holds this tab too.
        shared: bool,
    },
    /// `close_tab`.
    Closed {
        /// The tab that is gone.
        tab: TabId,
    },
    /// A page action came to its end; the driver has what it answered.
    Done,
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
    /// Its title, or `Loading...` until it has one.
    pub title: Arc<str>,
    /// Its address.
    pub url: Arc<str>,
    /// Whether the session has its tools.
    pub focused: bool,
    /// How many page-specific tools appear when it is focused.
    pub tool_count: usize,
}
