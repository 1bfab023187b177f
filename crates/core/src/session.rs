//! One session: its settings, its binding in each of its browsers, and the tool list that its client knows.

mod table;

pub(crate) use table::SessionTable;

use crate::core::PageList;
use crate::settled::Settled;
use crate::{
    BrowserId, BrowserRef, Fate, LostTab, Mode, Numbering, PageNumbers, Renewal, SessionConfig,
    TabId, Time, ToolName,
};
use std::collections::BTreeSet;
use std::sync::Arc;

/// One open session.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) config: SessionConfig,
    /// Its browsers, by number.
    pub(crate) browser_bindings: Vec<BrowserBinding>,
    /// The number of the browser that a progressive session works in.
    pub(crate) home: usize,
    /// The number of the default browser, for calls without `browserIndex`.
    pub(crate) default: Option<usize>,
    browser_bindings_counted: usize,
    /// In progressive mode: the page actions that its list has in addition to the usual ones.
    pub(crate) added: BTreeSet<ToolName>,
    /// Its own tab numbers, if it does not use the shared ones.
    pub(crate) numbers: Option<PageNumbers>,
    /// The tool list that the client was last told about.
    pub(crate) announced: Announced,
    /// In progressive mode: the generated tools in its list, while a tab is focused.
    pub(crate) settled: Option<Settled>,
    /// When its list takes over the generated tools that its page has then, if they differ.
    pub(crate) rest_at: Option<Time>,
    /// When its last call was answered.
    pub(crate) answered: Time,
    /// When it will be notified of changes that it did not cause, if there are any.
    pub(crate) announce_at: Option<Time>,
    /// Rate limit: when its notices so far would have been sent at one per `notice_gap`.
    pub(crate) notices_due: Time,
}

/// A tool list, as a client was last told about it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Announced {
    /// The tools that are not page tools.
    pub(crate) tools: Vec<ToolName>,
    /// The page tools, and their published content.
    pub(crate) page_tools: Arc<PageList>,
    /// In progressive mode: whether tools of the page library are among them.
    pub(crate) has_library_tools: bool,
    /// Whether the session has several browsers, so that its tools need `browserIndex`.
    pub(crate) several: bool,
}

/// A session's binding in one browser.
#[derive(Debug)]
pub(crate) struct BrowserBinding {
    /// The browser's number in this session, which is never reused.
    pub(crate) number: usize,
    pub(crate) browser: BrowserId,
    /// The browser's name for people.
    pub(crate) label: Arc<str>,
    /// Whether the user named this browser by its address.
    pub(crate) attached: bool,
    /// The session's focus in this browser. `None` only in progressive mode: until `connect_browser` succeeded,
    /// and again when the browser is gone.
    pub(crate) focus: Option<Focus>,
    /// How a progressive session continues here, after its daemon crashed or the connection was lost while the
    /// browser kept running.
    pub(crate) pending_reconnect: Option<PendingReconnect>,
    /// The tab that a progressive session lost with its daemon, until it connects again.
    pub(crate) gone: Option<LostTab>,
    /// The tab that the person gave it, until the session knows about it.
    pub(crate) given: Option<TabId>,
    /// Whether a call of the session has succeeded in this browser.
    pub(crate) known: bool,
    /// How the browser was renewed since then, if the session does not know it.
    pub(crate) renewal: Option<Renewal>,
}

/// What a session has focused. Focusing a tab and being bound to it are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Focus {
    Nothing,
    /// The focused tab was lost.
    Lost(LostTab),
    On(TabId),
}

/// How a progressive session continues in a browser whose connection is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PendingReconnect {
    /// Its focus after reconnecting, unless its tab is still there.
    pub(crate) focus: Focus,
    /// Until when the session's next call reconnects. After that the session counts as disconnected, until the
    /// browser becomes reachable by itself.
    pub(crate) until: Option<Time>,
}

impl PendingReconnect {
    pub(crate) fn is_due(self, now: Time) -> bool {
        self.until.is_none_or(|until| now < until)
    }
}

impl Announced {
    /// Whether a client that knows this list need not be told about the other one.
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
            settled: None,
            rest_at: None,
            answered: Time::default(),
            announce_at: None,
            notices_due: Time::default(),
        }
    }

    /// Adds a browser, and returns its number.
    pub(crate) fn bind_browser(&mut self, wanted: &BrowserRef, browser: BrowserId) -> usize {
        self.browser_bindings_counted += 1;
        let focus = match self.config.mode {
            Mode::Progressive => None,
            Mode::Static => Some(Focus::Nothing),
        };
        self.browser_bindings.push(BrowserBinding {
            number: self.browser_bindings_counted,
            browser,
            label: wanted.label.clone(),
            attached: wanted.attached,
            focus,
            pending_reconnect: None,
            gone: None,
            given: None,
            known: false,
            renewal: None,
        });
        self.browser_bindings_counted
    }

    fn release_browser(&mut self, browser: BrowserId) {
        let number = self.browser_binding(browser).map(|binding| binding.number);
        self.default.take_if(|default| Some(*default) == number);
        self.browser_bindings
            .retain(|browser_binding| browser_binding.browser != browser);
    }

    /// The browsers that it can use, connected or not.
    pub(crate) fn browsers(&self) -> impl Iterator<Item = BrowserId> {
        let bindings = self.browser_bindings.iter();
        bindings.map(|browser_binding| browser_binding.browser)
    }

    /// The category of a tool that has to be enabled first and is not.
    pub(crate) fn not_asked_for(&self, tool: ToolName) -> Option<&Arc<str>> {
        let mut on_request = self.config.on_request.iter();
        let (_, category) = on_request.find(|(name, _)| *name == tool)?;
        (!self.added.contains(&tool)).then_some(category)
    }

    pub(crate) fn is_static(&self) -> bool {
        self.config.mode == Mode::Static
    }

    /// Whether the session has several browsers, so that its tools need `browserIndex`.
    pub(crate) fn has_several(&self) -> bool {
        self.browser_bindings.len() > 1
    }

    pub(crate) fn is_bound_to(&self, browser: BrowserId) -> bool {
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

    /// The binding in the browser that a progressive session works in.
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

    /// The tab that it was bound to and lost, until the session knows about it.
    pub(crate) fn lost_tab(&self) -> Option<LostTab> {
        let pending_reconnect = self
            .pending_reconnect
            .map(|pending_reconnect| pending_reconnect.focus);
        match self.focus.or(pending_reconnect) {
            Some(Focus::Lost(lost)) => Some(lost),
            _ => self.gone,
        }
    }

    /// Connects a progressive session to this browser.
    pub(crate) fn connect(&mut self) {
        let pending_reconnect = self.pending_reconnect.take();
        let focus =
            pending_reconnect.map_or(Focus::Nothing, |pending_reconnect| pending_reconnect.focus);
        self.focus.get_or_insert(focus);
        self.gone = None;
    }

    /// The connection is lost, but the browser still runs. The bound tab may come back, so it is not reported as
    /// lost; a tab that was lost before stays lost.
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

    /// The browser is gone. A progressive session has to connect again. A static one is told that its tab is
    /// lost, unless one of its calls has failed with this reason (`told`).
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
