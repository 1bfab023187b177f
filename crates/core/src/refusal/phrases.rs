//! The variable parts of refusals: numbers, tabs, and the tool to call next.

use super::{LostTab, Stuck};
use crate::{Mode, TabName, ToolName};
use std::fmt;
use std::time::Duration;

/// Which tool to call instead of a tool of the other mode.
pub(super) struct OtherModeTool(pub(super) ToolName);

impl fmt::Display for OtherModeTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let instead = match self.0 {
            ToolName::LIST_TABS => ToolName::LIST_PAGES,
            ToolName::OPEN_TAB => ToolName::NEW_PAGE,
            ToolName::FOCUS_TAB => ToolName::SELECT_PAGE,
            ToolName::CLOSE_TAB => ToolName::CLOSE_PAGE,
            ToolName::LIST_PAGES => ToolName::LIST_TABS,
            ToolName::NEW_PAGE => ToolName::OPEN_TAB,
            ToolName::SELECT_PAGE => ToolName::FOCUS_TAB,
            ToolName::CLOSE_PAGE => ToolName::CLOSE_TAB,
            ToolName::RECONNECT_BROWSER => ToolName::CONNECT_BROWSER,
            ToolName::MORE_TOOLS => {
                return f.write_str("Its list already has every tool that its flags enable.");
            }
            ToolName::CONNECT_BROWSER => {
                let next = ToolName::LIST_PAGES;
                return write!(
                    f,
                    "Every tool connects to the browser by itself; call {next}."
                );
            }
            _ => {
                let next = ToolName::CONNECT_BROWSER;
                return write!(f, "It works in the browser that {next} chose.");
            }
        };
        write!(f, "Call {instead} instead.")
    }
}

/// How to enable the tools of a category.
pub(super) struct HowToEnable<'a>(pub(super) &'a str, pub(super) Mode);

impl fmt::Display for HowToEnable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(category, mode) = self;
        match mode {
            Mode::Progressive => {
                let tool = ToolName::MORE_TOOLS;
                write!(f, "Call {tool} with category: \"{category}\" first.")
            }
            Mode::Static => write!(
                f,
                "Ask the user to start tabmux with {category} among its --categories."
            ),
        }
    }
}

/// What to do after a call exceeded its deadline.
pub(super) struct TimeoutAdvice {
    pub(super) tool: ToolName,
    pub(super) stuck: Stuck,
    pub(super) mode: Mode,
}

impl fmt::Display for TimeoutAdvice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tool, stuck, mode } = self;
        let escape = mode.escape_tool();
        match stuck {
            Stuck::Connecting => write!(
                f,
                "Check that the browser responds, then call {tool} again."
            ),
            Stuck::Opening => write!(f, "Check the address, then call {tool} again."),
            Stuck::Settling => write!(
                f,
                "No tab could be opened for it. Check that the browser responds, then call {tool} again."
            ),
            Stuck::Working(tab) => write!(
                f,
                "Call it again, or call {escape} if tab {tab} no longer responds."
            ),
            Stuck::Queueing(tab) => write!(
                f,
                "Earlier calls on tab {tab} kept it waiting. Call it again when they have finished, \
                 or call {escape} if the tab no longer responds."
            ),
        }
    }
}

/// The tools that refusals recommend.
impl Mode {
    pub(super) fn list_tool(self) -> ToolName {
        match self {
            Self::Progressive => ToolName::LIST_TABS,
            Self::Static => ToolName::LIST_PAGES,
        }
    }

    /// How to see the browsers. A progressive session has no tool for it.
    pub(super) fn browsers_advice(self) -> &'static str {
        match self {
            Self::Progressive => "Call connect_browser again with one of them.",
            Self::Static => "Use list_browsers to see them.",
        }
    }

    /// In static mode every tool connects by itself.
    pub(super) fn connect_tool(self, called: ToolName) -> ToolName {
        match self {
            Self::Progressive => ToolName::CONNECT_BROWSER,
            Self::Static => called,
        }
    }

    /// How to get away from a tab that no longer responds. In static mode by `new_page`, because the last page
    /// cannot be closed.
    pub(super) fn escape_tool(self) -> ToolName {
        match self {
            Self::Progressive => ToolName::CLOSE_TAB,
            Self::Static => ToolName::NEW_PAGE,
        }
    }
}

/// `browserIndex: 2, ` if the session has several browsers.
pub(super) struct Index {
    pub(super) number: usize,
    pub(super) several: bool,
}

impl fmt::Display for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.several {
            true => write!(f, "browserIndex: {}, ", self.number),
            false => Ok(()),
        }
    }
}

/// How to find the right `browserIndex`.
pub(super) struct WhichIndex<'a>(pub(super) ToolName, pub(super) &'a [usize], pub(super) Mode);

impl fmt::Display for WhichIndex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(tool, available, mode) = self;
        match mode {
            Mode::Static => write!(
                f,
                "Use list_browsers to see available browser indices, then call {tool} again."
            ),
            Mode::Progressive => {
                write!(
                    f,
                    "{}Call {tool} again with one of them.",
                    Indices(available)
                )
            }
        }
    }
}

pub(super) struct Indices<'a>(pub(super) &'a [usize]);

impl fmt::Display for Indices<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((first, others)) = self.0.split_first() else {
            return Ok(());
        };
        write!(f, "Available browsers: {first}")?;
        for number in others {
            write!(f, ", {number}")?;
        }
        f.write_str(". ")
    }
}

/// Why no tab is focused.
pub(super) struct WhyNoFocus(pub(super) Option<LostTab>);

impl fmt::Display for WhyNoFocus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => f.write_str("none is focused"),
            Some(lost) => lost.fmt(f),
        }
    }
}

pub(super) struct Available<'a>(pub(super) &'a [TabName]);

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

/// Some tabs, and how many more there are.
pub(super) struct Listed<'a>(pub(super) &'a [TabName], pub(super) usize);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((first, others)) = self.0.split_first() else {
            return f.write_str("none");
        };
        write!(f, "{first}")?;
        for tab in others {
            write!(f, ", {tab}")?;
        }
        match self.1 {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

pub(super) struct MayHaveRun(pub(super) bool);

impl fmt::Display for MayHaveRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            true => f.write_str(
                ". The tab closed or navigated while the tool ran, and it may have had effects; check \
                 before you call it again.",
            ),
            false => Ok(()),
        }
    }
}

pub(super) struct Seconds(pub(super) Duration);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} s", self.0.as_secs_f64())
    }
}

pub(crate) const MOST_TABS_NAMED: usize = 20;
