//! Deadlines and limits.

use super::browser::FakeBrowser;
use super::sim::*;
use crate::Access::{Act, Read};
use crate::{Config, Input, Mode, Output, Refusal, Reply, RequestId, SessionId, Stuck, TabId};
use std::time::Duration;

const A: &str = "https://a.test/";

fn hanging() -> Sim {
    hanging_with(Config::default())
}

fn hanging_with(config: Config) -> Sim {
    let mut sim = Sim::with_config(FakeBrowser::running(&[A]), config);
    sim.open_session(ONE, true);
    sim.call(connect(false));
    let a = sim.tab(A);
    sim.focus(a);
    sim.settle();
    sim.browser.hangs = true;
    sim
}

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Spec: multi-client 38.
#[test]
fn a_call_may_take_thirty_seconds() {
    let mut sim = hanging();
    let call = sim.ask(page(CLICK, Act));
    sim.pass(Duration::from_millis(29_999));
    assert_eq!(sim.reply(call), None);
    sim.pass(Duration::from_millis(1));
    assert_eq!(
        sim.reply(call),
        Some(Reply::Refused(Refusal::TooLate {
            tool: CLICK,
            limit: seconds(30),
            stuck: Stuck::Working(TabId(1)),
            mode: Mode::Progressive,
        }))
    );
    assert!(sim.outputs.contains(&Output::Abort { call }));
}

#[test]
fn a_timeout_argument_gives_more_time_but_not_less() {
    for (timeout, limit) in [(1, 30), (29, 30), (30, 31), (100, 101), (3_600, 600)] {
        let mut sim = hanging();
        let call = sim.ask_of(ONE, page(SNAPSHOT, Read), Some(seconds(timeout)));
        sim.pass(seconds(limit) - Duration::from_millis(1));
        assert_eq!(sim.reply(call), None, "timeout {timeout}");
        sim.pass(Duration::from_millis(1));
        assert!(sim.reply(call).is_some(), "timeout {timeout}");
    }
}

#[test]
fn no_timeout_overflows() {
    let config = Config::default();
    assert_eq!(config.deadline(Some(Duration::MAX)), seconds(600));
    assert_eq!(config.deadline(Some(Duration::ZERO)), seconds(30));
    assert_eq!(config.deadline(None), seconds(30));
}

#[test]
fn waiting_for_ones_turn_counts() {
    let mut sim = hanging();
    sim.ask(page(CLICK, Act));
    sim.pass(seconds(10));
    let waiting = sim.ask(page(CLICK, Act));
    sim.pass(seconds(20));
    // The first call has ended, so the second runs, but its deadline stays the same.
    sim.pass(seconds(10));
    let Some(Reply::Refused(Refusal::TooLate { stuck, .. })) = sim.reply(waiting) else {
        panic!("it is too late");
    };
    assert_eq!(stuck, Stuck::Working(TabId(1)));
}

#[test]
fn a_call_that_never_had_a_turn_gets_an_error_that_says_so() {
    let mut sim = hanging();
    sim.ask_of(ONE, page(CLICK, Act), Some(seconds(120)));
    let waiting = sim.ask(page(CLICK, Act));
    sim.pass(seconds(30));
    let Some(Reply::Refused(Refusal::TooLate { stuck, .. })) = sim.reply(waiting) else {
        panic!("it is too late");
    };
    assert_eq!(stuck, Stuck::Queueing(TabId(1)));
    let abort = Output::Abort { call: waiting };
    assert!(!sim.outputs.contains(&abort), "there is nothing to abort");
}

#[test]
fn a_connection_that_hangs_is_an_answer() {
    let mut sim = Sim::disconnected();
    sim.browser.hangs = true;
    let call = sim.ask(connect(true));
    sim.pass(seconds(30));
    let Some(Reply::Refused(Refusal::TooLate { stuck, .. })) = sim.reply(call) else {
        panic!("it is too late");
    };
    assert_eq!(stuck, Stuck::Connecting);
    assert_eq!(sim.tools(), ["connect_browser"]);
}

