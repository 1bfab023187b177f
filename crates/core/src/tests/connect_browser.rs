//! `connect_browser`: the browser is found, launched or not found; several calls at once.

use super::browser::FakeBrowser;
use super::sim::*;
use crate::{ConnectFailure, Input, Output, Refusal, Reply};

const A: &str = "https://a.test/";
const B: &str = "https://b.test/";

fn connected(tab_count: usize) -> Reply {
    Reply::Connected {
        name: "Chrome".into(),
        version: "120.0.0".into(),
        tab_count,
    }
}

fn attempts(sim: &Sim) -> Vec<bool> {
    let launch_of = |output: &Output| match output {
        Output::Connect { launch, .. } => Some(*launch),
        _ => None,
    };
    sim.outputs.iter().filter_map(launch_of).collect()
}

/// Spec: dynamic-tools 20, 22.
#[test]
fn attaching_names_the_browser_and_counts_its_tabs() {
    let mut sim = Sim::new(FakeBrowser::running(&[A, B]));
    sim.open_session(ONE, false);
    assert_eq!(sim.call(connect(false)), connected(2));
}

/// Spec: dynamic-tools 20, 22.
#[test]
fn a_launched_browsers_unused_blank_tab_does_not_count() {
    let mut sim = Sim::disconnected();
    assert_eq!(sim.call(connect(true)), connected(0));
    assert!(sim.list().is_empty());
}

/// Spec: dynamic-tools 23.
#[test]
fn no_browser_found_has_the_specified_text_and_changes_nothing() {
    let mut sim = Sim::disconnected();
    let notices = sim.notices(|sim| {
        let Reply::NotConnected(failure) = sim.call(connect(false)) else {
            panic!("there is no browser");
        };
        assert_eq!(failure.error(), "No browser found");
        assert_eq!(
            failure.instructions(),
            "Please open Chrome with the Browser Tools extension enabled, or call with launch=true"
        );
    });
    assert_eq!(notices, 0);
    assert_eq!(sim.tools(), ["connect_browser"]);
}

#[test]
fn a_failed_attempt_has_the_drivers_message_and_can_be_repeated() {
    let mut sim = Sim::disconnected();
    sim.browser.hangs = true;
    let call = sim.ask(connect(true));
    let failure = ConnectFailure::Failed {
        error: "Chrome did not start".to_owned(),
        instructions: "Install Chromium".to_owned(),
    };
    let Some(Output::Connect { browser, .. }) = sim.outputs.first().cloned() else {
        panic!("the first output is the attempt");
    };
    sim.happen(Input::ConnectFailed {
        browser,
        failure: failure.clone(),
    });
    assert_eq!(sim.reply(call), Some(Reply::NotConnected(failure)));
    sim.browser.hangs = false;
    assert_eq!(sim.call(connect(true)), connected(0));
}

/// Spec: dynamic-tools 6, 19, 97.
#[test]
fn connect_browser_is_gone_once_connected() {
    let mut sim = Sim::launched();
    assert!(!sim.tools().contains(&"connect_browser".to_owned()));
    let notices = sim.notices(|sim| {
        let reply = sim.call(connect(true));
        assert_eq!(reply, Reply::Refused(Refusal::AlreadyConnected));
    });
    assert_eq!(notices, 0);
}

#[test]
fn the_notice_comes_before_the_answer() {
    let sim = Sim::launched();
    let notice = Output::ToolsChanged { session: ONE };
    let noticed = sim.outputs.iter().position(|output| *output == notice);
    let answered = sim
        .outputs
        .iter()
        .position(|output| matches!(output, Output::Reply { .. }));
    assert!(noticed < answered && noticed.is_some());
}

#[test]
fn one_attempt_answers_all_waiting_calls() {
    let mut sim = Sim::new(FakeBrowser::running(&[A]));
    sim.open_session(ONE, false);
    sim.open_session(TWO, false);
    let calls = [
        sim.ask_of(ONE, connect(false), None),
        sim.ask_of(ONE, connect(false), None),
        sim.ask_of(TWO, connect(true), None),
    ];
    let notices = sim.notices_of(TWO, |_| {});
    assert_eq!(notices, 0, "its notice came with the answer");
    for call in calls {
        assert_eq!(sim.reply(call), Some(connected(1)));
    }
    assert_eq!(attempts(&sim), [false]);
    for session in [ONE, TWO] {
        let notice = Output::ToolsChanged { session };
        let notices = sim.outputs.iter().filter(|output| **output == notice);
        assert_eq!(notices.count(), 1);
    }
}

#[test]
fn a_call_that_may_launch_gets_a_second_attempt_when_nothing_is_found() {
    let mut sim = Sim::new(FakeBrowser::new());
    sim.open_session(ONE, false);
    sim.open_session(TWO, false);
    let cautious = sim.ask_of(ONE, connect(false), None);
    let keen = sim.ask_of(TWO, connect(true), None);
    sim.settle();
    assert_eq!(
        sim.reply(cautious),
        Some(Reply::NotConnected(ConnectFailure::NotFound))
    );
    assert_eq!(sim.reply(keen), Some(connected(0)));
    assert_eq!(attempts(&sim), [false, true]);
    assert_eq!(sim.tools_of(ONE), ["connect_browser"]);
}

#[test]
fn a_launch_that_finds_nothing_is_not_repeated() {
    let mut sim = Sim::disconnected();
    sim.browser.hangs = true;
    let call = sim.ask(connect(true));
    let browser = crate::BrowserId(1);
    let failure = ConnectFailure::NotFound;
    sim.happen(Input::ConnectFailed { browser, failure });
    assert!(matches!(sim.reply(call), Some(Reply::NotConnected(_))));
    assert_eq!(attempts(&sim), [true]);
}

#[test]
fn a_second_session_joins_a_connected_browser_at_once() {
    let mut sim = Sim::attached(&[A]);
    sim.open_session(TWO, false);
    assert_eq!(sim.tools_of(TWO), ["connect_browser"]);
    let before = sim.now;
    assert_eq!(sim.call_of(TWO, connect(false)), connected(1));
    assert_eq!(sim.now, before);
    assert_eq!(attempts(&sim).len(), 1);
}

#[test]
fn a_cancelled_connect_connects_no_session() {
    let mut sim = Sim::disconnected();
    let call = sim.ask(connect(true));
    sim.cancel(call);
    assert_eq!(sim.reply(call), Some(Reply::Cancelled));
    let notices = sim.notices(|_| {});
    assert_eq!(notices, 0);
    assert_eq!(sim.tools(), ["connect_browser"]);
    assert_eq!(sim.call(connect(false)), connected(0), "it is there by now");
}

#[test]
fn a_browser_that_crashes_while_connecting_fails_the_call() {
    let mut sim = Sim::disconnected();
    sim.browser.hangs = true;
    let call = sim.ask(connect(true));
    sim.happen(Input::BrowserGone {
        browser: crate::BrowserId(1),
        reason: "it crashed".to_owned(),
    });
    let Some(Reply::NotConnected(failure)) = sim.reply(call) else {
        panic!("it is not connected");
    };
    assert_eq!(failure.error(), "The browser is gone: it crashed");
}
