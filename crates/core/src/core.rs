//! The state machine: takes inputs and the current time, yields outputs.

mod browsers;
mod sessions;

mod calls;
mod can_call;
mod finish;
mod follow;
mod plan;

mod connect;
mod default_tab;
mod holds;
mod offers;
mod page_calls;
mod page_numbers;
mod page_routing;
mod pages;
mod person;
mod reroute;
mod site_filters;
mod tabs;

mod answers;
mod lists;
mod overview;
mod persistence_version;
mod reconnect;
mod rest;
mod shared_lists;
mod shown_tabs;

pub use overview::{BrowserView, TabView};
pub(crate) use shared_lists::PageList;
pub use shown_tabs::ShownTab;

use crate::browser::Browser;
use crate::call::CallTable;
use crate::registry::Registry;
use crate::session::{Session, SessionTable};
use crate::tab::{Tab, Worker};
use crate::timers::{Timer, Timers};
use crate::unchecked::Unchecked;
use crate::{
    BrowserId, BrowserKey, Config, ConnectionId, Input, Output, PageId, SessionId, TabId, TargetId,
    Time, ToolName,
};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The state of all sessions, browsers, tabs and calls.
///
/// # Call order
///
/// One driver owns the core and works in rounds:
///
/// 1. On an event, call [`handle`](Self::handle). If there is none until
///    [`poll_timeout`](Self::poll_timeout), call [`handle_timeout`](Self::handle_timeout).
/// 2. Call [`poll_output`](Self::poll_output) until it is `None`, and carry out the outputs in order.
/// 3. Call [`poll_timeout`](Self::poll_timeout) for the latest time to wake up. It changes with every
///    round.
///
/// [`tools`](Self::tools) and [`tab`](Self::tab) may be called at any time.
///
/// # Duties of the driver
///
/// - It chooses [`SessionId`]s and [`CallId`](crate::CallId)s and never reuses one. It stores a call's arguments under the
///   `CallId` before it passes [`Input::Call`], and the result until [`Output::Reply`].
/// - It answers `Connect`, `OpenTab`, `PrepareFocus`, `CloseTab` and `Run` as their docs say. If it does not,
///   the call fails at its deadline; late and repeated answers are ignored.
/// - It reports every tab of a connected browser, in `Connected` or by `TabAppeared`, before any other event
///   of that tab.
/// - If a tab or browser is lost and the driver has a more exact outcome for a call there, it finishes the
///   call first and reports the loss after that.
///
/// # Promises of the core
///
/// - Every `Input::Call` gets exactly one [`Output::Reply`] within its deadline, whatever crashes.
/// - An [`Output::ToolsChanged`] that a call causes comes before that call's `Reply`.
/// - The work for a call ends with its `Finished` or with an [`Output::Abort`]; for `close_tab` and `close_page`
///   also when the tab is gone. A call has at most one output at work at a time.
#[derive(Debug)]
pub struct Core {
    config: Config,
    sessions: SessionTable,
    browsers: BTreeMap<BrowserId, Browser>,
    browsers_by_key: BTreeMap<BrowserKey, BrowserId>,
    tabs: BTreeMap<TabId, Tab>,
    calls: CallTable,
    timers: Timers,
    outputs: VecDeque<Output>,
    now: Time,
    browsers_counted: u32,
    tabs_counted: u32,
    /// The workers of the page library.
    workers: BTreeMap<ConnectionId, Worker>,
    /// The tabs with the page library.
    pages: BTreeMap<PageId, TabId>,
    /// The page tools, by name and tab.
    registry: Registry,
    /// The user's active tab.
    active: Option<TabId>,
    /// Whether the person paused all agents.
    paused: bool,
    /// The tool names that no page can use, sorted.
    built_in: Vec<ToolName>,
    /// The page actions and `more_tools`, sorted: what a progressive session may list while a tab is focused.
    focused_tools: Vec<ToolName>,
    /// Counts the changes of page tools.
    edition: u64,
    /// The lists of page tools that sessions share.
    common: shared_lists::SharedLists,
    unchecked: Unchecked,
    /// Counts the changes to what a later daemon has to know.
    persistence_version: u64,
    /// The sessions that get a `ToolsChanged` from the current input.
    notified: BTreeSet<SessionId>,
}