#[test]
fn an_answered_call_leaves_no_timer() {
    let mut sim = hanging();
    assert_eq!(sim.core.poll_timeout(), None);
    let call = sim.ask(page(CLICK, Act));
    assert_eq!(sim.core.poll_timeout(), Some(sim.now + seconds(30)));
    sim.finish(call);
    assert_eq!(sim.core.poll_timeout(), None);
}

#[test]
fn a_late_answer_is_ignored() {
    let mut sim = hanging();
    let call = sim.ask(page(CLICK, Act));
    sim.pass(seconds(30));
    let before = sim.outputs.len();
    sim.finish(call);
    assert_eq!(sim.outputs.len(), before);
}

#[test]
fn cancelling_what_is_not_there_does_nothing() {
    let mut sim = hanging();
    let before = sim.outputs.len();
    let call = sim.ask(page(CLICK, Act));
    sim.finish(call);
    sim.cancel(call);
    assert!(matches!(sim.reply(call), Some(Reply::Done { .. })));
    assert_eq!(sim.outputs.len(), before + 2, "it ran and was answered");
}

#[test]
fn a_session_has_a_limit_of_calls() {
    let mut sim = hanging_with(Config {
        calls_per_session: 3,
        ..Config::default()
    });
    let calls: Vec<_> = (0..4).map(|_| sim.ask(page(SNAPSHOT, Read))).collect();
    let (tool, limit) = (SNAPSHOT, 3);
    assert_eq!(
        sim.reply(calls[3]),
        Some(Reply::Refused(Refusal::SessionBusy { tool, limit }))
    );
    sim.finish(calls[0]);
    let call = sim.ask(page(SNAPSHOT, Read));
    assert_eq!(sim.reply(call), None);
}

#[test]
fn sessions_have_a_limit() {
    let mut sim = Sim::with_config(
        FakeBrowser::new(),
        Config {
            sessions: 2,
            ..Config::default()
        },
    );
    for session in 1..=3 {
        sim.open_session(SessionId(session), false);
    }
    let refusal = Refusal::TooManySessions { limit: 2 };
    let session = SessionId(3);
    assert!(
        sim.outputs
            .contains(&Output::SessionRefused { session, refusal })
    );
    let reply = sim.call_of(session, connect(true));
    assert_eq!(reply, Reply::Refused(Refusal::NoSession));
    sim.close_session(ONE);
    sim.open_session(session, false);
    assert_eq!(sim.tools_of(session), ["connect_browser"]);
}

#[test]
fn a_request_id_is_free_again_once_it_is_answered() {
    let mut sim = hanging();
    let first = sim.ask(page(CLICK, Act));
    let request = RequestId("r4".into());
    let reuse = |call| Input::Call {
        call,
        session: ONE,
        request: request.clone(),
        kind: page(CLICK, Act),
        browser: None,
        timeout: None,
    };
    assert_eq!(first, crate::CallId(4));
    sim.core.handle(sim.now, reuse(crate::CallId(90)));
    let Some(Output::Reply { reply, .. }) = sim.core.poll_output() else {
        panic!("it is refused");
    };
    assert_eq!(reply, Reply::Refused(Refusal::RequestInUse));
    sim.finish(first);
    sim.core.handle(sim.now, reuse(crate::CallId(91)));
    assert!(matches!(
        sim.core.poll_output(),
        Some(Output::Run { call, .. }) if call == crate::CallId(91)
    ));
}

#[test]
fn a_call_id_in_use_is_a_drivers_mistake_and_changes_nothing() {
    let mut sim = hanging();
    let call = sim.ask(page(CLICK, Act));
    sim.happen(Input::Call {
        call,
        session: ONE,
        request: RequestId("another".into()),
        kind: page(SNAPSHOT, Read),
        browser: None,
        timeout: None,
    });
    sim.finish(call);
    assert!(matches!(sim.reply(call), Some(Reply::Done { .. })));
    assert_eq!(sim.core.poll_timeout(), None);
}
