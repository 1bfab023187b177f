//! A fake browser that answers with a delay.

use crate::{
    BrowserFacts, BrowserId, CallId, ConnectFailure, Finish, Input, Output, SessionId, TabFacts,
    TabOpener, TargetId,
};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// A browser and its driver: turns the core's outputs into inputs that come later.
pub(super) struct FakeBrowser {
    /// Whether it can be found without being launched.
    pub(super) running: bool,
    /// Whether it starts with a blank tab when it is launched, as browsers with a window do.
    pub(super) has_window: bool,
    /// How long everything takes.
    pub(super) latency: Duration,
    /// Whether it ignores the work for calls. It still closes tabs.
    pub(super) hangs: bool,
    /// The core's id of it, while it is connected.
    pub(super) id: Option<BrowserId>,
    /// The user's active tab.
    pub(super) front: Option<TargetId>,
    /// The session in whose isolated context new tabs are opened.
    pub(super) context: Option<SessionId>,
    tabs: BTreeMap<TargetId, TabFacts>,
    held: BTreeSet<TargetId>,
    counted: usize,
}

/// An input that the browser will report after a delay.
pub(super) type Later = (Duration, Input);

impl FakeBrowser {
    pub(super) fn new() -> Self {
        Self {
            running: false,
            has_window: true,
            latency: Duration::from_millis(10),
            hangs: false,
            id: None,
            front: None,
            context: None,
            tabs: BTreeMap::new(),
            held: BTreeSet::new(),
            counted: 0,
        }
    }

    /// A browser that is launched without a window.
    pub(super) fn windowless() -> Self {
        Self {
            has_window: false,
            ..Self::new()
        }
    }

    /// A browser that the user has open, with these pages.
    pub(super) fn running(urls: &[&str]) -> Self {
        let mut browser = Self::new();
        browser.running = true;
        for url in urls {
            browser.add(url);
        }
        browser
    }

    /// A new tab that shows a page.
    pub(super) fn add(&mut self, url: &str) -> TabFacts {
        self.counted += 1;
        let tab = TabFacts {
            context: self.context,
            ..facts(&format!("T{}", self.counted), url)
        };
        self.tabs.insert(tab.target.clone(), tab.clone());
        tab
    }

    /// The tab that shows this page now.
    pub(super) fn at(&self, url: &str) -> TargetId {
        self.tabs
            .values()
            .find(|tab| &*tab.url == url)
            .map(|tab| tab.target.clone())
            .unwrap_or_else(|| panic!("no tab shows {url}"))
    }

    pub(super) fn shows(&self, url: &str) -> bool {
        self.tabs.values().any(|tab| &*tab.url == url)
    }

    /// The addresses of its tabs.
    pub(super) fn urls(&self) -> Vec<String> {
        self.tabs.values().map(|tab| tab.url.to_string()).collect()
    }

    pub(super) fn tab_count(&self) -> usize {
        self.tabs.len()
    }

    pub(super) fn holds(&self, url: &str) -> bool {
        self.held.contains(&self.at(url))
    }

    /// Navigates a tab.
    pub(super) fn navigate(&mut self, target: &TargetId, url: &str) -> TabFacts {
        let tab = facts(&target.0, url);
        self.tabs.insert(target.clone(), tab.clone());
        tab
    }

    pub(super) fn remove(&mut self, target: &TargetId) {
        self.tabs.remove(target);
        self.held.remove(target);
    }

    pub(super) fn quit(&mut self) {
        (self.running, self.id) = (false, None);
        self.tabs.clear();
        self.held.clear();
    }

    /// Loses the connection, and resets what was done to tabs.
    pub(super) fn cut_off(&mut self) {
        self.held.clear();
    }

