//! Why a call was not carried out, in sentences that name the next call to make.

mod phrases;

pub(crate) use self::phrases::MOST_TABS_NAMED;

use self::phrases::{
    Available, HowToEnable, Index, Indices, Listed, Loss, MayHaveRun, OtherModeTool, Seconds,
    TimeoutAdvice, WhichIndex,
};
use crate::{
    ConnectFailure, LostBrowser, Mode, PersonRefusal, SessionId, TabId, TabName, TabRef, ToolName,
};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;

/// A call that was not carried out, or not to its end. Its text is for the agent.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    /// The tool needs a browser.
    #[error("{tool} needs a browser and none is connected. Call connect_browser first.")]
    NotConnected {
        /// The tool that was called.
        tool: ToolName,
    },
    /// A progressive session's browser is gone.
    #[error(transparent)]
    LostBrowser(#[from] LostBrowser),
    /// The tool needs a browser, and to get one failed.
    #[error(
        "{tool} needs a browser. {}. {}.",
        .failure.error().trim_end_matches('.'),
        .failure.instructions().trim_end_matches('.')
    )]
    NoBrowser {
        /// The tool that was called.
        tool: ToolName,
        /// Why there is none.
        failure: ConnectFailure,
    },
    /// The browser was tried in vain a moment ago.
    #[error(
        "{tool} needs browser {number} ({label}), which could not be reached: {}. It is tried again in \
         {} at the earliest; call {RECONNECT} with {}force: true to try now.",
        .error.trim_end_matches('.'),
        Seconds(*.left),
        Index { number: *.number, several: *.several }
    )]
    CoolingDown {
        /// The tool that was called.
        tool: ToolName,
        /// The browser's number.
        number: usize,
        /// What people call it.
        label: Arc<str>,
        /// Why it could not be reached.
        error: Arc<str>,
        /// How long it is still left alone.
        left: Duration,
        /// Whether the session has several browsers.
        several: bool,
    },
    /// The agent named a browser, and there is only one.
    #[error(
        "browserIndex must NOT be specified when only one browser is connected. Remove the browserIndex \
         parameter from your tool call."
    )]
    IndexForbidden,
    /// The agent named no browser, and there are several.
    #[error(
        "browserIndex parameter is required when multiple browsers are connected. {}",
        WhichIndex(*.tool, .available, *.mode)
    )]
    IndexRequired {
        /// The tool that was called.
        tool: ToolName,
        /// The numbers it could have meant.
        available: Vec<usize>,
        /// How the session's tools are listed.
        mode: Mode,
    },
    /// The agent named a browser that is not there.
    #[error(
        "There is no browser {given}. {}{}",
        Indices(.available),
        .mode.browsers_advice()
    )]
    UnknownBrowser {
        /// What the agent wrote.
        given: i64,
        /// The numbers it could have meant.
        available: Vec<usize>,
        /// How the session's tools are listed.
        mode: Mode,
    },
    /// A progressive session lives in one browser.
    #[error(
        "{tool} works in the browser that connect_browser chose. Remove the browserIndex parameter; \
         connect_browser takes it."
    )]
    IndexMisplaced {
        /// The tool that was called.
        tool: ToolName,
    },
    /// The session has let go of all its browsers.
    #[error("{tool} needs a browser, and this session has let go of all. Call add_browser first.")]
    NoBrowserLeft {
        /// The tool that was called.
        tool: ToolName,
    },
    /// `add_browser` for one that is there.
    #[error("{label} is browser {number} already. Use list_browsers to see all.")]
    BrowserKnown {
        /// Its number.
        number: usize,
        /// What people call it.
        label: Arc<str>,
    },
    /// Too many browsers in one session.
    #[error("This session has {limit} browsers already. Call disconnect_browser first.")]
    TooManyBrowsers {
        /// How many it may have.
        limit: usize,
    },
    /// `connect_browser` while there is a connection.
    #[error("A browser is already connected. Call list_tabs to see its tabs.")]
    AlreadyConnected,
    /// The tool needs a tab and there is none.
    #[error("{tool} needs a tab and none is open. Call open_tab first.")]
    NoTabs {
        /// The tool that was called.
        tool: ToolName,
    },
    /// The tool needs a focused tab.
    #[error("{tool} needs a focused tab, and {}. Call focus_tab first; list_tabs shows the tabs.", Loss(*.lost))]
    NoFocus {
        /// The tool that was called.
        tool: ToolName,
        /// The tab that was focused and vanished, if that is why.
        lost: Option<LostTab>,
    },
    /// The agent named a tab for a tool that works on the focused one.
    #[error("{tool} works on the focused tab, and that is not tab {tab}. Call focus_tab first.")]
    NotFocused {
        /// The tool that was called.
        tool: ToolName,
        /// The tab that the agent named.
        tab: TabId,
    },
    /// The tab that the session was bound to vanished. Said once: the next call gets a new tab.
    #[error(
        "{tool} was not carried out: {lost}, and this session worked there. Call {tool} again to work \
         in a new tab, or call select_page to work in another one."
    )]
    BindingLost {
        /// The tool that was called.
        tool: ToolName,
        /// The tab that vanished.
        lost: LostTab,
    },
    /// The session's user switched the tool off.
    #[error(
        "{tool} is switched off in this session by the flags that tabmux was started with. Work with other \
         tools, or ask the user to change them."
    )]
    NotOffered {
        /// The tool that was called.
        tool: ToolName,
    },
    /// The same for all tools of a category.
    #[error(
        "The tools of the category {category} are switched off in this session by the flags that tabmux was \
         started with. Work with other tools, or ask the user to change them."
    )]
    CategoryOff {
        /// What the agent calls them.
        category: Arc<str>,
    },
    /// The tool is there for those who ask for its category, and nobody has.
    #[error("{tool} belongs to the category {category}. {}", HowToEnable(.category, *.mode))]
    NotAskedFor {
        /// The tool that was called.
        tool: ToolName,
        /// Its category.
        category: Arc<str>,
        /// How the session's tools are listed.
        mode: Mode,
    },
    /// The tool belongs to sessions with the other kind of list.
    #[error("{tool} is not needed in this session. {}", OtherModeTool(*.tool))]
    OtherList {
        /// The tool that was called.
        tool: ToolName,
    },
    /// The agent named a tab that is not there.
    #[error(
        "There is no tab {given}. {}Call {} to see the tabs.",
        Available(.available),
        .mode.list_tool()
    )]
    UnknownTab {
        /// What the agent wrote.
        given: TabRef,
        /// The tabs it could have meant.
        available: Vec<TabName>,
        /// How the session's tools are listed.
        mode: Mode,
    },
    /// The agent named a tab that another session keeps to itself.
    #[error(
        "Tab {tab} is held by another session, which keeps its tabs to itself. Call {} to see the tabs \
         that are yours or free.",
        .mode.list_tool()
    )]
    TabHeld {
        /// The tab that the agent named.
        tab: TabId,
        /// The session that holds it.
        holder: SessionId,
        /// How the session's tools are listed.
        mode: Mode,
    },
    /// The session may not see the page.
    #[error("{why}")]
    Hidden {
        /// Why not, and what would change it.
        why: Arc<str>,
    },
    /// No tab has a tool of that name.
    #[error("There is no tool {tool}. Call list_page_tools to see the tools of pages.")]
    UnknownTool {
        /// The tool that was called.
        tool: ToolName,
    },
    /// The tab that is meant does not have the page tool, or no longer.
    #[error(
        "Tool '{tool}' not available in tab '{tab}'. Available tabs: {}{}",
        Listed(.available, *.more),
        MayHaveRun(*.begun)
    )]
    NoSuchToolThere {
        /// The tool that was called.
        tool: ToolName,
        /// The tab.
        tab: RequestedTab,
        /// The tabs that have the tool, the first ones if there are many.
        available: Vec<TabName>,
        /// How many more there are.
        more: usize,
        /// Whether the page had begun to carry it out.
        begun: bool,
    },
    /// `close_page` for the last page.
    #[error("Tab {tab} is the last page and stays open. Call new_page first, then close it.")]
    LastPage {
        /// The tab that stays.
        tab: TabId,
    },
    /// The tab vanished before the call was done.
    #[error(
        "{tool} was not finished because {lost}. Call {} to see the tabs that are left.",
        .mode.list_tool()
    )]
    TabLost {
        /// The tool that was called.
        tool: ToolName,
        /// The tab that vanished.
        lost: LostTab,
        /// How the session's tools are listed.
        mode: Mode,
    },
    /// The browser vanished before the call was done.
    #[error(
        "{tool} was not finished because the browser is gone: {reason}. Call {} to connect again.",
        .mode.connect_tool(*.tool)
    )]
    BrowserLost {
        /// The tool that was called.
        tool: ToolName,
        /// Why it is gone.
        reason: String,
        /// How the session's tools are listed.
        mode: Mode,
    },
    /// The tab that was being opened vanished, or never came.
    #[error("The new tab was gone before it had loaded. Call {tool} again.")]
    NotOpened {
        /// The tool that was called.
        tool: ToolName,
    },
    /// The call took longer than it may.
    #[error(
        "{tool} was stopped: it had not finished after {}. {}",
        Seconds(*.limit),
        TimeoutAdvice { tool: *.tool, stuck: *.stuck, mode: *.mode }
    )]
    TooLate {
        /// The tool that was called.
        tool: ToolName,
        /// How long it was allowed to take.
        limit: Duration,
        /// What it was waiting for.
        stuck: Stuck,
        /// How the session's tools are listed.
        mode: Mode,
    },
    /// Too many calls on one tab.
    #[error(
        "Tab {tab} is busy with {limit} calls. Wait for some of them to finish, then call {tool} again."
    )]
    TabBusy {
        /// The tool that was called.
        tool: ToolName,
        /// The busy tab.
        tab: TabId,
        /// How many calls a tab may have.
        limit: usize,
    },
    /// Too many calls of one session.
    #[error(
        "This session is busy with {limit} calls. Wait for some of them to finish, then call {tool} again."
    )]
    SessionBusy {
        /// The tool that was called.
        tool: ToolName,
        /// How many calls a session may have.
        limit: usize,
    },
    /// The client used the name of a call that is not answered yet.
    #[error("A call with this request id is not finished yet. Use another id for each call.")]
    RequestInUse,
    /// The person at the browser has a say, too.
    #[error(transparent)]
    Person(#[from] PersonRefusal),
    /// The session is not open, or no longer.
    #[error("This session is not open. Start a new one.")]
    NoSession,
    /// There are as many sessions as there may be.
    #[error("There are already {limit} sessions. End one of them, then start this one again.")]
    TooManySessions {
        /// How many sessions there may be.
        limit: usize,
    },
}