impl Core {
    /// A core without sessions and browsers.
    pub fn new(mut config: Config) -> Self {
        config.page_actions.sort_unstable();
        config.page_actions.dedup();
        let mut focused_tools = [&config.page_actions[..], &config.tab_tools].concat();
        focused_tools.push(ToolName::MORE_TOOLS);
        focused_tools.sort_unstable();
        focused_tools.dedup();
        let ours = ToolName::session_tools();
        let actions = focused_tools.iter().chain(&config.static_tools).copied();
        let mut built_in: Vec<_> = ours.chain(actions).collect();
        built_in.sort_unstable();
        Self {
            workers: BTreeMap::new(),
            pages: BTreeMap::new(),
            registry: Registry::default(),
            active: None,
            paused: false,
            built_in,
            focused_tools,
            edition: 0,
            common: shared_lists::SharedLists::default(),
            unchecked: Unchecked::default(),
            persistence_version: 0,
            notified: BTreeSet::new(),
            tabs_counted: config.numbers_used(),
            config,
            sessions: SessionTable::default(),
            browsers: BTreeMap::new(),
            browsers_by_key: BTreeMap::new(),
            tabs: BTreeMap::new(),
            calls: CallTable::default(),
            timers: Timers::default(),
            outputs: VecDeque::new(),
            now: Time::default(),
            browsers_counted: 0,
        }
    }

    /// Handles an event. Any input is valid at any time.
    pub fn handle(&mut self, now: Time, input: Input) {
        self.now = now;
        self.persistence_version += u64::from(input.changes_persisted_state());
        match input {
            Input::SessionOpened { session, config } => self.open_session(session, config),
            Input::SessionClosed { session } => self.close_session(session),
            Input::Call {
                call,
                session,
                request,
                kind,
                browser,
                timeout,
            } => self.call(call, session, request, kind, browser, timeout),
            Input::Cancel { session, request } => self.cancel(session, &request),
            Input::Connected {
                browser,
                about,
                tabs,
                front,
                replaces,
            } => self.connected(browser, about, tabs, (front, replaces)),
            Input::ConnectFailed { browser, failure } => self.connect_failed(browser, failure),
            Input::StillConnecting { browser } => self.still_connecting(browser),
            Input::BrowserGone { browser, reason } => self.browser_gone(browser, &reason),
            Input::ConnectionLost { browser, reason } => self.connection_lost(browser, &reason),
            Input::Reachable { browser } => self.reachable(browser),
            Input::TabAppeared {
                browser,
                tab,
                origin,
            } => self.tab_appeared(browser, tab, origin),
            Input::TabChanged { browser, tab } => self.tab_changed(browser, tab),
            Input::TabGone {
                browser,
                target,
                crashed,
            } => self.tab_gone(browser, &target, crashed),
            Input::Paused => self.pause(),
            Input::Resumed => self.paused = false,
            Input::TakenBack { browser, target } => self.taken_back(browser, &target),
            Input::Given {
                session,
                browser,
                target,
            } => self.given(session, browser, target),
            Input::FollowChanged { session, follows } => self.follow_changed(session, follows),
            Input::Finished { call, outcome } => self.finished(call, outcome),
            Input::SiteFilterChanged {
                session,
                site_filter,
            } => {
                self.site_filter_changed(session, site_filter);
            }
            page => self.handle_page(page),
        }
        self.notice_list_changes(now);
    }

    /// The next output, or `None`.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// When to call [`handle_timeout`](Self::handle_timeout), if no event comes before.
    pub fn poll_timeout(&self) -> Option<Time> {
        self.timers.next()
    }

    /// Fires the timers that are due. Calling it early or often does no harm.
    pub fn handle_timeout(&mut self, now: Time) {
        self.now = now;
        while let Some(timer) = self.timers.pop_due(now) {
            match timer {
                Timer::Deadline(call) => self.expire(call),
                Timer::Retry(browser) => self.retry(browser),
                Timer::Away(browser) => drop(self.unchecked.browsers.insert(browser)),
                Timer::Announce(session) => self.announce_gathered(session),
                Timer::Rest(session) => self.rested(session),
            }
        }
        self.notice_list_changes(now);
    }

    /// A session's current tool list, in published order. Empty if there is no such session.
    pub fn tools(&self, session: SessionId) -> Vec<ToolName> {
        self.listed(session)
    }

    /// Whether a session has several browsers, so that its tools need `browserIndex`.
    pub fn has_several(&self, session: SessionId) -> bool {
        self.sessions
            .get(&session)
            .is_some_and(Session::has_several)
    }

    /// A tab's shared number. `None` while it is not open to sessions.
    pub fn tab(&self, browser: BrowserId, target: &TargetId) -> Option<TabId> {
        self.tab_of(browser, target)
            .filter(|id| self.tabs.get(id).is_some_and(Tab::is_open))
    }

    fn emit(&mut self, output: Output) {
        self.outputs.push_back(output);
    }
}