    /// The inputs that an output causes.
    pub(super) fn react(&mut self, output: &Output) -> Vec<Later> {
        match output {
            Output::Connect { .. } if self.hangs => vec![],
            Output::Connect {
                browser, launch, ..
            } => vec![(self.latency, self.connect(*browser, *launch))],
            Output::OpenTab {
                call, browser, url, ..
            } => self.open(*call, *browser, url),
            Output::Refresh { call, .. } => {
                let (call, outcome) = (*call, Finish::Done);
                vec![(self.latency, Input::Finished { call, outcome })]
            }
            Output::PrepareFocus { call, .. }
            | Output::Run { call, .. }
            | Output::RunTool { call, .. } => self.after(self.latency, *call, Finish::Done),
            Output::CloseTab { .. } if self.hangs => vec![],
            Output::CloseTab {
                call,
                browser,
                target,
                last,
            } => {
                let mut later = self.close(*browser, target, *last);
                later.extend(self.after(self.latency, *call, Finish::Done));
                later
            }
            Output::Discard {
                browser,
                target,
                last,
            } => self.close(*browser, target, *last),
            Output::Hold { target, .. } => {
                assert!(self.held.insert(target.clone()), "held twice: {target:?}");
                vec![]
            }
            Output::Release { target, .. } => {
                assert!(self.held.remove(target), "released unheld: {target:?}");
                vec![]
            }
            Output::Disconnect { .. } => {
                self.quit();
                vec![]
            }
            Output::TakeBack { .. }
            | Output::Abort { .. }
            | Output::PagesRefused { .. }
            | Output::PageRefused { .. }
            | Output::ToolsRefused { .. }
            | Output::Reply { .. }
            | Output::ToolsChanged { .. }
            | Output::SessionRefused { .. } => vec![],
        }
    }

    fn connect(&mut self, browser: BrowserId, launch: bool) -> Input {
        let launched = !self.running;
        if launched && !launch {
            let failure = ConnectFailure::NotFound;
            return Input::ConnectFailed { browser, failure };
        }
        if launched && self.has_window {
            self.add("about:blank");
        }
        (self.running, self.id) = (true, Some(browser));
        Input::Connected {
            replaces: false,
            browser,
            about: BrowserFacts {
                name: "Chrome".into(),
                version: "120.0.0".into(),
                launched,
            },
            tabs: self.tabs.values().cloned().collect(),
            front: self.front.clone(),
        }
    }

    /// A page at `refused.test` cannot be loaded.
    fn open(&mut self, call: CallId, browser: BrowserId, url: &str) -> Vec<Later> {
        let tab = self.add("about:blank");
        let target = tab.target.clone();
        let appeared = Input::TabAppeared {
            browser,
            tab,
            origin: TabOpener::Call(call),
        };
        let mut later = vec![(self.latency, appeared)];
        if url.contains("refused.test") {
            let message = "The page could not be loaded.".to_owned();
            later.extend(self.after(self.latency * 2, call, Finish::Failed { message }));
        } else {
            let tab = self.navigate(&target, url);
            later.push((self.latency * 2, Input::TabChanged { browser, tab }));
            later.extend(self.after(self.latency * 3, call, Finish::Done));
        }
        later
    }

    fn close(&mut self, browser: BrowserId, target: &TargetId, last: bool) -> Vec<Later> {
        let mut later = vec![];
        if last {
            let tab = self.add("about:blank");
            let origin = TabOpener::Spare;
            later.push((
                self.latency,
                Input::TabAppeared {
                    browser,
                    tab,
                    origin,
                },
            ));
        }
        self.remove(target);
        assert!(!self.tabs.is_empty(), "the browser lost its last tab");
        later.push((
            self.latency,
            Input::TabGone {
                browser,
                target: target.clone(),
                crashed: false,
            },
        ));
        later
    }

    fn after(&self, wait: Duration, call: CallId, outcome: Finish) -> Vec<Later> {
        match self.hangs {
            true => vec![],
            false => vec![(wait, Input::Finished { call, outcome })],
        }
    }
}

/// A tab that shows a page. A page at `untitled.test` has no title yet.
pub(super) fn facts(target: &str, url: &str) -> TabFacts {
    TabFacts {
        target: TargetId(target.into()),
        url: url.into(),
        title: (!url.contains("untitled.test")).then(|| format!("Title of {url}").into()),
        blank: url == "about:blank",
        context: None,
    }
}
