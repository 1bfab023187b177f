//! Several sessions act on one tab: none of them starves.

use super::browser::FakeBrowser;
use super::sim::*;
use crate::Access::Act;
use crate::{CallId, Input, Output, PersonRefusal, Refusal, Reply, SessionId, TabId};

const THREE: SessionId = SessionId(3);

/// Three sessions that are bound to one tab, whose calls never finish by themselves.
fn crowded() -> Sim {
    let mut sim = Sim::new(FakeBrowser::running(&["https://a.test/"]));
    for session in [ONE, TWO, THREE] {
        sim.open_session_as(session, fixed());
        sim.call_of(session, select_page(TabId(1)));
    }
    sim.browser.hangs = true;
    sim
}

/// Finishes running calls until there are none. Returns the order of sessions.
fn turns(sim: &mut Sim, calls: &[(SessionId, CallId)]) -> Vec<u64> {
    let mut done = 0;
    while let Some(running) = sim.runs().get(done) {
        sim.finish(*running);
        done += 1;
    }
    let whose = |run: &CallId| calls.iter().find(|(_, call)| call == run).unwrap().0.0;
    sim.runs().iter().map(whose).collect()
}

fn ask(sim: &mut Sim, sessions: &[SessionId]) -> Vec<(SessionId, CallId)> {
    let click = |session: &SessionId| {
        let call = sim.ask_of(*session, page(CLICK, Act), None);
        (*session, call)
    };
    sessions.iter().map(click).collect()
}

#[test]
fn sessions_take_turns_and_each_keeps_its_own_order() {
    let mut sim = crowded();
    let calls = ask(&mut sim, &[ONE, ONE, ONE, ONE, TWO, TWO, THREE]);
    assert_eq!(turns(&mut sim, &calls), [1, 1, 2, 3, 1, 2, 1]);
    let own: Vec<_> = sim
        .runs()
        .into_iter()
        .filter(|run| run.0 <= calls[3].1.0)
        .collect();
    assert!(own.is_sorted());
}

#[test]
fn a_new_session_waits_for_at_most_one_call_of_each_session() {
    let mut sim = crowded();
    let mut calls = ask(&mut sim, &[ONE; 20]);
    calls.extend(ask(&mut sim, &[TWO; 20]));
    calls.extend(ask(&mut sim, &[THREE]));
    let order = turns(&mut sim, &calls);
    assert_eq!(order.iter().position(|session| *session == 3), Some(3));
}

#[test]
fn a_cancelled_call_loses_only_its_own_turn() {
    let mut sim = crowded();
    let calls = ask(&mut sim, &[ONE, ONE, TWO, THREE, THREE]);
    sim.cancel(calls[2].1);
    sim.cancel(calls[3].1);
    assert_eq!(turns(&mut sim, &calls), [1, 1, 3]);
}

#[test]
fn a_session_that_leaves_gives_its_turns_away() {
    let mut sim = crowded();
    let calls = ask(&mut sim, &[ONE, ONE, TWO, ONE]);
    sim.close_session(ONE);
    assert_eq!(turns(&mut sim, &calls), [1, 2]);
}

#[test]
fn a_waiting_call_is_not_started_after_everything_stopped() {
    let mut sim = crowded();
    let calls = ask(&mut sim, &[ONE, ONE, ONE, TWO]);
    let [first, second, third, fourth] = [0, 1, 2, 3].map(|place: usize| calls[place].1);
    sim.finish(first);
    sim.finish(second);
    assert_eq!(sim.runs(), [first, second, fourth], "the third one waits");
    sim.happen(Input::Paused);
    assert_eq!(sim.runs(), [first, second, fourth]);
    let aborted = |output: &&Output| matches!(output, Output::Abort { .. });
    assert_eq!(sim.outputs.iter().filter(aborted).count(), 1);
    for (call, begun) in [(third, false), (fourth, true)] {
        let tool = CLICK;
        let paused: Refusal = PersonRefusal::Paused { tool, begun }.into();
        assert_eq!(sim.reply(call), Some(Reply::Refused(paused)));
    }
}
