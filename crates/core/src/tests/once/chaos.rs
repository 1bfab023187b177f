//! A core that gets arbitrary inputs, and the invariants that must hold.

use super::steps::{Step, request, target};
use crate::tests::browser::facts;
use crate::tests::page_inputs::is_read_only;
use crate::tests::sim::{CLICK, HANDLE_DIALOG, SNAPSHOT, STATIC_TOOLS, check_persistence_version};
use crate::{
    Access, BrowserId, CallId, CallKind, Config, Core, Input, Output, Reply, SchemaId, SessionId,
    TabLocation, TabOpener, TargetId, Time, ToolName,
};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// A core, and the answers that it still owes.
pub(super) struct Chaos {
    core: Core,
    now: Time,
    calls: BTreeMap<CallId, Asked>,
    acting: BTreeMap<TabLocation, CallId>,
    closing: BTreeMap<CallId, Tab>,
    held: BTreeSet<Tab>,
    /// The list of each client, if it fetches it at every notice.
    lists: BTreeMap<SessionId, List>,
    /// How many page actions and page tools were run.
    pub(super) ran: usize,
    pub(super) tools_ran: usize,
    /// Whether each client knows that it needs `browserIndex`.
    several: BTreeMap<SessionId, bool>,
    persistence_version: (u64, String),
}

type Tab = (BrowserId, TargetId);
type List = Vec<(ToolName, Option<SchemaId>)>;

struct Asked {
    acts: bool,
    latest: Time,
    since: Time,
    limit: Duration,
    at_work: bool,
    answered: bool,
}

impl Chaos {
    pub(super) fn new() -> Self {
        Self {
            core: Core::new(Config {
                page_actions: vec![CLICK, SNAPSHOT, HANDLE_DIALOG],
                tab_tools: vec![CLICK, SNAPSHOT, HANDLE_DIALOG],
                static_tools: STATIC_TOOLS.to_vec(),
                sessions: 2,
                calls_per_session: 8,
                calls_per_tab: 3,
                page_connections: 2,
                pages_per_connection: 2,
                tools_per_tab: 3,
                page_tools: 9,
                page_tool_names: 4,
                ..Config::default()
            }),
            now: Time::default(),
            persistence_version: (0, String::new()),
            calls: BTreeMap::new(),
            acting: BTreeMap::new(),
            closing: BTreeMap::new(),
            held: BTreeSet::new(),
            lists: BTreeMap::new(),
            ran: 0,
            tools_ran: 0,
            several: BTreeMap::new(),
        }
    }

    pub(super) fn take(&mut self, step: Step) {
        match step {
            Step::Happens(input) => self.handle(input),
            Step::Calls {
                session,
                request: n,
                kind,
                browser,
                timeout,
            } => {
                let call = CallId(self.calls.len() as u64);
                let wanted = timeout.map_or(Duration::ZERO, |timeout| timeout + SECOND);
                let asked = Asked {
                    acts: matches!(
                        kind,
                        CallKind::Page {
                            access: Access::Act,
                            ..
                        }
                    ),
                    latest: self.now + wanted.max(30 * SECOND),
                    since: self.now,
                    limit: wanted.max(30 * SECOND),
                    at_work: false,
                    answered: false,
                };
                self.calls.insert(call, asked);
                self.handle(Input::Call {
                    call,
                    session,
                    request: request(n),
                    kind,
                    browser,
                    timeout,
                });
            }
            Step::Finishes { back, outcome } => {
                let call = self.newest(back);
                self.handle(Input::Finished { call, outcome });
            }
            Step::Opens {
                back,
                browser,
                target: n,
            } => {
                let tab = facts(&target(n).0, "about:blank");
                let origin = TabOpener::Call(self.newest(back));
                self.handle(Input::TabAppeared {
                    browser,
                    tab,
                    origin,
                });
            }
            Step::Passes(time) => {
                let end = self.now + time;
                while let Some(at) = self.core.poll_timeout().filter(|at| *at <= end) {
                    self.wake(at);
                }
                self.now = end;
            }
        }
    }

    /// Fires all timers. After that no call is pending.
    pub(super) fn run_out(&mut self) {
        while let Some(at) = self.core.poll_timeout() {
            self.wake(at);
        }
        for (call, asked) in &self.calls {
            assert!(asked.answered, "{call:?} is never answered");
        }
        for (session, list) in &self.lists {
            assert_eq!(&self.list(*session), list, "{session:?} was not told");
        }
    }

    /// Without sessions, no tab is held.
    pub(super) fn everybody_leaves(&mut self) {
        for session in (1..4).map(SessionId) {
            self.handle(Input::SessionClosed { session });
        }
        assert!(self.held.is_empty(), "still held: {:?}", self.held);
        assert_eq!(self.core.poll_timeout(), None);
    }

