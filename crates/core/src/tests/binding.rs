//! Static mode: a session is bound to one tab, which is found or opened for it.

use super::browser::FakeBrowser;
use super::rng::Rng;
use super::sim::*;
use crate::Access::{Act, Read};
use crate::{CallKind, Finish, Input, Output, Refusal, Reply, SessionId, TabId, ToolName};
use std::collections::BTreeSet;
use std::time::Duration;

const A: &str = "https://a.test/";
const B: &str = "https://b.test/";
const C: &str = "https://c.test/";

/// Spec: multi-client 4, 19, 30.
#[test]
fn the_first_call_without_a_tab_opens_one_and_binds_it() {
    let mut sim = Sim::with_fixed_list(&[A]);
    let tab = sim.click_of(ONE);
    assert_eq!(sim.opens(), 1);
    assert_eq!(sim.core.bound_tab(ONE), Some(tab));
    let pages = sim.pages_of(ONE);
    let row = |url: &str| pages.iter().find(|page| &*page.url == url).unwrap();
    assert_eq!(
        (row("about:blank").id, row("about:blank").focused),
        (tab, true)
    );
    assert!(!row(A).focused, "the user's page is left alone");
    assert!(sim.browser.holds("about:blank") && !sim.browser.holds(A));
}

/// Spec: multi-client 19, 32.
#[test]
fn later_calls_without_a_tab_use_the_bound_one() {
    let mut sim = Sim::with_fixed_list(&[A]);
    let tab = sim.click_of(ONE);
    assert_eq!([sim.click_of(ONE), sim.click_of(ONE)], [tab, tab]);
    assert_eq!(sim.opens(), 1);
}

/// Spec: multi-client 1, 2, 8, 41.
#[test]
fn twenty_sessions_get_twenty_tabs_in_one_browser() {
    let mut sim = Sim::new(FakeBrowser::running(&[A]));
    let sessions: Vec<_> = (1..=20).map(SessionId).collect();
    for session in &sessions {
        sim.open_session_as(*session, fixed());
        sim.ask_of(*session, page(CLICK, Act), None);
    }
    sim.settle();
    let tabs: BTreeSet<_> = sessions
        .iter()
        .filter_map(|id| sim.core.bound_tab(*id))
        .collect();
    assert_eq!((tabs.len(), sim.connects()), (20, 1));
    for session in sessions {
        assert_eq!(sim.pages_of(session).len(), 2, "its own and the user's");
    }
}

/// Spec: multi-client 6, 20, 21.
#[test]
fn every_answer_of_fifty_sessions_belongs_to_its_call() {
    let mut sim = Sim::new(FakeBrowser::running(&[A]));
    let mut rng = Rng::seeded(2);
    let mut calls = vec![];
    for round in 0..2_000 {
        let session = SessionId(round % 50 + 1);
        if round < 50 {
            sim.open_session_as(session, fixed());
        }
        sim.browser.latency = Duration::from_millis(rng.below(50) as u64);
        let access = if rng.one_in(3) { Read } else { Act };
        calls.push((session, sim.ask_of(session, page(CLICK, access), None)));
        sim.pass(Duration::from_millis(rng.below(8) as u64));
    }
    sim.run_out();
    assert_eq!(sim.opens(), 50);
    for (session, call) in calls {
        let tab = sim.core.bound_tab(session).unwrap();
        let shared = false;
        assert_eq!(sim.reply(call), Some(Reply::Done { tab, shared }));
    }
}

#[test]
fn the_blank_tab_of_a_launched_browser_counts_as_new() {
    let mut sim = Sim::new(FakeBrowser::new());
    for session in [ONE, TWO] {
        sim.open_session_as(session, fixed());
    }
    let first = sim.click_of(ONE);
    assert_eq!((sim.opens(), sim.browser.tab_count()), (0, 1));
    assert!(sim.browser.holds("about:blank"));
    let second = sim.click_of(TWO);
    assert_eq!((sim.opens(), sim.browser.tab_count()), (1, 2));
    assert_ne!(first, second);
}

