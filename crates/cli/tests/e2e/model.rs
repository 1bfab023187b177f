//! The state machine of the specification, in its own terms: `connected`, `focusedTabId`, `tabs`,
//! `getTools()`, and when `listChanged` is emitted.

/// What the agent, the user or the browser does.
#[derive(Clone, Debug)]
pub(crate) enum Move {
    Connect {
        launch: bool,
    },
    List,
    Open {
        url: String,
        focus: Option<bool>,
    },
    /// The page cannot be loaded.
    OpenBroken {
        focus: bool,
    },
    Focus {
        tab: Pick,
    },
    Close {
        tab: Option<Pick>,
    },
    /// Any tool of the focused page.
    Act,
    UserOpens {
        url: String,
    },
    UserNavigates {
        tab: usize,
        url: String,
    },
    UserCloses {
        tab: usize,
    },
    Crash {
        tab: usize,
    },
    BrowserDies,
}

/// Which tab the agent names.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Pick {
    /// An open tab, by its position in the list.
    Known(usize),
    /// A tab that was closed or never existed.
    Unknown,
}

/// The expected outcome of a move.
#[derive(Debug, PartialEq)]
pub(crate) struct Expected {
    /// Whether the call succeeds. `None` if the move is not a call.
    pub(crate) succeeds: Option<bool>,
    /// How many `listChanged` notifications the client gets.
    pub(crate) notices: usize,
}

/// The state of the specification. A tab has a number that is never used again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Model {
    pub(crate) connected: bool,
    pub(crate) tabs: Vec<Tab>,
    pub(crate) focused: Option<usize>,
    /// Whether the browser is a person's, which runs without being launched.
    is_persons: bool,
    /// Whether the person has restarted it since we were connected. Then it has a blank tab.
    is_new: bool,
    made: usize,
}

/// A tab of the model.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tab {
    pub(crate) number: usize,
    pub(crate) url: String,
    /// Whether it was opened for the agent.
    is_agents: bool,
}

impl Model {
    /// The initial state, for a person's browser or one that we launch.
    pub(crate) fn of(is_persons: bool) -> Self {
        Self {
            is_persons,
            ..Self::default()
        }
    }

    /// The `getTools()` of the specification; `actions` are in the position of the page's tools.
    pub(crate) fn tools<'a>(&self, actions: &[&'a str]) -> Vec<&'a str> {
        match (self.connected, self.tabs.is_empty(), self.focused) {
            (false, _, _) => vec!["connect_browser"],
            (true, true, _) => vec!["list_tabs", "open_tab"],
            (true, false, None) => vec!["list_tabs", "open_tab", "focus_tab"],
            (true, false, Some(_)) => {
                let core = ["list_tabs", "open_tab", "focus_tab", "close_tab"];
                core.iter().chain(actions).copied().collect()
            }
        }
    }

    /// Makes the move and returns the expected outcome.
    pub(crate) fn apply(&mut self, step: &Move) -> Expected {
        let before = (self.tools(&["page"]), self.focused);
        let succeeds = self.effect(step);
        let list_changed = self.tools(&["page"]) != before.0;
        let agent_refocused = succeeds == Some(true)
            && matches!(step, Move::Open { .. } | Move::Focus { .. })
            && self.focused != before.1;
        Expected {
            succeeds,
            notices: usize::from(list_changed || agent_refocused),
        }
    }

    fn effect(&mut self, step: &Move) -> Option<bool> {
        match step {
            // With or without `launch`: the session's flags say that it launches its browser.
            Move::Connect { .. } => {
                let works = !self.connected;
                self.connected |= works;
                if works && std::mem::take(&mut self.is_new) {
                    self.make("about:blank", false);
                }
                Some(works)
            }
            Move::List => Some(self.connected),
            Move::Open { url, focus } => {
                if self.connected {
                    let number = self.make(url, true);
                    if focus.unwrap_or(true) {
                        self.focused = Some(number);
                    }
                }
                Some(self.connected)
            }
            Move::OpenBroken { .. } => Some(false),
            Move::Focus { tab } => {
                let named = self.named(*tab);
                self.focused = named.or(self.focused);
                Some(named.is_some())
            }
            Move::Close { tab } => {
                let named = match tab {
                    Some(tab) => self.named(*tab),
                    None => self.focused,
                };
                let named = named.filter(|_| self.focused.is_some());
                if let Some(number) = named {
                    self.lose(number);
                }
                Some(named.is_some())
            }
            Move::Act => Some(self.focused.is_some()),
            Move::UserOpens { url } => {
                self.make(url, false);
                None
            }
            Move::UserNavigates { tab, url } => {
                self.tabs[*tab].url.clone_from(url);
                None
            }
            Move::UserCloses { tab } | Move::Crash { tab } => {
                self.lose(self.tabs[*tab].number);
                None
            }
            Move::BrowserDies => {
                self.connected = false;
                self.focused = None;
                self.tabs.clear();
                self.is_new = self.is_persons;
                None
            }
        }
    }

    /// Whether the agent works in a tab: it was opened for it, or it is focused.
    pub(crate) fn is_held(&self, position: usize) -> bool {
        let tab = &self.tabs[position];
        tab.is_agents || self.focused == Some(tab.number)
    }

    fn make(&mut self, url: &str, is_agents: bool) -> usize {
        self.made += 1;
        self.tabs.push(Tab {
            number: self.made,
            url: url.to_owned(),
            is_agents,
        });
        self.made
    }

    fn named(&self, tab: Pick) -> Option<usize> {
        match tab {
            Pick::Known(position) => self.tabs.get(position).map(|tab| tab.number),
            Pick::Unknown => None,
        }
    }

    fn lose(&mut self, number: usize) {
        self.tabs.retain(|tab| tab.number != number);
        self.focused.take_if(|focused| *focused == number);
    }
}
