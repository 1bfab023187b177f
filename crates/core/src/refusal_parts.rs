//! Parts of the sentences with which calls are refused.

use crate::refusal::MOST_TABS_NAMED;
use crate::{LostTab, Mode, TabName, ToolName};
use std::fmt;
use std::time::Duration;

/// What a session with the one kind of list calls where one with the other kind would call this tool.
pub(crate) struct Counterpart(pub(crate) ToolName);

impl fmt::Display for Counterpart {
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
                return f.write_str("Its list has every tool that its flags ask for.");
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

/// How the tools of a category are asked for.
pub(crate) struct Asking<'a>(pub(crate) &'a str, pub(crate) Mode);

impl fmt::Display for Asking<'_> {
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

/// `browserIndex: 2, ` where it is needed.
pub(crate) struct Index {
    pub(crate) number: usize,
    pub(crate) several: bool,
}

impl fmt::Display for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.several {
            true => write!(f, "browserIndex: {}, ", self.number),
            false => Ok(()),
        }
    }
}

pub(crate) struct Indices<'a>(pub(crate) &'a [usize]);

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

pub(crate) struct Loss(pub(crate) Option<LostTab>);

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => f.write_str("none is focused"),
            Some(lost) => lost.fmt(f),
        }
    }
}

pub(crate) struct Available<'a>(pub(crate) &'a [TabName]);

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

/// Tabs, and how many more there are.
pub(crate) struct Listed<'a>(pub(crate) &'a [TabName], pub(crate) usize);

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

pub(crate) struct Begun(pub(crate) bool);

impl fmt::Display for Begun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            true => f.write_str(
                ". The tab went away while the tool ran; look before you call it again.",
            ),
            false => Ok(()),
        }
    }
}

pub(crate) struct Seconds(pub(crate) Duration);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} s", self.0.as_secs_f64())
    }
}
