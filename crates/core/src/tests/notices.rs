//! When a session is notified of a changed list: at once, soon, once, or not at all.

use super::sim::*;
use crate::Output;
use std::time::Duration;

const A: &str = "https://a.test/";
const B: &str = "https://b.test/";

fn notices(sim: &Sim) -> usize {
    let notice = Output::ToolsChanged { session: ONE };
    sim.outputs
        .iter()
        .filter(|output| **output == notice)
        .count()
}

/// Spec: dynamic-tools 3.
#[test]
fn a_change_that_no_call_caused_is_announced_after_25_ms() {
    let mut sim = Sim::launched();
    sim.settle();
    let before = notices(&sim);
    sim.user_opens(A);
    sim.pass(Duration::from_millis(24));
    assert_eq!(notices(&sim), before);
    sim.pass(Duration::from_millis(1));
    assert_eq!(notices(&sim), before + 1);
}

#[test]
fn later_changes_do_not_delay_the_notice() {
    let mut sim = Sim::launched();
    sim.settle();
    let before = notices(&sim);
    sim.user_opens(A);
    sim.pass(Duration::from_millis(20));
    sim.user_opens(B);
    sim.user_opens("https://c.test/");
    sim.pass(Duration::from_millis(5));
    assert_eq!(notices(&sim), before + 1);
    assert_eq!(sim.core.poll_timeout(), None);
}

#[test]
fn a_flood_of_changes_is_announced_at_a_steady_rate_including_the_last() {
    let mut sim = Sim::launched();
    sim.settle();
    let before = notices(&sim);
    // Twenty times a second, for a minute.
    for turn in 0..1_200 {
        match turn % 2 {
            0 => sim.user_opens(A),
            _ => sim.user_closes(A),
        }
        sim.pass(Duration::from_millis(50));
    }
    let flood = notices(&sim) - before;
    assert!((100..=161).contains(&flood), "{flood} notices in a minute");
    // The final state is announced, soon and once.
    let before = notices(&sim);
    sim.user_opens(B);
    sim.pass(Duration::from_millis(525));
    assert_eq!(notices(&sim), before + 1);
    assert_eq!(sim.core.poll_timeout(), None);
    // After a quiet time, changes are announced at once again.
    sim.pass(Duration::from_secs(60));
    let before = notices(&sim);
    sim.user_closes(B);
    sim.pass(Duration::from_millis(25));
    assert_eq!(notices(&sim), before + 1);
}

#[test]
fn changes_that_cancel_out_are_not_announced() {
    let mut sim = Sim::launched();
    let notices = sim.notices(|sim| {
        sim.user_opens(A);
        sim.user_closes(A);
    });
    assert_eq!(notices, 0);
    let notices = sim.notices(|sim| sim.user_opens(B));
    assert_eq!(notices, 1, "later changes are announced");
}

#[test]
fn a_closed_session_gets_no_notice() {
    let mut sim = Sim::launched();
    sim.settle();
    sim.user_opens(A);
    sim.close_session(ONE);
    assert_eq!(sim.core.poll_timeout(), None);
}

#[test]
fn several_changes_are_announced_once() {
    let mut sim = Sim::attached(&[A]);
    let a = sim.tab(A);
    sim.focus(a);
    let notices = sim.notices(|sim| {
        sim.user_opens(B);
        sim.user_closes(A);
        sim.user_closes(B);
    });
    assert_eq!(notices, 1);
}

#[test]
fn changes_by_a_call_are_announced_at_once_together_with_pending_ones() {
    let mut sim = Sim::attached(&[A, B]);
    let (a, b) = (sim.tab(A), sim.tab(B));
    sim.focus(a);
    sim.browser.latency = Duration::from_millis(1);
    let notices = sim.notices(|sim| {
        sim.user_closes(A);
        sim.focus(b);
        assert_eq!(sim.core.poll_timeout(), None, "no notice is pending");
    });
    assert_eq!(notices, 1);
}

#[test]
fn a_call_that_changes_nothing_does_not_flush_pending_changes() {
    let mut sim = Sim::launched();
    sim.settle();
    let before = notices(&sim);
    sim.user_opens(A);
    sim.list();
    assert_eq!(notices(&sim), before);
    sim.settle();
    assert_eq!(notices(&sim), before + 1);
}

#[test]
fn reconnecting_is_announced_even_if_the_list_is_the_same() {
    let mut sim = Sim::launched();
    sim.browser.latency = Duration::ZERO;
    let notices = sim.notices(|sim| {
        sim.user_quits();
        sim.call(connect(true));
    });
    assert_eq!(notices, 1);
}

#[test]
fn a_change_that_a_call_undoes_is_not_announced() {
    let mut sim = Sim::attached(&[A]);
    sim.browser.latency = Duration::from_millis(1);
    let notices = sim.notices(|sim| {
        sim.user_closes(A);
        sim.open(B, false);
    });
    assert_eq!(notices, 0, "the client's list is already correct");
}

#[test]
fn early_and_repeated_timeouts_do_no_harm() {
    let mut sim = Sim::launched();
    sim.settle();
    let before = sim.outputs.len();
    sim.user_opens(A);
    for _ in 0..3 {
        sim.core.handle_timeout(sim.now);
    }
    assert_eq!(sim.core.poll_output(), None);
    assert_eq!(sim.outputs.len(), before);
}
