//! One client: its browser, its focus, and what it was last told about its tools.

use crate::{BrowserId, LostTab, TabId, Time, ToolName};

/// One open session.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) browser: BrowserId,
    /// What it looks at in its browser. `None` until `connect_browser` succeeded, and again once the
    /// browser is gone.
    pub(crate) focus: Option<Focus>,
    /// Whether it is offered the generic page actions.
    pub(crate) page_actions: bool,
    /// The tool list that the client knows of.
    pub(crate) announced: Vec<ToolName>,
    /// When it will be told about changes that it did not ask for, if there are any.
    pub(crate) announce_at: Option<Time>,
}

/// What a connected session looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Focus {
    Nothing,
    /// The focused tab vanished by itself.
    Lost(LostTab),
    On(TabId),
}

impl Session {
    pub(crate) fn new(browser: BrowserId, page_actions: bool, announced: Vec<ToolName>) -> Self {
        Self {
            browser,
            focus: None,
            page_actions,
            announced,
            announce_at: None,
        }
    }

    pub(crate) fn focused_tab(&self) -> Option<TabId> {
        match self.focus {
            Some(Focus::On(tab)) => Some(tab),
            _ => None,
        }
    }
}