#[test]
fn in_a_new_browser_page_1_can_be_named_before_it_exists() {
    let asked = [
        click_in(TabId(1)),
        select_page(TabId(1)),
        CallKind::ListPages,
    ];
    for (first, kind) in asked.into_iter().enumerate() {
        for mut sim in [
            Sim::new(FakeBrowser::new()),
            Sim::new(FakeBrowser::windowless()),
        ] {
            sim.open_session_as(ONE, fixed());
            match sim.call(kind.clone()) {
                Reply::Done { tab, shared } => assert_eq!((tab, shared), (TabId(1), false)),
                Reply::Focused { tab, .. } => assert_eq!((tab.id, tab.focused), (TabId(1), true)),
                Reply::Pages { pages, selected } => {
                    assert_eq!((pages.len(), selected), (1, Some(TabId(1))));
                }
                other => panic!("call {first} answered {other:?}"),
            }
            assert_eq!(sim.core.bound_tab(ONE), Some(TabId(1)));
            assert_eq!(sim.browser.tab_count(), 1);
            assert_eq!(sim.click_of(ONE), TabId(1));
        }
    }
}

/// Page 1 is the last page and cannot be closed, until there is another.
#[test]
fn page_1_of_a_new_browser_stays_until_there_is_another() {
    for mut sim in [
        Sim::new(FakeBrowser::new()),
        Sim::new(FakeBrowser::windowless()),
    ] {
        sim.open_session_as(ONE, fixed());
        let kept = sim.call(close_page(TabId(1)));
        let last = Refusal::LastPage { tab: TabId(1) };
        assert_eq!(kept, Reply::Refused(last));
        assert_eq!(sim.core.bound_tab(ONE), Some(TabId(1)));
        assert_eq!((sim.browser.tab_count(), sim.pages_of(ONE).len()), (1, 1));
        sim.call(new_page(A));
        let closed = sim.call(close_page(TabId(1)));
        assert!(matches!(closed, Reply::Closed { .. }), "{closed:?}");
        assert_eq!(sim.core.bound_tab(ONE), Some(TabId(2)));
    }
}

#[test]
fn calls_that_name_page_1_at_once_share_one_new_tab() {
    let mut sim = Sim::new(FakeBrowser::windowless());
    sim.open_session_as(ONE, fixed());
    let calls =
        [CallKind::ListPages, click_in(TabId(1)), page(CLICK, Act)].map(|kind| sim.ask(kind));
    // The new tab gets its number before it has loaded.
    sim.pass(sim.browser.latency * 5 / 2);
    assert_eq!((sim.opens(), sim.core.bound_tab(ONE)), (1, None));
    let late = sim.ask(click_in(TabId(1)));
    sim.settle();
    assert_eq!((sim.opens(), sim.browser.tab_count()), (1, 1));
    for call in calls.into_iter().chain([late]) {
        match sim.reply(call) {
            Some(Reply::Done { tab, .. }) => assert_eq!(tab, TabId(1)),
            Some(Reply::Pages { selected, .. }) => assert_eq!(selected, Some(TabId(1))),
            other => panic!("{call:?} answered {other:?}"),
        }
    }
}

#[test]
fn page_1_is_not_opened_if_its_number_was_used_or_the_browser_is_the_users() {
    // Page 1 belonged to another session and is gone.
    let mut sim = Sim::new(FakeBrowser::windowless());
    for session in [ONE, TWO] {
        sim.open_session_as(session, fixed());
    }
    sim.click_of(TWO);
    sim.close_session(TWO);
    sim.settle();
    let refused = |reply| matches!(reply, Reply::Refused(Refusal::UnknownTab { .. }));
    assert!(refused(sim.call(click_in(TabId(1)))));
    assert_eq!(sim.opens(), 1);
    assert!(
        refused(sim.call(click_in(TabId(7)))),
        "no other number is made"
    );
    // In the user's own browser neither a number nor a list opens a tab.
    let mut sim = Sim::new(FakeBrowser::running(&[]));
    sim.open_session_as(ONE, fixed());
    assert!(refused(sim.call(select_page(TabId(1)))));
    assert!(sim.pages_of(ONE).is_empty());
    assert_eq!(sim.opens(), 0);
}

#[test]
fn concurrent_first_calls_share_one_new_tab() {
    let mut sim = Sim::with_fixed_list(&[A]);
    let calls: Vec<_> = [Act, Read, Act, Act]
        .map(|access| sim.ask(page(CLICK, access)))
        .into();
    sim.settle();
    let tab = sim.core.bound_tab(ONE).unwrap();
    let shared = false;
    for call in &calls {
        assert_eq!(sim.reply(*call), Some(Reply::Done { tab, shared }));
    }
    assert_eq!((sim.opens(), sim.connects()), (1, 1));
    assert_eq!(sim.runs(), [calls[0], calls[1], calls[2], calls[3]]);
}