/// A tab that a call was for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestedTab {
    /// What the agent wrote.
    Given(String),
    /// What we call it.
    Named(TabName),
}

/// A tab that vanished by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostTab {
    /// Its number.
    pub tab: TabId,
    /// What became of it.
    pub fate: Fate,
}

/// What became of a tab that vanished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Somebody closed it.
    Closed,
    /// Its renderer died.
    Crashed,
    /// It went down with its browser.
    BrowserGone,
    /// It is still there, and the person's again.
    TakenBack,
}

/// What a call that came too late was waiting for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stuck {
    /// The browser, to be connected.
    Connecting,
    /// A new tab, to load.
    Opening,
    /// A tab for its session, which had none.
    Settling,
    /// Its own work on a tab.
    Working(TabId),
    /// Earlier calls on the same tab.
    Queueing(TabId),
}

impl fmt::Display for RequestedTab {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Given(text) => f.write_str(text),
            Self::Named(name) => name.fmt(f),
        }
    }
}

impl fmt::Display for LostTab {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tab, fate } = self;
        let fate = match fate {
            Fate::Closed => "was closed",
            Fate::Crashed => "crashed",
            Fate::BrowserGone => "is gone with its browser",
            Fate::TakenBack => "was taken back by the person",
        };
        write!(f, "tab {tab} {fate}")
    }
}

const RECONNECT: ToolName = ToolName::RECONNECT_BROWSER;
