//! One client: what it asked for, the tab it is bound to, and what it was last told about its tools.

use crate::{BrowserId, Fate, LostTab, Mode, SessionConfig, TabId, Time, ToolName};

/// One open session.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) config: SessionConfig,
    pub(crate) browser: BrowserId,
    /// What it looks at in its browser. `None` only in progressive mode: until `connect_browser`
    /// succeeded, and again once the browser is gone.
    pub(crate) focus: Option<Focus>,
    /// The tool list that the client knows of.
    pub(crate) announced: Vec<ToolName>,
    /// When it will be told about changes that it did not ask for, if there are any.
    pub(crate) announce_at: Option<Time>,
}

/// What a session looks at. Focusing a tab and being bound to it are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Focus {
    Nothing,
    /// The focused tab vanished by itself.
    Lost(LostTab),
    On(TabId),
}

impl Session {
    pub(crate) fn new(config: SessionConfig, browser: BrowserId) -> Self {
        Self {
            focus: match config.mode {
                Mode::Progressive => None,
                Mode::Static => Some(Focus::Nothing),
            },
            config,
            browser,
            announced: Vec::new(),
            announce_at: None,
        }
    }

    pub(crate) fn is_static(&self) -> bool {
        self.config.mode == Mode::Static
    }

    pub(crate) fn focused_tab(&self) -> Option<TabId> {
        match self.focus {
            Some(Focus::On(tab)) => Some(tab),
            _ => None,
        }
    }

    /// Its browser is gone. A progressive session has to connect again. A static one need not even know,
    /// unless it worked in a tab there and none of its calls is `told`.
    pub(crate) fn lose_browser(&mut self, told: bool) {
        let fate = Fate::BrowserGone;
        self.focus = match (self.config.mode, self.focus) {
            (Mode::Progressive, _) => None,
            (Mode::Static, Some(Focus::On(tab))) if !told => {
                Some(Focus::Lost(LostTab { tab, fate }))
            }
            (Mode::Static, Some(Focus::Lost(lost))) if !told => Some(Focus::Lost(lost)),
            (Mode::Static, _) => Some(Focus::Nothing),
        };
    }
}
