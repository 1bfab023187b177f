//! One client: what it asked for, its browser binding in each of its browsers, and what it was last told about
//! its tools.

use crate::core::PageList;
use crate::{
    BrowserId, BrowserRef, Fate, LostTab, Mode, Numbering, PageNumbers, SessionConfig, TabId, Time,
    ToolName,
};
use std::collections::BTreeSet;
use std::sync::Arc;

/// One open session.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) config: SessionConfig,
    /// Its browsers, by their numbers.
    pub(crate) browser_bindings: Vec<BrowserBinding>,
    /// The number of the browser that a progressive session lives in.
    pub(crate) home: usize,
    /// The number of the browser that calls without a number mean.
    pub(crate) default: Option<usize>,
    browser_bindings_counted: usize,
    /// The page actions that its list has beside the usual ones, if that follows the work.
    pub(crate) added: BTreeSet<ToolName>,
    /// What it calls tabs, if not by their own numbers.
    pub(crate) numbers: Option<PageNumbers>,
    /// The tool list that the client knows of.
    pub(crate) announced: Announced,
    /// When it will be told about changes that it did not ask for, if there are any.
    pub(crate) announce_at: Option<Time>,
    /// When all that it was told of changes which it did not ask for would have been due at a steady rate.
    pub(crate) notices_due: Time,
}

/// What a client knows of its tool list.
#[derive(Clone, Debug, Default)]
pub(crate) struct Announced {
    /// Those of its tools that are no page's.
    pub(crate) tools: Vec<ToolName>,
    /// The tools of pages, and what is published of them.
    pub(crate) page_tools: Arc<PageList>,
    /// Whether tools of the page library are among them, in progressive mode.
    pub(crate) has_library_tools: bool,
    /// What the tools of pages were when this was found out.
    pub(crate) edition: u64,
    /// Whether its tools have to be told which browser.
    pub(crate) several: bool,
}

/// A session's place in one browser.
#[derive(Debug)]
pub(crate) struct BrowserBinding {
    /// What the agent calls this browser. No number is used twice in a session.
    pub(crate) number: usize,
    pub(crate) browser: BrowserId,
    /// What people call this browser.
    pub(crate) label: Arc<str>,
    /// Whether the user named this browser by its address.
    pub(crate) attached: bool,
    /// What it looks at in this browser. `None` only in progressive mode: until `connect_browser`
    /// succeeded, and again once the browser is gone.
    pub(crate) focus: Option<Focus>,
    /// How a progressive session goes on here: its daemon died or the connection was lost, and the browser
    /// stayed.
    pub(crate) pending_reconnect: Option<PendingReconnect>,
    /// The tab that a progressive session worked in and that went with its daemon, until it connects again.
    pub(crate) gone: Option<LostTab>,
    /// The tab that it was given by the person and was not told of yet.
    pub(crate) given: Option<TabId>,
    /// Whether the session has got an answer from this browser.
    pub(crate) known: bool,
    /// Whether a browser that it knew was lost and is back, and the session was not told.
    pub(crate) renewed: bool,
}

/// What a session looks at. Focusing a tab and being bound to it are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Focus {
    Nothing,
    /// The focused tab vanished by itself.
    Lost(LostTab),
    On(TabId),
}

/// How a progressive session goes on in a browser that is not connected for the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PendingReconnect {
    /// What it looks at then, unless its tab is still there.
    pub(crate) focus: Focus,
    /// Until when its next call sees to it. Later the session is not connected, until the browser is there again
    /// by itself.
    pub(crate) until: Option<Time>,
}

impl PendingReconnect {
    pub(crate) fn is_due(self, now: Time) -> bool {
        self.until.is_none_or(|until| now < until)
    }
}

impl Announced {
    /// Whether a client that knows this one has nothing to learn from the other.
    pub(crate) fn has_same_content(&self, other: &Self) -> bool {
        self.tools == other.tools
            && (Arc::ptr_eq(&self.page_tools, &other.page_tools)
                || self.page_tools == other.page_tools)
            && self.has_library_tools == other.has_library_tools
            && self.several == other.several
    }
}

impl Session {
    pub(crate) fn new(mut config: SessionConfig) -> Self {
        let numbers = std::mem::take(&mut config.restored_tabs.numbers);
        let own = (config.mode, config.numbering) == (Mode::Static, Numbering::Own);
        Self {
            added: config.added.iter().copied().collect(),
            config,
            numbers: own.then_some(numbers),
            browser_bindings: Vec::new(),
            home: 1,
            default: None,
            browser_bindings_counted: 0,
            announced: Announced::default(),
            announce_at: None,
            notices_due: Time::default(),
        }
    }

