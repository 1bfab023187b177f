//! Whatever happens in whatever order, every call is answered exactly once and in time.
//!
//! Here the inputs are arbitrary: late, doubled, contradictory, about things that never were. Nothing
//! reacts to the outputs; they are only checked. `PROPTEST_CASES` sets how many histories are tried.

use super::browser::facts;
use super::page_inputs::{is_read_only, page_call, page_input, page_with_tool};
use super::sim::{CLICK, HANDLE_DIALOG, SNAPSHOT, STATIC_TOOLS};
use crate::{
    Access, BrowserFacts, BrowserId, BrowserKey, CallId, CallKind, Config, ConnectFailure, Core,
    Finish, Heritage, Input, Meant, Mode, OnEnd, Origin, Output, Place, Reply, RequestId, Routing,
    SchemaId, SessionConfig, SessionId, TabId, TabPolicy, TabRef, TargetId, Time, ToolName,
};
use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestRunner};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

#[test]
fn every_call_is_answered_exactly_once() {
    let config = ProptestConfig {
        rng_seed: RngSeed::Fixed(4),
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let (cases, ran, tools_ran) = (config.cases as usize, Cell::new(0), Cell::new(0));
    let histories = (
        prop::option::weighted(0.9, beginning()),
        prop::collection::vec(step(), 1..150),
    );
    let outcome = TestRunner::new(config).run(&histories, |(beginning, steps)| {
        let mut chaos = Chaos::new();
        for step in beginning.into_iter().flatten().chain(steps) {
            chaos.take(step);
        }
        chaos.run_out();
        chaos.everybody_leaves();
        ran.set(ran.get() + chaos.ran);
        tools_ran.set(tools_ran.get() + chaos.tools_ran);
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
    let (ran, tools_ran) = (ran.get(), tools_ran.get());
    assert!(
        ran > cases / 2 && tools_ran > cases / 2,
        "{ran} page actions and {tools_ran} page tools in {cases} histories prove little"
    );
}

#[derive(Clone, Debug)]
enum Step {
    Happens(Input),
    Calls {
        session: SessionId,
        request: u8,
        kind: CallKind,
        browser: Option<i64>,
        timeout: Option<Duration>,
    },
    /// The driver finishes one of the calls that were ever made, counted from the newest.
    Finishes {
        back: u64,
        outcome: Finish,
    },
    /// A tab appears for one of the calls that were ever made, counted from the newest.
    Opens {
        back: u64,
        browser: BrowserId,
        target: u8,
    },
    Passes(Duration),
}

/// Two sessions, a browser that is there and a page with a tool: from here more can happen than from
/// nothing.
fn beginning() -> impl Strategy<Value = Vec<Step>> {
    (session_config(), session_config()).prop_map(|(one, two)| {
        let open = |session, config| {
            let session = SessionId(session);
            Step::Happens(Input::SessionOpened { session, config })
        };
        let call = |session, kind: CallKind, several: bool| Step::Calls {
            session: SessionId(session),
            request: 11,
            kind,
            browser: several.then_some(1),
            timeout: None,
        };
        let connect = |session, config: &SessionConfig| {
            let several = config.browsers.len() > 1;
            match config.mode {
                Mode::Static => call(session, CallKind::ListPages, several),
                Mode::Progressive => {
                    call(session, CallKind::ConnectBrowser { launch: true }, several)
                }
            }
        };
        let bind = |session, config: &SessionConfig| {
            let tab = TabRef::from(f64::from(session as u32 + 1));
            match config.mode {
                Mode::Static => {
                    let several = config.browsers.len() > 1;
                    call(session, CallKind::SelectPage { tab }, several)
                }
                Mode::Progressive => call(session, CallKind::FocusTab { tab }, false),
            }
        };
        let finish = |back| Step::Finishes {
            back,
            outcome: Finish::Done,
        };
        let connects = [connect(1, &one), connect(2, &two)];
        let binds = [bind(1, &one), bind(2, &two)];
        let about = BrowserFacts {
            name: "Chrome".into(),
            version: "1".into(),
            launched: false,
        };
        let connected = Input::Connected {
            browser: BrowserId(1),
            about,
            tabs: (0..3).map(|n| facts(&target(n).0, page(n))).collect(),
            front: Some(target(1)),
        };
        let mut steps = vec![open(1, one), open(2, two)];
        steps.extend(connects);
        steps.push(Step::Happens(connected));
        steps.extend([finish(0), finish(1)]);
        steps.extend(binds);
        steps.extend([finish(0), finish(1)]);
        steps.extend(page_with_tool().map(Step::Happens));
        steps
    })
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        1 => session_input().prop_map(Step::Happens),
        3 => browser_input().prop_map(Step::Happens),
        4 => tab_input().prop_map(Step::Happens),
        16 => page_input().prop_map(Step::Happens),
        18 => (session(), 0..30_u8, kind(), index(), timeout()).prop_map(
            |(session, request, kind, browser, timeout)| {
                Step::Calls { session, request, kind, browser, timeout }
            }
        ),
        12 => (0..6_u64, outcome()).prop_map(|(back, outcome)| Step::Finishes { back, outcome }),
        2 => (0..4_u64, browser(), 0..8_u8).prop_map(|(back, browser, target)| {
            Step::Opens { back, browser, target }
        }),
        2 => (0..40_000_u64).prop_map(|ms| Step::Passes(Duration::from_millis(ms))),
        1 => (0..30_u64).prop_map(|ms| Step::Passes(Duration::from_millis(ms))),
    ]
}

fn session_input() -> impl Strategy<Value = Input> {
    prop_oneof![
        4 => (session(), session_config()).prop_map(|(session, config)| {
            Input::SessionOpened { session, config }
        }),
        1 => session().prop_map(|session| Input::SessionClosed { session }),
        3 => (session(), 0..30_u8).prop_map(|(session, n)| {
            Input::Cancel { session, request: request(n) }
        }),
    ]
}

fn session_config() -> impl Strategy<Value = SessionConfig> {
    let mode = prop_oneof![Just(Mode::Progressive), Just(Mode::Static)];
    let on_end = prop_oneof![3 => Just(OnEnd::Close), 1 => Just(OnEnd::Keep)];
    let tab_policy = prop_oneof![
        2 => Just(TabPolicy::Respect),
        1 => Just(TabPolicy::Exclusive),
        1 => Just(TabPolicy::Shared),
    ];
    let flags = (
        any::<bool>(),
        prop::bool::weighted(0.8),
        prop::bool::weighted(0.2),
    );
    (0..2_u8, mode, on_end, tab_policy, flags).prop_map(
        |(key, mode, on_end, tab_policy, (attached, page_actions, isolated))| SessionConfig {
            browsers: (0..=key).map(|key| meant(key, attached)).collect(),
            may_choose_default: attached,
            mode,
            page_actions,
            generated_tools: true,
            withheld: Vec::new(),
            on_end,
            tab_policy,
            isolated,
            routing: match attached {
                true => Routing::Smart,
                false => Routing::Hybrid,
            },
            heritage: Heritage {
                opened: vec![TargetId("t-1".into())],
                bound: vec![TargetId("t-2".into())],
                lost: attached.then_some(TabId(1)),
            },
        },
    )
}

fn browser_input() -> impl Strategy<Value = Input> {
    prop_oneof![
        6 => (browser(), 0..4_u8, any::<bool>()).prop_map(|(browser, tabs, launched)| {
            let about = BrowserFacts { name: "Chrome".into(), version: "1".into(), launched };
            let tabs = (0..tabs).map(|n| facts(&target(n).0, page(n))).collect();
            let front = Some(target(1));
            Input::Connected { browser, about, tabs, front }
        }),
        1 => browser().prop_map(|browser| {
            let failure = ConnectFailure::NotFound;
            Input::ConnectFailed { browser, failure }
        }),
        1 => browser().prop_map(|browser| {
            let reason = "it was closed".to_owned();
            Input::BrowserGone { browser, reason }
        }),
    ]
}

fn tab_input() -> impl Strategy<Value = Input> {
    let origin = prop_oneof![
        3 => Just(Origin::Browser),
        2 => (0..8_u8).prop_map(|n| Origin::Popup { opener: target(n) }),
        1 => Just(Origin::Spare),
    ];
    prop_oneof![
        3 => (browser(), 0..8_u8, 0..4_u8, origin).prop_map(|(browser, n, at, origin)| {
            let tab = facts(&target(n).0, page(at));
            Input::TabAppeared { browser, tab, origin }
        }),
        1 => (browser(), 0..8_u8, 0..4_u8).prop_map(|(browser, n, at)| {
            let tab = facts(&target(n).0, page(at));
            Input::TabChanged { browser, tab }
        }),
        3 => (browser(), 0..8_u8, any::<bool>()).prop_map(|(browser, n, crashed)| {
            Input::TabGone { browser, target: target(n), crashed }
        }),
    ]
}

fn kind() -> impl Strategy<Value = CallKind> {
    let named = || (1..12_u32).prop_map(|tab| TabRef::from(f64::from(tab)));
    prop_oneof![
        4 => any::<bool>().prop_map(|launch| CallKind::ConnectBrowser { launch }),
        1 => Just(CallKind::ListTabs),
        4 => any::<bool>().prop_map(|focus| CallKind::OpenTab { url: "https://o.test/".into(), focus }),
        4 => named().prop_map(|tab| CallKind::FocusTab { tab }),
        3 => prop::option::of(named()).prop_map(|tab| CallKind::CloseTab { tab }),
        1 => Just(CallKind::ListPages),
        2 => Just(CallKind::NewPage { url: "https://n.test/".into() }),
        2 => named().prop_map(|tab| CallKind::SelectPage { tab }),
        2 => named().prop_map(|tab| CallKind::ClosePage { tab }),
        1 => Just(CallKind::ConnectionStatus),
        1 => Just(CallKind::ListBrowsers),
        1 => any::<bool>().prop_map(|force| CallKind::ReconnectBrowser { force }),
        1 => (0..3_u8).prop_map(|key| CallKind::AddBrowser { meant: meant(key, true) }),
        1 => Just(CallKind::DisconnectBrowser),
        1 => Just(CallKind::SelectDefaultBrowser),
        16 => page_call(),
        12 => (page_action(), prop::option::weighted(0.2, named())).prop_map(|((tool, access), tab)| {
            CallKind::Page { tool, access, tab }
        }),
    ]
}

/// Mostly what is right for a session with one browser.
fn index() -> impl Strategy<Value = Option<i64>> {
    prop_oneof![4 => Just(None), 3 => Just(Some(1)), 1 => (-1..4_i64).prop_map(Some)]
}

fn meant(key: u8, attached: bool) -> Meant {
    Meant {
        key: BrowserKey(format!("browser-{key}").into()),
        label: "a browser".into(),
        attached,
    }
}

fn page_action() -> impl Strategy<Value = (ToolName, Access)> {
    prop_oneof![
        6 => Just((CLICK, Access::Act)),
        2 => Just((SNAPSHOT, Access::Read)),
        1 => Just((HANDLE_DIALOG, Access::Bypass)),
    ]
}

fn outcome() -> impl Strategy<Value = Finish> {
    prop_oneof![
        3 => Just(Finish::Done),
        1 => Just(Finish::Failed { message: "It failed.".to_owned() }),
    ]
}

fn timeout() -> impl Strategy<Value = Option<Duration>> {
    prop::option::of((0..100_000_u64).prop_map(Duration::from_millis))
}

fn session() -> impl Strategy<Value = SessionId> {
    prop_oneof![6 => Just(SessionId(1)), 3 => Just(SessionId(2)), 1 => Just(SessionId(3))]
}

pub(super) fn browser() -> impl Strategy<Value = BrowserId> {
    prop_oneof![4 => Just(BrowserId(1)), 2 => Just(BrowserId(2)), 1 => Just(BrowserId(3))]
}

fn request(n: u8) -> RequestId {
    RequestId(format!("r{n}").into())
}

pub(super) fn target(n: u8) -> TargetId {
    TargetId(format!("T{n}").into())
}

fn page(n: u8) -> &'static str {
    [
        "about:blank",
        "https://a.test/",
        "https://b.test/",
        "https://untitled.test/",
    ][usize::from(n)]
}

/// A core, and what it owes.
struct Chaos {
    core: Core,
    now: Time,
    calls: BTreeMap<CallId, Asked>,
    acting: BTreeMap<Place, CallId>,
    closing: BTreeMap<CallId, Tab>,
    held: BTreeSet<Tab>,
    /// What each client's list is, if it fetches it when it is told to.
    lists: BTreeMap<SessionId, List>,
    /// How many page actions and page tools were run.
    ran: usize,
    tools_ran: usize,
    /// Whether each client knows that it has to say which browser.
    several: BTreeMap<SessionId, bool>,
}

type Tab = (BrowserId, TargetId);
type List = Vec<(ToolName, Option<SchemaId>)>;

struct Asked {
    acts: bool,
    latest: Time,
    at_work: bool,
    answered: bool,
}

impl Chaos {
    fn new() -> Self {
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

    fn take(&mut self, step: Step) {
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
                let origin = Origin::Call(self.newest(back));
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

    /// Lets all timers go off. After that nobody waits for anything.
    fn run_out(&mut self) {
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
    fn everybody_leaves(&mut self) {
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
            Input::BrowserGone { browser, .. } => self.held.retain(|(at, _)| at != browser),
            // What ran in a page before we knew its tab does not wait for what ran in the tab.
            Input::PageJoined { .. } => self.acting.clear(),
            // One piece of work is over; the call may have another.
            Input::Finished { call, .. } => {
                if let Some(asked) = self.calls.get_mut(call) {
                    asked.at_work = false;
                }
            }
            _ => {}
        }
        self.core.handle(self.now, input);
        self.check();
        // Nobody is told that there is a new session, or none any more.
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
                        let place = Place::Browser { browser, target };
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

    /// A session's list, and what is published of the tools of pages.
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
