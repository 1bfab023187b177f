//! What sessions see of each other's tabs, and what they may do with them.

use super::browser::FakeBrowser;
use super::sim::*;
use crate::{Refusal, Reply, SessionConfig, SessionId, TabId, TabPolicy};

const A: &str = "https://a.test/";
const B: &str = "https://b.test/";
const THREE: SessionId = SessionId(3);

fn with(tab_policy: TabPolicy) -> SessionConfig {
    SessionConfig {
        label: "Claude Code · 2".into(),
        tab_policy,
        ..fixed()
    }
}

/// The user's page A, and page B of a session with this policy; two other sessions, one of each mode.
fn holding_b(policy: TabPolicy) -> (Sim, TabId) {
    let mut sim = Sim::new(FakeBrowser::running(&[A]));
    sim.open_session_as(ONE, with(policy));
    sim.open_session_as(TWO, fixed());
    sim.open_session(THREE, true);
    sim.call_of(THREE, connect(false));
    match sim.call(new_page(B)) {
        Reply::Opened { tab, .. } => (sim, tab.id),
        other => panic!("new_page answered {other:?}"),
    }
}

fn seen(sim: &mut Sim) -> [usize; 3] {
    [
        sim.pages_of(ONE).len(),
        sim.pages_of(TWO).len(),
        sim.list_of(THREE).len(),
    ]
}

/// Spec: security 20; multi-client 2.
#[test]
fn tabs_of_another_session_are_in_no_list() {
    for policy in [TabPolicy::Respect, TabPolicy::Exclusive] {
        let (mut sim, b) = holding_b(policy);
        assert_eq!(seen(&mut sim), [2, 1, 1]);
        let Reply::Refused(refusal) = sim.call_of(TWO, click_in("x")) else {
            panic!("there is no such tab");
        };
        assert!(!refusal.to_string().contains(&b.to_string()), "{refusal}");
    }
}

/// Spec: security 20.
#[test]
fn shared_tabs_are_visible_to_all_sessions() {
    let (mut sim, b) = holding_b(TabPolicy::Shared);
    assert_eq!(seen(&mut sim), [2, 2, 2]);
    let pages = sim.pages_of(TWO);
    let row = pages.iter().find(|page| page.id == b).unwrap();
    assert_eq!((row.shared, row.focused), (true, false));
    let own = sim.pages_of(ONE);
    assert!(own.iter().all(|page| !page.shared));
}

#[test]
fn a_tab_is_shared_only_if_all_its_holders_share_it() {
    let (mut sim, b) = holding_b(TabPolicy::Shared);
    sim.call_of(TWO, select_page(b));
    assert_eq!(seen(&mut sim), [2, 2, 1]);
}

/// Spec: multi-client 3.
#[test]
fn a_named_tab_of_another_session_is_used_and_the_answer_says_so() {
    for policy in [TabPolicy::Respect, TabPolicy::Shared] {
        let (mut sim, b) = holding_b(policy);
        let (tab, shared) = (b, true);
        assert_eq!(sim.call_of(TWO, click_in(b)), Reply::Done { tab, shared });
        assert_eq!(sim.core.bound_tab(TWO), Some(b));
        let reply = sim.call_of(TWO, select_page(b));
        assert!(matches!(reply, Reply::Focused { shared: true, .. }));
        let reply = sim.call_of(THREE, focus_tab(b));
        assert!(matches!(reply, Reply::Focused { shared: true, .. }));
        let unnamed = sim.call_of(TWO, page(CLICK, crate::Access::Act));
        let shared = false;
        assert_eq!(
            unnamed,
            Reply::Done { tab, shared },
            "it was reported already"
        );
        let shared = true;
        let reply = sim.call_of(TWO, close_page(b));
        assert_eq!(reply, Reply::Closed { tab, shared });
    }
}

#[test]
fn an_exclusive_tab_is_refused_to_others_in_every_tool_and_its_holder_is_named() {
    let (mut sim, b) = holding_b(TabPolicy::Exclusive);
    let a = sim.list_of(THREE)[0].id;
    sim.call_of(THREE, focus_tab(a));
    let calls = [
        (TWO, click_in(b)),
        (TWO, select_page(b)),
        (TWO, close_page(b)),
        (THREE, focus_tab(b)),
        (THREE, close_tab(b)),
    ];
    for (session, kind) in calls {
        let Reply::Refused(refusal) = sim.call_of(session, kind) else {
            panic!("another session holds it");
        };
        assert!(matches!(refusal, Refusal::TabHeld { tab, .. } if tab == b));
        let text = refusal.to_string();
        assert!(
            text.starts_with("Tab 2 is held by another session (Claude Code · 2)"),
            "{text}"
        );
    }
    assert_eq!(sim.core.bound_tab(TWO), None);
    assert!(matches!(
        sim.call(click_in(b)),
        Reply::Done { shared: false, .. }
    ));
}

#[test]
fn an_exclusive_tab_is_free_when_its_session_ends() {
    let mut sim = Sim::new(FakeBrowser::running(&[A]));
    sim.open_session_as(ONE, with(TabPolicy::Exclusive));
    sim.open_session_as(TWO, fixed());
    let a = sim.pages_of(ONE)[0].id;
    sim.call(select_page(a));
    assert!(matches!(sim.call_of(TWO, click_in(a)), Reply::Refused(_)));
    sim.close_session(ONE);
    assert!(matches!(
        sim.call_of(TWO, click_in(a)),
        Reply::Done { shared: false, .. }
    ));
}

#[test]
fn an_exclusive_session_cannot_lock_out_an_earlier_holder() {
    let (mut sim, b) = holding_b(TabPolicy::Respect);
    sim.open_session_as(SessionId(4), with(TabPolicy::Exclusive));
    sim.call_of(SessionId(4), click_in(b));
    assert!(matches!(
        sim.call(click_in(b)),
        Reply::Done { shared: true, .. }
    ));
    assert!(matches!(sim.call_of(TWO, click_in(b)), Reply::Refused(_)));
}

#[test]
fn a_progressive_list_changes_when_a_static_session_takes_a_tab() {
    let mut sim = Sim::attached(&[A]);
    sim.open_session_as(TWO, fixed());
    let a = sim.tab(A);
    let notices = sim.notices(|sim| {
        sim.call_of(TWO, click_in(a));
    });
    assert_eq!(notices, 1);
    assert_eq!(sim.tools(), ["list_tabs", "open_tab"]);
}