#[test]
fn if_the_call_that_opens_the_tab_fails_the_next_one_opens_another() {
    let mut sim = Sim::with_fixed_list(&[A]);
    sim.pages_of(ONE);
    sim.browser.hangs = true;
    let calls = [Act, Act].map(|access| sim.ask(page(CLICK, access)));
    sim.settle();
    assert_eq!(sim.opens(), 1);
    sim.browser.hangs = false;
    sim.cancel(calls[0]);
    assert!(sim.outputs.contains(&Output::Abort { call: calls[0] }));
    sim.settle();
    assert!(matches!(sim.reply(calls[1]), Some(Reply::Done { .. })));
    assert_eq!(
        (sim.opens(), sim.browser.tab_count()),
        (2, 2),
        "the first one is closed"
    );
}

#[test]
fn a_tab_that_cannot_be_opened_is_an_error_for_each_call_that_tried() {
    let mut sim = Sim::with_fixed_list(&[A]);
    sim.pages_of(ONE);
    sim.browser.hangs = true;
    let calls = [Act, Act].map(|access| sim.ask(page(CLICK, access)));
    let message = "The browser refuses.".to_owned();
    for call in calls {
        let outcome = Finish::Failed {
            message: message.clone(),
        };
        sim.happen(Input::Finished { call, outcome });
        let message = message.clone();
        assert_eq!(sim.reply(call), Some(Reply::Failed { message }));
    }
    assert_eq!(sim.opens(), 2);
}

#[test]
fn a_new_tab_that_is_lost_before_it_is_used_is_an_error() {
    let mut sim = Sim::with_fixed_list(&[A]);
    sim.pages_of(ONE);
    sim.browser.hangs = true;
    let call = sim.ask(page(CLICK, Act));
    sim.settle();
    sim.user_closes("about:blank");
    let refusal = Refusal::NotOpened { tool: CLICK };
    assert_eq!(sim.reply(call), Some(Reply::Refused(refusal)));
    sim.browser.hangs = false;
    sim.click_of(ONE);
}

/// Spec: multi-client 3, 18, 20, 31, 42.
#[test]
fn a_named_tab_is_bound_and_gets_the_action() {
    let mut sim = Sim::with_fixed_list(&[A, B]);
    let b = sim.page_at(B);
    let tab = b;
    let shared = false;
    assert_eq!(sim.call(click_in(b)), Reply::Done { tab, shared });
    let target = sim.browser.at(B);
    let Some(Output::Run { target: at, .. }) = sim
        .outputs
        .iter()
        .rfind(|output| matches!(output, Output::Run { .. }))
    else {
        panic!("it runs");
    };
    assert_eq!(*at, target);
    assert_eq!(sim.core.bound_tab(ONE), Some(b));
    assert_eq!((sim.click_of(ONE), sim.opens()), (b, 0));
}

/// Spec: multi-client 31.
#[test]
fn selecting_and_opening_bind_too() {
    let mut sim = Sim::with_fixed_list(&[A]);
    let a = sim.page_at(A);
    let reply = sim.call(select_page(a));
    assert!(matches!(reply, Reply::Focused { tab, shared: false, .. } if tab.focused));
    assert_eq!(sim.click_of(ONE), a);
    let Reply::Opened { tab, .. } = sim.call(new_page(B)) else {
        panic!("it opens");
    };
    assert!(tab.focused);
    assert_eq!(sim.click_of(ONE), tab.id);
    assert!(!sim.browser.holds(A), "one tab at most");
}

#[test]
fn a_tab_named_while_the_first_one_is_being_opened_stays_bound() {
    let mut sim = Sim::with_fixed_list(&[A]);
    let a = sim.page_at(A);
    let first = sim.ask(page(CLICK, Act));
    let named = sim.ask(click_in(a));
    sim.settle();
    let (tab, shared) = (a, false);
    assert_eq!(sim.reply(named), Some(Reply::Done { tab, shared }));
    assert!(matches!(sim.reply(first), Some(Reply::Done { tab, .. }) if tab != a));
    assert_eq!(sim.click_of(ONE), a);
}

/// Spec: multi-client 36.
#[test]
fn a_named_tab_that_does_not_exist_is_a_clear_error() {
    let mut sim = Sim::with_fixed_list(&[A]);
    for kind in [click_in("77"), select_page(77.0), close_page("seven")] {
        let Reply::Refused(refusal) = sim.call(kind) else {
            panic!("there is no such tab");
        };
        let text = refusal.to_string();
        assert!(
            text.ends_with("Available tabs: 1. Call list_pages to see the tabs."),
            "{text}"
        );
    }
    assert_eq!(sim.opens(), 0);
}

