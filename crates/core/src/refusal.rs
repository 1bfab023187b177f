//! Why a call was not carried out, in sentences that name the next call to make.

use crate::{TabId, TabRef, ToolName};
use std::fmt;
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
    /// The page action is not offered to this session.
    #[error("{tool} is not offered in this session. Fetch the tool list to see what is.")]
    NotOffered {
        /// The tool that was called.
        tool: ToolName,
    },
    /// The agent named a tab that is not there.
    #[error("There is no tab {given}. {}Call list_tabs to see the tabs.", Available(.available))]
    UnknownTab {
        /// What the agent wrote.
        given: TabRef,
        /// The tabs it could have meant.
        available: Vec<TabId>,
    },
    /// The tab vanished before the call was done.
    #[error(
        "{tool} was not finished because {lost}. Call list_tabs to see the tabs that are left."
    )]
    TabLost {
        /// The tool that was called.
        tool: ToolName,
        /// The tab that vanished.
        lost: LostTab,
    },
    /// The browser vanished before the call was done.
    #[error(
        "{tool} was not finished because the browser is gone: {reason}. Call connect_browser to connect again."
    )]
    BrowserLost {
        /// The tool that was called.
        tool: ToolName,
        /// Why it is gone.
        reason: String,
    },
    /// The tab that was being opened vanished, or never came.
    #[error("The new tab was gone before it had loaded. Call open_tab again.")]
    NotOpened,
    /// The call took longer than it may.
    #[error("{tool} was stopped: it had not finished after {}. {stuck}", Seconds(*.limit))]
    TooLate {
        /// The tool that was called.
        tool: ToolName,
        /// How long it was allowed to take.
        limit: Duration,
        /// What it was waiting for.
        stuck: Stuck,
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

/// A tab that vanished by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostTab {
    /// Its number.
    pub tab: TabId,
    /// Whether it crashed.
    pub crashed: bool,
}

/// What a call that came too late was waiting for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stuck {
    /// The browser, to be connected.
    Connecting,
    /// The browser, to tell about its tabs.
    Listing,
    /// A new tab, to load.
    Opening,
    /// Its own work on a tab.
    Working(TabId),
    /// Earlier calls on the same tab.
    Queueing(TabId),
}

impl fmt::Display for LostTab {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tab, crashed } = self;
        let fate = if *crashed { "crashed" } else { "was closed" };
        write!(f, "tab {tab} {fate}")
    }
}

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connecting => {
                f.write_str("Check that the browser responds, then call connect_browser again.")
            }
            Self::Listing => {
                f.write_str("Check that the browser responds, then call list_tabs again.")
            }
            Self::Opening => f.write_str("Check the address, then call open_tab again."),
            Self::Working(tab) => write!(
                f,
                "Call it again, or call close_tab if tab {tab} no longer responds."
            ),
            Self::Queueing(tab) => write!(
                f,
                "Earlier calls on tab {tab} kept it waiting. Call it again when they have finished, \
                 or call close_tab if the tab no longer responds."
            ),
        }
    }
}

struct Loss(Option<LostTab>);

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => f.write_str("none is focused"),
            Some(lost) => lost.fmt(f),
        }
    }
}

struct Available<'a>(&'a [TabId]);

impl fmt::Display for Available<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (shown, more) = self.0.split_at(self.0.len().min(MOST_TABS_NAMED));
        let Some((first, others)) = shown.split_first() else {
            return Ok(());
        };
        write!(f, "Available tabs: {first}")?;
        for tab in others {
            write!(f, ", {tab}")?;
        }
        if !more.is_empty() {
            write!(f, " and {} more", more.len())?;
        }
        f.write_str(". ")
    }
}

struct Seconds(Duration);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} s", self.0.as_secs_f64())
    }
}

const MOST_TABS_NAMED: usize = 20;
