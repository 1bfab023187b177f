//! Arbitrary inputs: late, repeated, contradictory, about things that never existed.

use crate::tests::browser::facts;
use crate::tests::page_inputs::{page_call, page_input, page_with_tool};
use crate::tests::sim::{CLICK, HANDLE_DIALOG, SNAPSHOT};
use crate::{
    Access, BrowserFacts, BrowserId, BrowserKey, BrowserRef, CallKind, ConnectFailure, Fate,
    Finish, Hidden, Input, Loss, LostTab, Mode, Numbering, OnEnd, PageNumbers, RequestId,
    RestoredTabs, Routing, SessionConfig, SessionId, SiteFilter, TabId, TabOpener, TabPolicy,
    TabRef, TargetId, ToolName,
};
use proptest::prelude::*;
use std::sync::LazyLock;
use std::time::Duration;

#[derive(Clone, Debug)]
pub(super) enum Step {
    Happens(Input),
    Calls {
        session: SessionId,
        request: u8,
        kind: CallKind,
        browser: Option<i64>,
        timeout: Option<Duration>,
    },
    /// The driver finishes one of all calls so far, counted from the newest.
    Finishes {
        back: u64,
        outcome: Finish,
    },
    /// A tab appears for one of all calls so far, counted from the newest.
    Opens {
        back: u64,
        browser: BrowserId,
        target: u8,
    },
    Passes(Duration),
}