#[test]
fn a_tool_of_the_other_mode_is_not_offered() {
    let mut sim = Sim::with_fixed_list(&[A]);
    sim.open_session(TWO, true);
    sim.call_of(TWO, connect(false));
    let a = sim.page_at(A);
    let progressive = [
        connect(true),
        CallKind::ListTabs,
        open_tab(B, true),
        focus_tab(a),
        close_tab(a),
    ];
    let fixed = [
        CallKind::ListPages,
        new_page(B),
        select_page(a),
        close_page(a),
    ];
    let foreign = progressive.map(|kind| (ONE, kind)).into_iter();
    for (session, kind) in foreign.chain(fixed.map(|kind| (TWO, kind))) {
        let tool = kind.tool();
        let refusal = Refusal::OtherList { tool };
        assert_eq!(sim.call_of(session, kind), Reply::Refused(refusal));
    }
}

#[test]
fn in_progressive_mode_only_the_focused_tab_can_be_named() {
    let mut sim = Sim::new(FakeBrowser::running(&[A, B]));
    sim.open_session(ONE, true);
    sim.call(connect(false));
    let (a, b) = (sim.tab(A), sim.tab(B));
    sim.focus(a);
    let (tool, tab) = (CLICK, b);
    let refusal = Refusal::NotFocused { tool, tab };
    assert_eq!(sim.call(click_in(b)), Reply::Refused(refusal));
    assert!(matches!(sim.call(click_in(a)), Reply::Done { .. }));
    assert_eq!(sim.core.bound_tab(ONE), Some(a));
}

/// Spec: decisions 14.
#[test]
fn the_last_page_that_a_session_sees_cannot_be_closed() {
    let mut sim = Sim::with_fixed_list(&[A]);
    sim.open_session_as(TWO, fixed());
    sim.call_of(TWO, new_page(B));
    let a = sim.page_at(A);
    let refusal = Refusal::LastPage { tab: a };
    assert_eq!(
        sim.call(close_page(a)),
        Reply::Refused(refusal),
        "B is another's"
    );
    sim.call(new_page(C));
    let c = sim.page_at(C);
    let calls = [sim.ask(close_page(a)), sim.ask(close_page(c))];
    sim.settle();
    assert_eq!(sim.reply(calls[0]), Some(closed(a)));
    let refusal = Refusal::LastPage { tab: c };
    assert_eq!(sim.reply(calls[1]), Some(Reply::Refused(refusal)));
}

#[test]
fn a_withheld_tool_does_not_exist() {
    let mut sim = Sim::new(FakeBrowser::new());
    let withheld = vec![CLICK, ToolName::LIST_PAGES];
    sim.open_session_as(
        ONE,
        crate::SessionConfig {
            withheld,
            ..fixed()
        },
    );
    let refusal = Refusal::NotOffered { tool: CLICK };
    assert_eq!(sim.call(page(CLICK, Act)), Reply::Refused(refusal));
    let tool = ToolName::LIST_PAGES;
    let refusal = Refusal::NotOffered { tool };
    assert_eq!(sim.call(CallKind::ListPages), Reply::Refused(refusal));
    assert!(!sim.core.tools(ONE).contains(&CLICK));
    assert!(!sim.core.tools(ONE).contains(&tool));
    assert!(sim.core.tools(ONE).contains(&SNAPSHOT));
}

#[test]
fn a_session_that_may_only_read_cannot_act() {
    let mut sim = Sim::new(FakeBrowser::new());
    sim.open_session_as(
        ONE,
        crate::SessionConfig {
            reading: Some(vec![SNAPSHOT, ToolName::LIST_PAGES]),
            ..fixed()
        },
    );
    let refusal = Refusal::OnlyReads { tool: CLICK };
    assert_eq!(sim.call(page(CLICK, Act)), Reply::Refused(refusal));
    assert!(!matches!(sim.call(CallKind::ListPages), Reply::Refused(_)));
    assert!(!matches!(sim.call(page(SNAPSHOT, Read)), Reply::Refused(_)));
}

#[test]
fn switched_off_page_actions_do_not_exist() {
    let mut sim = Sim::new(FakeBrowser::new());
    let page_actions = false;
    sim.open_session_as(
        ONE,
        crate::SessionConfig {
            page_actions,
            ..fixed()
        },
    );
    let refusal = Refusal::NotOffered { tool: CLICK };
    assert_eq!(sim.call(page(CLICK, Act)), Reply::Refused(refusal));
    assert!(!sim.core.tools(ONE).contains(&CLICK));
    assert!(sim.core.tools(ONE).contains(&ToolName::CONNECTION_STATUS));
}
