//! `focus_tab`: how tabs are named, and what it changes.

use super::sim::*;
use crate::{Input, Mode, Output, Refusal, Reply, TabId, TabRef};

const A: &str = "https://a.test/";
const B: &str = "https://b.test/";

/// Spec: dynamic-tools 38, 40.
#[test]
fn the_answer_shows_the_tab() {
    let mut sim = Sim::attached(&[A, B]);
    let b = sim.tab(B);
    let Reply::Focused { tab, tools, shared } = sim.focus(b) else {
        panic!("it focuses");
    };
    assert_eq!((tab.id, &*tab.url, tab.focused), (b, B, true));
    assert_eq!(&*tab.title, "Title of https://b.test/");
    assert_eq!((tools, shared), (vec![], false));
}

/// A number and its decimal string name the same tab.
/// Spec: dynamic-tools 39; decisions 1.
#[test]
fn a_tab_is_named_by_its_number_or_the_decimal_string() {
    let mut sim = Sim::attached(&[A, B]);
    for name in [TabRef::from(2.0), TabRef::from("2"), TabRef::from(TabId(2))] {
        let reply = sim.call(focus_tab(name));
        assert!(matches!(reply, Reply::Focused { tab, .. } if tab.id == TabId(2)));
    }
}

/// Spec: dynamic-tools 88, 97.
#[test]
fn an_unknown_tab_is_an_error_and_changes_nothing() {
    let mut sim = Sim::attached(&[A, B]);
    let a = sim.tab(A);
    sim.focus(a);
    let wrong = [
        TabRef::from(3.0),
        TabRef::from(0.0),
        TabRef::from(-1.0),
        TabRef::from(1.5),
        TabRef::from(f64::NAN),
        TabRef::from(1e300),
        TabRef::from(""),
        TabRef::from("a"),
        TabRef::from("1 "),
    ];
    for given in wrong {
        let notices = sim.notices(|sim| {
            let refusal = Refusal::UnknownTab {
                given: given.clone(),
                available: vec![TabId(1).into(), TabId(2).into()],
                mode: Mode::Progressive,
            };
            assert_eq!(sim.call(focus_tab(given)), Reply::Refused(refusal));
        });
        assert_eq!(notices, 0);
        assert!(sim.list()[0].focused);
    }
}

#[test]
fn focusing_the_focused_tab_changes_nothing_and_is_not_announced() {
    let mut sim = Sim::attached(&[A]);
    let a = sim.tab(A);
    sim.focus(a);
    let notices = sim.notices(|sim| {
        assert!(matches!(sim.focus(a), Reply::Focused { .. }));
    });
    assert_eq!(notices, 0);
}

#[test]
fn the_focus_moves_when_the_tab_is_ready_and_not_before() {
    let mut sim = Sim::attached(&[A, B]);
    let (a, b) = (sim.tab(A), sim.tab(B));
    sim.focus(a);
    sim.browser.hangs = true;
    let call = sim.ask(focus_tab(b));
    sim.settle();
    assert!(sim.list()[0].focused);
    sim.finish(call);
    assert!(sim.list()[1].focused);
}

#[test]
fn a_tab_that_is_lost_while_it_is_prepared_is_an_error() {
    let mut sim = Sim::attached(&[A, B]);
    let (a, b) = (sim.tab(A), sim.tab(B));
    sim.focus(a);
    sim.browser.hangs = true;
    let call = sim.ask(focus_tab(b));
    let notices = sim.notices(|sim| sim.user_closes(B));
    assert!(matches!(
        sim.reply(call),
        Some(Reply::Refused(Refusal::TabLost { .. }))
    ));
    assert_eq!(notices, 0);
    assert!(sim.list()[0].focused);
}

#[test]
fn a_cancelled_focus_does_not_move() {
    let mut sim = Sim::attached(&[A]);
    let a = sim.tab(A);
    let call = sim.ask(focus_tab(a));
    sim.cancel(call);
    let notices = sim.notices(|_| {});
    assert_eq!(notices, 0);
    assert!(!sim.list()[0].focused);
    assert!(sim.outputs.contains(&Output::Abort { call }));
}

#[test]
fn a_focus_that_fails_does_not_move() {
    let mut sim = Sim::attached(&[A]);
    sim.browser.hangs = true;
    let a = sim.tab(A);
    let call = sim.ask(focus_tab(a));
    let message = "The tab does not respond.".to_owned();
    let outcome = crate::Finish::Failed {
        message: message.clone(),
    };
    sim.happen(Input::Finished { call, outcome });
    assert_eq!(sim.reply(call), Some(Reply::Failed { message }));
    assert!(!sim.list()[0].focused);
}

#[test]
fn only_the_focused_tab_of_the_users_tabs_is_held() {
    let mut sim = Sim::attached(&[A, B]);
    let (a, b) = (sim.tab(A), sim.tab(B));
    sim.focus(a);
    assert!(sim.browser.holds(A) && !sim.browser.holds(B));
    sim.focus(b);
    assert!(!sim.browser.holds(A) && sim.browser.holds(B));
}