/// Two sessions, a connected browser and a page with a tool: more inputs have an effect than in an empty core.
pub(super) fn beginning() -> impl Strategy<Value = Vec<Step>> {
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
            replaces: false,
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

pub(super) fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        1 => session_input().prop_map(Step::Happens),
        3 => browser_input().prop_map(Step::Happens),
        4 => tab_input().prop_map(Step::Happens),
        2 => person_input().prop_map(Step::Happens),
        16 => page_input().prop_map(Step::Happens),
        20 => (session(), 0..30_u8, kind(), index(), timeout()).prop_map(
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

/// No site filter, or one of two that sessions share; each hides one of the pages.
fn filter(n: u8) -> SiteFilter {
    static FILTERS: LazyLock<[SiteFilter; 2]> = LazyLock::new(|| {
        [1, 2].map(|hidden| {
            SiteFilter::new(move |address| {
                (address == page(hidden)).then(|| Hidden {
                    origin: "https://hidden.test".into(),
                    why: "It is hidden.".into(),
                })
            })
        })
    });
    let filter = FILTERS.get(usize::from(n));
    filter.cloned().unwrap_or_default()
}

fn session_input() -> impl Strategy<Value = Input> {
    prop_oneof![
        4 => (session(), session_config()).prop_map(|(session, config)| {
            Input::SessionOpened { session, config }
        }),
        1 => session().prop_map(|session| Input::SessionClosed { session }),
        2 => (session(), 0..4_u8).prop_map(|(session, n)| {
            Input::SiteFilterChanged { session, site_filter: filter(n) }
        }),
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
        0..4_u8,
        prop::bool::weighted(0.3),
    );
    (0..2_u8, mode, on_end, tab_policy, flags).prop_map(|(key, mode, on_end, tab_policy, flags)| {
        let (attached, page_actions, isolated, filtered, only_own_browsers) = flags;
        SessionConfig {
            label: "Agent".into(),
            browsers: (0..=key).map(|key| browser_ref(key, attached)).collect(),
            connects_at_once: attached,
            may_choose_default: attached,
            mode,
            page_actions,
            generated_tools: true,
            withheld: Vec::new(),
            reading: None,
            on_request: Vec::new(),
            added: Vec::new(),
            only: None,
            numbering: match page_actions {
                true => Numbering::Own,
                false => Numbering::Shared,
            },
            on_end,
            tab_policy,
            isolated,
            only_own_browsers,
            follow_user_focus: attached,
            routing: match attached {
                true => Routing::Smart,
                false => Routing::Hybrid,
            },
            site_filter: filter(filtered),
            restored_tabs: RestoredTabs {
                opened: vec![TargetId("t-1".into())],
                bound: vec![TargetId("t-2".into())],
                lost: attached.then_some(Loss {
                    browser: None,
                    tab: LostTab {
                        tab: TabId(1),
                        fate: Fate::BrowserGone,
                    },
                }),
                connected: isolated.then(|| browser_ref(0, attached).key),
                numbers: PageNumbers::default(),
            },
        }
    })
}

fn browser_input() -> impl Strategy<Value = Input> {
    prop_oneof![
        6 => (browser(), 0..4_u8, any::<bool>(), any::<bool>()).prop_map(|(browser, tabs, launched, replaces)| {
            let about = BrowserFacts { name: "Chrome".into(), version: "1".into(), launched };
            let tabs = (0..tabs).map(|n| facts(&target(n).0, page(n))).collect();
            let front = Some(target(1));
            Input::Connected { browser, about, tabs, front, replaces }
        }),
        1 => browser().prop_map(|browser| {
            let failure = ConnectFailure::NotFound;
            Input::ConnectFailed { browser, failure }
        }),
        1 => browser().prop_map(|browser| {
            let reason = "it was closed".to_owned();
            Input::BrowserGone { browser, reason }
        }),
        1 => browser().prop_map(|browser| {
            let reason = "its connection ended".to_owned();
            Input::ConnectionLost { browser, reason }
        }),
        1 => browser().prop_map(|browser| Input::Reachable { browser }),
        1 => browser().prop_map(|browser| Input::StillConnecting { browser }),
    ]
}

fn tab_input() -> impl Strategy<Value = Input> {
    let origin = prop_oneof![
        3 => Just(TabOpener::Browser),
        2 => (0..8_u8).prop_map(|n| TabOpener::Popup { opener: target(n) }),
        1 => Just(TabOpener::Spare),
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

/// What the person does. Pauses are short, so that other inputs have an effect between them.
fn person_input() -> impl Strategy<Value = Input> {
    prop_oneof![
        1 => Just(Input::Paused),
        7 => Just(Input::Resumed),
        4 => (browser(), 0..8_u8).prop_map(|(browser, n)| {
            Input::TakenBack { browser, target: target(n) }
        }),
        4 => (session(), browser(), 0..8_u8).prop_map(|(session, browser, n)| {
            Input::Given { session, browser, target: target(n) }
        }),
        1 => (session(), any::<bool>()).prop_map(|(session, follows)| {
            Input::FollowChanged { session, follows }
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
        1 => (0..3_u8).prop_map(|key| CallKind::AddBrowser { wanted: browser_ref(key, true) }),
        1 => Just(CallKind::DisconnectBrowser),
        1 => Just(CallKind::SelectDefaultBrowser),
        16 => page_call(),
        12 => (page_action(), prop::option::weighted(0.2, named())).prop_map(|((tool, access), tab)| {
            CallKind::Page { tool, access, tab }
        }),
    ]
}

/// Mostly valid for a session with one browser.
fn index() -> impl Strategy<Value = Option<i64>> {
    prop_oneof![4 => Just(None), 3 => Just(Some(1)), 1 => (-1..4_i64).prop_map(Some)]
}

fn browser_ref(key: u8, attached: bool) -> BrowserRef {
    BrowserRef {
        key: BrowserKey(format!("browser-{key}").into()),
        label: "a browser".into(),
        attached,
        leased: key == 2,
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
        6 => Just(Finish::Done),
        1 => Just(Finish::NotBegun),
        2 => Just(Finish::Failed { message: "It failed.".to_owned() }),
    ]
}

fn timeout() -> impl Strategy<Value = Option<Duration>> {
    prop::option::of((0..100_000_u64).prop_map(Duration::from_millis))
}

fn session() -> impl Strategy<Value = SessionId> {
    prop_oneof![6 => Just(SessionId(1)), 3 => Just(SessionId(2)), 1 => Just(SessionId(3))]
}

pub(in super::super) fn browser() -> impl Strategy<Value = BrowserId> {
    prop_oneof![4 => Just(BrowserId(1)), 2 => Just(BrowserId(2)), 1 => Just(BrowserId(3))]
}

pub(super) fn request(n: u8) -> RequestId {
    RequestId(format!("r{n}").into())
}

pub(in super::super) fn target(n: u8) -> TargetId {
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