    fn handle(&mut self, input: Input) {
        match &input {
            Input::TabGone {
                browser, target, ..
            } => {
                self.held.remove(&(*browser, target.clone()));
            }
            Input::BrowserGone { browser, .. } | Input::ConnectionLost { browser, .. } => {
                self.held.retain(|(at, _)| at != browser)
            }
            // Calls that wait for a browser wait longer, but not for ever.
            Input::StillConnecting { .. } => {
                for asked in self.calls.values_mut() {
                    let longest = asked.since + 600 * SECOND;
                    let latest = longest.min(self.now + asked.limit);
                    asked.latest = latest.max(asked.latest);
                }
            }
            // A call that ran in a page before its tab was known may run in parallel with calls of that tab.
            Input::PageJoined { .. } => self.acting.clear(),
            // One output is done; the call may get another.
            Input::Finished { call, .. } => {
                if let Some(asked) = self.calls.get_mut(call) {
                    asked.at_work = false;
                }
            }
            _ => {}
        }
        self.core.handle(self.now, input);
        self.check();
        // Opening or closing a session causes no notice.
        for session in (1..4).map(SessionId) {
            let list = self.list(session);
            match list.is_empty() {
                true => self.lists.remove(&session),
                false => Some(self.lists.entry(session).or_insert(list).clone()),
            };
        }
    }

    fn wake(&mut self, at: Time) {
        assert!(at >= self.now, "a timer is overdue");
        self.now = at;
        self.core.handle_timeout(self.now);
        self.check();
        assert_ne!(
            self.core.poll_timeout(),
            Some(at),
            "the timer is still there"
        );
    }

    fn check(&mut self) {
        self.core.check_common_lists();
        self.core.check_notices();
        check_persistence_version(&self.core, &mut self.persistence_version);
        while let Some(output) = self.core.poll_output() {
            match output {
                Output::Reply { call, reply, .. } => {
                    if matches!(reply, Reply::Closed { .. }) {
                        self.held.remove(&self.closing[&call]);
                    }
                    self.acting.retain(|_, acting| *acting != call);
                    let asked = self.calls.get_mut(&call).expect("it was asked");
                    assert!(!asked.answered, "{call:?} is answered twice");
                    assert!(self.now <= asked.latest, "{call:?} is answered too late");
                    asked.answered = true;
                }
                Output::Refresh { call, .. }
                | Output::OpenTab { call, .. }
                | Output::PrepareFocus { call, .. } => {
                    self.goes_to_work(call);
                }
                Output::CloseTab {
                    call,
                    browser,
                    target,
                    ..
                } => {
                    self.goes_to_work(call);
                    self.closing.insert(call, (browser, target));
                }
                Output::Run {
                    call,
                    browser,
                    target,
                } => {
                    self.goes_to_work(call);
                    self.ran += 1;
                    if self.calls[&call].acts {
                        let place = TabLocation::Browser { browser, target };
                        let other = self.acting.insert(place, call);
                        assert_eq!(other, None, "two calls act on one tab");
                    }
                }
                Output::RunTool {
                    call, place, tool, ..
                } => {
                    self.goes_to_work(call);
                    self.tools_ran += 1;
                    if !is_read_only(tool) {
                        let other = self.acting.insert(place, call);
                        assert_eq!(other, None, "two calls act on one page");
                    }
                }
                Output::TakeBack { call } => {
                    self.acting.retain(|_, acting| *acting != call);
                    let asked = self.calls.get_mut(&call).expect("it was asked");
                    assert!(asked.at_work && !asked.answered, "{call:?} is nowhere");
                    asked.at_work = false;
                }
                Output::Abort { call } => {
                    let asked = &self.calls[&call];
                    assert!(asked.at_work && !asked.answered, "{call:?} needs no abort");
                }
                Output::ToolsChanged { session } => {
                    let list = self.list(session);
                    assert!(!list.is_empty(), "{session:?} is not open");
                    let several = self.core.has_several(session);
                    let known = self.several.insert(session, several);
                    let is_static = list.contains(&(ToolName::LIST_PAGES, None));
                    let before = self.lists.insert(session, list.clone());
                    let is_news = known != Some(several) || before != Some(list);
                    assert!(!is_static || is_news, "{session:?} is told nothing new");
                }
                Output::Hold { browser, target } => {
                    let new = self.held.insert((browser, target));
                    assert!(new, "a held tab is held again");
                }
                Output::Release { browser, target } => {
                    let held = self.held.remove(&(browser, target));
                    assert!(held, "a free tab is released");
                }
                Output::Discard {
                    browser, target, ..
                } => {
                    self.held.remove(&(browser, target));
                }
                Output::Disconnect { browser } => {
                    self.held.retain(|(place, _)| *place != browser);
                }
                Output::Connect { .. }
                | Output::PagesRefused { .. }
                | Output::PageRefused { .. }
                | Output::ToolsRefused { .. }
                | Output::SessionRefused { .. } => {}
            }
        }
    }

    /// A session's list, and the published content of its page tools.
    fn list(&self, session: SessionId) -> List {
        let tools = self.core.tools(session).into_iter();
        let described = tools.map(|name| {
            let tool = self.core.page_tool(session, name);
            (name, tool.map(|tool| tool.schema))
        });
        described.collect()
    }

    fn goes_to_work(&mut self, call: CallId) {
        let asked = self.calls.get_mut(&call).expect("it was asked");
        assert!(!asked.at_work && !asked.answered, "{call:?} works twice");
        asked.at_work = true;
    }

    fn newest(&self, back: u64) -> CallId {
        CallId((self.calls.len() as u64).saturating_sub(1 + back))
    }
}

const SECOND: Duration = Duration::from_secs(1);
