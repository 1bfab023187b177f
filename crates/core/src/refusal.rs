//! Why a call was refused or failed, in sentences that tell the agent which tool to call next.

mod phrases;

pub(crate) use self::phrases::MOST_TABS_NAMED;

use self::phrases::{
    Available, HowToEnable, Index, Indices, Listed, MayHaveRun, OtherModeTool, Seconds,
    TimeoutAdvice, WhichIndex, WhyNoFocus,
};
use crate::{ConnectFailure, LostBrowser, Mode, PersonRefusal, TabId, TabName, TabRef, ToolName};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;

/// A call that did not run, or did not finish. The agent reads its text.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    /// The tool needs a browser.
    #[error("{tool} needs a browser and none is connected. Call connect_browser first.")]
    NotConnected {
        /// The tool that was called.
        tool: ToolName,
    },
    /// The browser of a progressive session is gone.
    #[error(transparent)]
    LostBrowser(#[from] LostBrowser),
    /// The tool needs a browser, and connecting to it failed.
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
    /// The last attempts to connect to the browser failed, and its cooldown is not over.
    #[error(
        "{tool} needs browser {number} ({label}), which could not be reached: {}. tabmux does not retry \
         for another {}; call {RECONNECT} with {}force: true to retry now.",
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
        /// How long the cooldown still lasts.
        left: Duration,
        /// Whether the session has several browsers.
        several: bool,
    },
    /// The agent passed `browserIndex`, but the session has only one browser.
    #[error(
        "browserIndex must NOT be specified when only one browser is connected. Remove the browserIndex \
         parameter from your tool call."
    )]
    IndexForbidden,
    /// The agent passed no `browserIndex`, but the session has several browsers.
    #[error(
        "browserIndex parameter is required when multiple browsers are connected. {}",
        WhichIndex(*.tool, .available, *.mode)
    )]
    IndexRequired {
        /// The tool that was called.
        tool: ToolName,
        /// The valid numbers.
        available: Vec<usize>,
        /// How the session's tools are listed.
        mode: Mode,
    },
    /// The agent passed a `browserIndex` that does not exist.
    #[error(
        "There is no browser {given}. {}{}",
        Indices(.available),
        .mode.browsers_advice()
    )]
    UnknownBrowser {
        /// What the agent wrote.
        given: i64,
        /// The valid numbers.
        available: Vec<usize>,
        /// How the session's tools are listed.
        mode: Mode,
    },
    /// The agent passed `browserIndex`, but a progressive session works in one browser at a time.
    #[error(
        "{tool} works in the browser that connect_browser chose. Remove the browserIndex parameter; \
         connect_browser takes it."
    )]
    IndexMisplaced {
        /// The tool that was called.
        tool: ToolName,
    },
    /// The session has disconnected all of its browsers.
    #[error(
        "{tool} needs a browser, and this session has disconnected all its browsers. Call add_browser first."
    )]
    NoBrowserLeft {
        /// The tool that was called.
        tool: ToolName,
    },
    /// `add_browser` for a browser that the session already has.
    #[error("{label} is already browser {number}. Use list_browsers to see all.")]
    BrowserKnown {
        /// Its number.
        number: usize,
        /// What people call it.
        label: Arc<str>,
    },
    /// The session has reached its limit of browsers.
    #[error("This session already has {limit} browsers. Call disconnect_browser first.")]
    TooManyBrowsers {
        /// How many it may have.
        limit: usize,
    },
    /// `connect_browser` while a browser is connected.
    #[error("A browser is already connected. Call list_tabs to see its tabs.")]
    AlreadyConnected,
    /// The tool needs a tab and none is open.
    #[error("{tool} needs a tab and none is open. Call open_tab first.")]
    NoTabs {
        /// The tool that was called.
        tool: ToolName,
    },
    /// The tool needs a focused tab.
    #[error("{tool} needs a focused tab, and {}. Call focus_tab first; list_tabs shows the tabs.", WhyNoFocus(*.lost))]
    NoFocus {
        /// The tool that was called.
        tool: ToolName,
        /// The focused tab that was lost, if there was one.
        lost: Option<LostTab>,
    },
    /// The agent named another tab than the focused one, on which the tool works.
    #[error("{tool} works on the focused tab, and tab {tab} is not focused. Call focus_tab first.")]
    NotFocused {
        /// The tool that was called.
        tool: ToolName,
        /// The tab that the agent named.
        tab: TabId,
    },
    /// The tab that the session was bound to is lost. Reported once: the next call gets a new tab.
    #[error(
        "{tool} was not carried out: {lost}, and this session worked there. Call {tool} again to work \
         in a new tab, or call select_page to work in another one."
    )]
    BindingLost {
        /// The tool that was called.
        tool: ToolName,
        /// The lost tab.
        lost: LostTab,
    },
    /// The user switched the tool off by a flag.
    #[error(
        "{tool} is switched off in this session by the flags that tabmux was started with. Work with other \
         tools, or ask the user to change them."
    )]
    NotOffered {
        /// The tool that was called.
        tool: ToolName,
    },
    /// The token of the client only allows tools that read.
    #[error(
        "{tool} can change things, and the token of this client allows only tools that read. Work with those, or ask \
         the person who made the token for another one."
    )]
    OnlyReads {
        /// The tool that was called.
        tool: ToolName,
    },
    /// The user switched all tools of a category off by a flag.
    #[error(
        "The tools of the category {category} are switched off in this session by the flags that tabmux was \
         started with. Work with other tools, or ask the user to change them."
    )]
    CategoryOff {
        /// The category, as the agent wrote it.
        category: Arc<str>,
    },
    /// The tool's category has to be enabled first.
    #[error("{tool} belongs to the category {category}. {}", HowToEnable(.category, *.mode))]
    NotAskedFor {
        /// The tool that was called.
        tool: ToolName,
        /// Its category.
        category: Arc<str>,
        /// How the session's tools are listed.
        mode: Mode,
    },
    /// The tool belongs to sessions of the other mode.
    #[error("{tool} is not needed in this session. {}", OtherModeTool(*.tool))]
    OtherList {
        /// The tool that was called.
        tool: ToolName,
    },
    /// The agent named a tab that does not exist.
    #[error(
        "There is no tab {given}. {}Call {} to see the tabs.",
        Available(.available),
        .mode.list_tool()
    )]
    UnknownTab {
        /// What the agent wrote.
        given: TabRef,
        /// The tabs that it can name.
        available: Vec<TabName>,
        /// How the session's tools are listed.
        mode: Mode,
    },
    /// The agent named a tab that another session holds with `--tabPolicy exclusive`.
    #[error(
        "Tab {tab} is held by another session ({holder}), which does not share its tabs. Call {} to see \
         the tabs that you can use.",
        .mode.list_tool()
    )]
    TabHeld {
        /// The tab that the agent named.
        tab: TabId,
        /// What people call the agent of the session that holds it.
        holder: Arc<str>,
        /// How the session's tools are listed.
        mode: Mode,
    },
    /// The session may not access the page.
    #[error("{why}")]
    Hidden {
        /// The reason, and how to change it.
        why: Arc<str>,
    },
    /// No tab has a tool with this name.
    #[error("There is no tool {tool}. Call list_page_tools to see the tools of pages.")]
    UnknownTool {
        /// The tool that was called.
        tool: ToolName,
    },
    /// A generated tool that the session lists, and that its page no longer has.
    #[error(
        "{tool} is gone: the page no longer shows what it was made for. Call list_page_tools to see the page's tools now."
    )]
    ToolGone {
        /// The tool that was called.
        tool: ToolName,
    },
    /// The tab that the call is for does not have the page tool, or no longer has it.
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
        /// The tabs that have the tool; only the first ones if there are many.
        available: Vec<TabName>,
        /// How many more tabs have it.
        more: usize,
        /// Whether the page had started to run it.
        begun: bool,
    },
    /// `close_page` for the last page, which must stay open.
    #[error("Tab {tab} is the last page and stays open. Call new_page first, then close it.")]
    LastPage {
        /// The last tab.
        tab: TabId,
    },
    /// The tab was lost before the call finished.
    #[error(
        "{tool} was not finished because {lost}. Call {} to see the tabs that are left.",
        .mode.list_tool()
    )]
    TabLost {
        /// The tool that was called.
        tool: ToolName,
        /// The lost tab.
        lost: LostTab,
        /// How the session's tools are listed.
        mode: Mode,
    },
    /// The browser was lost before the call finished.
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
    /// The tab that was being opened was lost, or never appeared.
    #[error("The new tab was gone before it had loaded. Call {tool} again.")]
    NotOpened {
        /// The tool that was called.
        tool: ToolName,
    },
    /// The call exceeded its deadline.
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
    /// The tab has reached its limit of calls.
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
    /// The session has reached its limit of calls.
    #[error(
        "This session is busy with {limit} calls. Wait for some of them to finish, then call {tool} again."
    )]
    SessionBusy {
        /// The tool that was called.
        tool: ToolName,
        /// How many calls a session may have.
        limit: usize,
    },
    /// The client reused the id of a call that is not answered yet.
    #[error("A call with this request id is not finished yet. Use another id for each call.")]
    RequestInUse,
    /// The person at the browser stopped the call or changed its tab.
    #[error(transparent)]
    Person(#[from] PersonRefusal),
    /// The session is not open.
    #[error("This session is not open. Start a new one.")]
    NoSession,
    /// The daemon has reached its limit of sessions.
    #[error("There are already {limit} sessions. End one of them, then start this one again.")]
    TooManySessions {
        /// How many sessions there may be.
        limit: usize,
    },
}

/// The tab that a call was for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestedTab {
    /// What the agent wrote.
    Given(String),
    /// The tab's name.
    Named(TabName),
}

/// A tab that was lost without its session closing it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostTab {
    /// Its number.
    pub tab: TabId,
    /// What happened to it.
    pub fate: Fate,
}

/// What happened to a lost tab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It was closed.
    Closed,
    /// Its renderer died.
    Crashed,
    /// Its browser is gone.
    BrowserGone,
    /// It is still open, but the person took it back.
    TakenBack,
}

/// What a call is waiting for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stuck {
    /// A connection to the browser.
    Connecting,
    /// A new tab that is loading.
    Opening,
    /// A tab for its session, which has none yet.
    Settling,
    /// Its own work on this tab.
    Working(TabId),
    /// Earlier calls on this tab.
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