    /// Takes a browser binding in one more browser.
    pub(crate) fn bind_browser(&mut self, meant: &BrowserRef, browser: BrowserId) -> usize {
        self.browser_bindings_counted += 1;
        let focus = match self.config.mode {
            Mode::Progressive => None,
            Mode::Static => Some(Focus::Nothing),
        };
        self.browser_bindings.push(BrowserBinding {
            number: self.browser_bindings_counted,
            browser,
            label: meant.label.clone(),
            attached: meant.attached,
            focus,
            pending_reconnect: None,
            gone: None,
            given: None,
            known: false,
            renewed: false,
        });
        self.browser_bindings_counted
    }

    /// The category of a tool that has to be asked for, as long as nobody has.
    pub(crate) fn not_asked_for(&self, tool: ToolName) -> Option<&Arc<str>> {
        let mut on_request = self.config.on_request.iter();
        let (_, category) = on_request.find(|(name, _)| *name == tool)?;
        (!self.added.contains(&tool)).then_some(category)
    }

    pub(crate) fn is_static(&self) -> bool {
        self.config.mode == Mode::Static
    }

    /// Whether its tools have to be told which browser.
    pub(crate) fn has_several(&self) -> bool {
        self.browser_bindings.len() > 1
    }

    pub(crate) fn means(&self, browser: BrowserId) -> bool {
        self.browser_binding(browser).is_some()
    }

    pub(crate) fn browser_binding(&self, browser: BrowserId) -> Option<&BrowserBinding> {
        self.browser_bindings
            .iter()
            .find(|browser_binding| browser_binding.browser == browser)
    }

    pub(crate) fn browser_binding_mut(
        &mut self,
        browser: BrowserId,
    ) -> Option<&mut BrowserBinding> {
        self.browser_bindings
            .iter_mut()
            .find(|browser_binding| browser_binding.browser == browser)
    }

    pub(crate) fn browser_binding_numbered(&self, number: usize) -> Option<&BrowserBinding> {
        self.browser_bindings
            .iter()
            .find(|browser_binding| browser_binding.number == number)
    }

    /// The browser that a progressive session lives in.
    pub(crate) fn home_browser_binding(&self) -> Option<&BrowserBinding> {
        self.browser_binding_numbered(self.home)
    }

    /// The tab that it is bound to in a browser.
    pub(crate) fn focused_in(&self, browser: BrowserId) -> Option<TabId> {
        self.browser_binding(browser)?.focused_tab()
    }
}

impl BrowserBinding {
    pub(crate) fn focused_tab(&self) -> Option<TabId> {
        match self.focus {
            Some(Focus::On(tab)) => Some(tab),
            _ => None,
        }
    }

    /// The tab that it was bound to and that is gone, as long as the session has not been told.
    pub(crate) fn lost_tab(&self) -> Option<LostTab> {
        let pending_reconnect = self
            .pending_reconnect
            .map(|pending_reconnect| pending_reconnect.focus);
        match self.focus.or(pending_reconnect) {
            Some(Focus::Lost(lost)) => Some(lost),
            _ => self.gone,
        }
    }

    /// A progressive session is connected here from now on.
    pub(crate) fn connect(&mut self) {
        let pending_reconnect = self.pending_reconnect.take();
        let focus =
            pending_reconnect.map_or(Focus::Nothing, |pending_reconnect| pending_reconnect.focus);
        self.focus.get_or_insert(focus);
        self.gone = None;
    }

    /// The connection to its browser is lost, and the browser is not. The tab that a session was bound to may be
    /// there again, so it is not reported as lost; one that was lost before is not.
    pub(crate) fn lose_connection(&mut self, mode: Mode, until: Time) {
        let focus = self.focus.map(|focus| match focus {
            Focus::On(_) | Focus::Nothing => Focus::Nothing,
            Focus::Lost(lost) => Focus::Lost(lost),
        });
        match mode {
            Mode::Progressive => {
                let until = Some(until);
                let pending_reconnect = focus.map(|focus| PendingReconnect { focus, until });
                self.pending_reconnect = pending_reconnect.or(self.pending_reconnect);
                self.focus = None;
            }
            Mode::Static => self.focus = focus,
        }
    }

    /// Its browser is gone. A progressive session has to connect again. A static one need not even know,
    /// unless it worked in a tab there and none of its calls is `told`.
    pub(crate) fn lose_browser(&mut self, mode: Mode, told: bool) {
        let fate = Fate::BrowserGone;
        self.focus = match (mode, self.focus) {
            (Mode::Progressive, _) => None,
            (Mode::Static, Some(Focus::On(tab))) if !told => {
                Some(Focus::Lost(LostTab { tab, fate }))
            }
            (Mode::Static, Some(Focus::Lost(lost))) if !told => Some(Focus::Lost(lost)),
            (Mode::Static, _) => Some(Focus::Nothing),
        };
    }
}
