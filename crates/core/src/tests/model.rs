//! The specified state machine, written a second time as a model for the tests.

/// What the agent, the user or the browser does.
#[derive(Clone, Debug)]
pub(super) enum Move {
    Connect { launch: bool },
    List,
    Open { url: String, focus: bool },
    OpenBroken { focus: bool },
    Focus { tab: Pick },
    Close { tab: Option<Pick> },
    Click,
    UserOpens { url: String },
    UserNavigates { tab: usize, url: String },
    UserCloses { tab: usize },
    Crash { tab: usize },
    BrowserQuits,
    BrowserStarts,
}

/// Which tab the agent names.
#[derive(Clone, Copy, Debug)]
pub(super) enum Pick {
    /// An existing tab, by position.
    Known(usize),
    /// A tab that does not exist.
    Unknown,
}

/// The specified state: `connected`, `focusedTabId`, `tabs`.
#[derive(Clone, Debug, Default)]
pub(super) struct Model {
    pub(super) running: bool,
    pub(super) connected: bool,
    pub(super) focused: Option<String>,
    /// The addresses of the tabs, oldest first. No two are the same.
    pub(super) tabs: Vec<String>,
}

/// The expected effect of a move.
#[derive(Debug, PartialEq)]
pub(super) struct Expected {
    /// Whether the call succeeds. `None` if the move is not a call.
    pub(super) succeeds: Option<bool>,
    /// Whether the session gets a notice.
    pub(super) notice: bool,
}

impl Model {
    /// The specified `getTools()`, with the page actions in place of the page's tools.
    pub(super) fn tools(&self) -> Vec<&'static str> {
        let mut tools = vec!["connect_browser"];
        if self.connected {
            tools = vec!["list_tabs", "open_tab"];
            if !self.tabs.is_empty() {
                tools.push("focus_tab");
            }
            if self.focused.is_some() {
                tools.extend(["close_tab", "click", "handle_dialog", "take_snapshot"]);
            }
        }
        tools
    }

    pub(super) fn apply(&mut self, step: &Move) -> Expected {
        let (tools, focus) = (self.tools(), self.focused.clone());
        let succeeds = self.effect(step);
        let refocused = matches!(step, Move::Open { .. } | Move::Focus { .. })
            && succeeds == Some(true)
            && self.focused != focus;
        Expected {
            succeeds,
            notice: tools != self.tools() || refocused,
        }
    }

    fn effect(&mut self, step: &Move) -> Option<bool> {
        match step {
            Move::Connect { launch } => {
                let works = !self.connected && (self.running || *launch);
                if works {
                    (self.running, self.connected) = (true, true);
                }
                Some(works)
            }
            Move::List => Some(self.connected),
            Move::Open { url, focus } => {
                if self.connected {
                    self.tabs.push(url.clone());
                    if *focus {
                        self.focused = Some(url.clone());
                    }
                }
                Some(self.connected)
            }
            Move::OpenBroken { .. } => Some(false),
            Move::Focus { tab } => {
                let named = self.named(*tab).filter(|_| self.connected);
                if let Some(url) = named.clone() {
                    self.focused = Some(url);
                }
                Some(named.is_some())
            }
            Move::Close { tab } => {
                let named = match tab {
                    Some(tab) => self.named(*tab),
                    None => self.focused.clone(),
                };
                let named = named.filter(|_| self.focused.is_some());
                if let Some(url) = named.clone() {
                    self.lose(&url);
                }
                Some(named.is_some())
            }
            Move::Click => Some(self.focused.is_some()),
            Move::UserOpens { url } => {
                if self.connected {
                    self.tabs.push(url.clone());
                }
                None
            }
            Move::UserNavigates { tab, url } => {
                if let Some(old) = self.tabs.get_mut(*tab) {
                    if self.focused.as_ref() == Some(old) {
                        self.focused = Some(url.clone());
                    }
                    old.clone_from(url);
                }
                None
            }
            Move::UserCloses { tab } | Move::Crash { tab } => {
                if let Some(url) = self.tabs.get(*tab).cloned() {
                    self.lose(&url);
                }
                None
            }
            Move::BrowserQuits => {
                *self = Self::default();
                None
            }
            Move::BrowserStarts => {
                self.running = true;
                None
            }
        }
    }

    fn named(&self, tab: Pick) -> Option<String> {
        match tab {
            Pick::Known(position) => self.tabs.get(position).cloned(),
            Pick::Unknown => None,
        }
    }

    fn lose(&mut self, url: &str) {
        self.tabs.retain(|tab| tab != url);
        self.focused.take_if(|focused| focused == url);
    }
}
