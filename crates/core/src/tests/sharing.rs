//! Several sessions in one browser: each has its own tabs.

use super::browser::{FakeBrowser, facts};
use super::sim::*;
use crate::{BrowserFacts, Input, Output, Refusal, Reply, TabId};

const A: &str = "https://a.test/";
const B: &str = "https://b.test/";
const C: &str = "https://c.test/";

fn two_sessions(urls: &[&str]) -> Sim {
    let mut sim = Sim::attached(urls);
    sim.open_session(TWO, false);
    sim.call_of(TWO, connect(false));
    sim.settle();
    sim
}

fn urls(sim: &mut Sim, session: crate::SessionId) -> Vec<String> {
    let tabs = sim.list_of(session);
    tabs.iter().map(|tab| tab.url.to_string()).collect()
}

#[test]
fn a_session_sees_its_own_tabs_and_those_that_no_session_holds() {
    let mut sim = two_sessions(&[A, B]);
    sim.open(C, false);
    let a = sim.tab(A);
    sim.focus(a);
    assert_eq!(urls(&mut sim, ONE), [A, B, C]);
    assert_eq!(urls(&mut sim, TWO), [B]);
}

#[test]
fn a_users_tab_is_free_again_when_the_focus_moves_on() {
    let mut sim = two_sessions(&[A, B]);
    let (a, b) = (sim.tab(A), sim.tab(B));
    sim.focus(a);
    sim.focus(b);
    assert_eq!(urls(&mut sim, TWO), [A]);
}

#[test]
fn a_tab_that_a_session_opened_stays_its_own() {
    let mut sim = two_sessions(&[A]);
    sim.open(B, true);
    let a = sim.tab(A);
    sim.focus(a);
    assert_eq!(urls(&mut sim, TWO), [] as [&str; 0]);
    assert!(sim.browser.holds(B));
}

#[test]
fn popups_belong_to_the_session_that_holds_their_opener() {
    let mut sim = two_sessions(&[A]);
    let a = sim.tab(A);
    sim.focus(a);
    sim.page_opens(A, B);
    sim.page_opens(B, C);
    assert_eq!(urls(&mut sim, ONE), [A, B, C]);
    assert_eq!(urls(&mut sim, TWO), [] as [&str; 0]);
}

#[test]
fn popups_of_a_tab_that_is_being_opened_belong_to_its_session() {
    let mut sim = two_sessions(&[A]);
    sim.browser.hangs = true;
    sim.ask(open_tab(B, true));
    sim.settle();
    sim.page_opens(B, C);
    assert_eq!(urls(&mut sim, ONE), [A, C]);
    assert_eq!(urls(&mut sim, TWO), [A]);
}

#[test]
fn popups_of_a_free_tab_are_free() {
    let mut sim = two_sessions(&[A]);
    sim.page_opens(A, B);
    assert_eq!(urls(&mut sim, TWO), [A, B]);
}

#[test]
fn taking_the_last_free_tab_is_announced_to_the_others() {
    let mut sim = two_sessions(&[A]);
    let a = sim.tab(A);
    let notices = sim.notices_of(TWO, |sim| {
        sim.focus(a);
    });
    assert_eq!(notices, 1);
    assert_eq!(sim.tools_of(TWO), ["list_tabs", "open_tab"]);
    let notices = sim.notices_of(TWO, |sim| sim.close_session(ONE));
    assert_eq!(notices, 1);
    assert_eq!(urls(&mut sim, TWO), [A]);
}

#[test]
fn tabs_of_an_ended_session_are_free() {
    let mut sim = Sim::new(FakeBrowser::running(&[A]));
    for session in [ONE, TWO] {
        sim.open_session_as(session, keeping(progressive()));
        sim.call_of(session, connect(false));
    }
    sim.open(B, true);
    sim.close_session(ONE);
    assert_eq!(urls(&mut sim, TWO), [A, B]);
    assert!(!sim.browser.holds(B));
}

#[test]
fn sessions_have_independent_focus() {
    let mut sim = two_sessions(&[A, B]);
    let a = sim.tab(A);
    let notices = sim.notices_of(TWO, |sim| {
        sim.focus(a);
        sim.open(C, true);
    });
    assert_eq!(notices, 0);
    assert_eq!(sim.tools_of(TWO), ["list_tabs", "open_tab", "focus_tab"]);
}

#[test]
fn a_tab_of_another_session_can_be_named_and_the_answer_says_so() {
    let mut sim = two_sessions(&[A, B]);
    let a = sim.tab(A);
    sim.focus(a);
    let reply = sim.call_of(TWO, focus_tab(a));
    assert!(matches!(reply, Reply::Focused { shared: true, .. }));
    assert_eq!(urls(&mut sim, ONE), [A, B]);
    assert_eq!(urls(&mut sim, TWO), [A, B]);
    sim.close_session(ONE);
    assert!(sim.browser.holds(A), "the other session holds it still");
}

#[test]
fn a_tab_closed_by_another_session_is_a_loss() {
    let mut sim = two_sessions(&[A, B]);
    let (a, b) = (sim.tab(A), sim.tab(B));
    sim.focus(a);
    sim.call_of(TWO, focus_tab(b));
    let notices = sim.notices(|sim| {
        sim.call_of(TWO, close_tab(a));
    });
    assert_eq!(notices, 1);
    sim.user_opens(C);
    let reply = sim.call(close_focused());
    assert!(matches!(
        reply,
        Reply::Refused(Refusal::NoFocus { lost: Some(_), .. })
    ));
}

#[test]
fn two_sessions_that_close_one_tab_are_both_answered() {
    let mut sim = two_sessions(&[A, B]);
    let a = sim.tab(A);
    sim.focus(a);
    sim.call_of(TWO, focus_tab(a));
    let calls = [
        sim.ask_of(ONE, close_focused(), None),
        sim.ask_of(TWO, close_focused(), None),
    ];
    sim.settle();
    for call in calls {
        assert_eq!(
            sim.reply(call),
            Some(Reply::Closed {
                tab: a,
                shared: true
            })
        );
    }
}

#[test]
fn a_browser_that_goes_away_disconnects_all_its_sessions() {
    let mut sim = two_sessions(&[A]);
    let notices = sim.notices_of(TWO, Sim::user_quits);
    assert_eq!(notices, 1);
    for session in [ONE, TWO] {
        assert_eq!(sim.tools_of(session), ["connect_browser"]);
    }
    sim.call(connect(true));
    assert_eq!(sim.tools_of(TWO), ["connect_browser"], "each for itself");
}

#[test]
fn sessions_in_different_browsers_are_independent() {
    let mut sim = Sim::attached(&[A]);
    sim.open_session_in("another", TWO, false);
    sim.browser.hangs = true;
    let call = sim.ask_of(TWO, connect(true), None);
    let Some(Output::Connect { browser, .. }) = sim.outputs.last().cloned() else {
        panic!("it connects to another browser");
    };
    assert_ne!(Some(browser), sim.browser.id);
    let about = BrowserFacts {
        name: "Another".into(),
        version: "1".into(),
        launched: false,
    };
    let tabs = vec![facts("T1", B)];
    sim.happen(Input::Connected {
        replaces: false,
        browser,
        about,
        tabs,
        front: None,
    });
    assert!(matches!(sim.reply(call), Some(Reply::Connected { .. })));
    assert_eq!(urls(&mut sim, ONE), [A]);
    assert_eq!(urls(&mut sim, TWO), [B]);
    let reply = sim.call_of(TWO, focus_tab(TabId(1)));
    assert!(matches!(reply, Reply::Refused(Refusal::UnknownTab { .. })));
}
