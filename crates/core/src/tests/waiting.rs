//! Static mode: calls wait together for a browser and a tab, until their deadlines.

use super::browser::FakeBrowser;
use super::sim::*;
use crate::Access::{Act, Read};
use crate::{CallKind, ConnectFailure, Input, Output, Refusal, Reply, SessionId, Stuck};
use std::time::Duration;

const A: &str = "https://a.test/";

#[test]
fn all_calls_wait_for_the_same_attempt_to_connect() {
    let mut sim = Sim::new(FakeBrowser::new());
    sim.open_session_as(ONE, fixed());
    sim.open_session_as(TWO, fixed());
    sim.open_session(SessionId(3), true);
    let calls = [
        sim.ask_of(ONE, CallKind::ListPages, None),
        sim.ask_of(ONE, new_page(A), None),
        sim.ask_of(TWO, page(CLICK, Act), None),
        sim.ask_of(SessionId(3), connect(false), None),
    ];
    sim.settle();
    assert_eq!(sim.connects(), 1);
    assert!(
        sim.outputs
            .iter()
            .any(|output| matches!(output, Output::Connect { launch: true, .. }))
    );
    assert!(matches!(sim.reply(calls[0]), Some(Reply::Pages { .. })));
    assert!(matches!(sim.reply(calls[1]), Some(Reply::Opened { .. })));
    assert!(matches!(sim.reply(calls[2]), Some(Reply::Done { .. })));
    assert!(matches!(sim.reply(calls[3]), Some(Reply::Connected { .. })));
}

#[test]
fn an_attempt_that_may_not_launch_is_followed_by_one_that_may() {
    let mut sim = Sim::new(FakeBrowser::new());
    sim.open_session(ONE, true);
    sim.open_session_as(TWO, fixed());
    let modest = sim.ask_of(ONE, connect(false), None);
    let click = sim.ask_of(TWO, page(CLICK, Act), None);
    sim.settle();
    assert!(matches!(sim.reply(modest), Some(Reply::NotConnected(_))));
    assert!(matches!(sim.reply(click), Some(Reply::Done { .. })));
    assert_eq!(sim.connects(), 2);
}

#[test]
fn a_failed_connection_fails_all_waiting_calls_with_the_reason() {
    let mut sim = Sim::new(FakeBrowser::new());
    sim.open_session_as(ONE, fixed());
    sim.browser.hangs = true;
    let calls = [page(CLICK, Act), CallKind::ListPages].map(|kind| sim.ask(kind));
    let Some(Output::Connect { browser, .. }) = sim.outputs.last().cloned() else {
        panic!("it connects");
    };
    let failure = ConnectFailure::Failed {
        error: "Chrome was not found.".to_owned(),
        instructions: "Install it, then try again".to_owned(),
    };
    sim.happen(Input::ConnectFailed { browser, failure });
    for (call, tool) in calls.into_iter().zip(["click", "list_pages"]) {
        let Some(Reply::Refused(refusal)) = sim.reply(call) else {
            panic!("there is no browser");
        };
        let text =
            format!("{tool} needs a browser. Chrome was not found. Install it, then try again.");
        assert_eq!(refusal.to_string(), text);
    }
    sim.browser.hangs = false;
    sim.click_of(ONE);
}

/// Spec: multi-client 38.
#[test]
fn one_deadline_covers_the_browser_the_tab_and_the_action() {
    let mut sim = Sim::with_fixed_list(&[A]);
    sim.browser.latency = Duration::from_secs(7);
    let call = sim.ask(page(CLICK, Act));
    sim.pass(Duration::from_millis(29_999));
    assert_eq!(sim.reply(call), None);
    sim.pass(Duration::from_millis(1));
    let Some(Reply::Refused(Refusal::TooLate { stuck, .. })) = sim.reply(call) else {
        panic!("it is too late");
    };
    assert!(
        matches!(stuck, Stuck::Working(_)),
        "the tab was there after 28 s"
    );
    let next = sim.ask(page(SNAPSHOT, Read));
    sim.pass(Duration::from_secs(7));
    assert!(sim.reply(next).is_some(), "the session still works");
}

#[test]
fn a_browser_that_is_queued_for_extends_the_wait_up_to_a_limit() {
    let mut sim = Sim::new(FakeBrowser::new());
    sim.open_session_as(ONE, fixed());
    sim.browser.hangs = true;
    let call = sim.ask(CallKind::ListPages);
    let Some(Output::Connect { browser, .. }) = sim.outputs.last().cloned() else {
        panic!("it connects");
    };
    for _ in 0..59 {
        sim.pass(Duration::from_secs(10));
        sim.happen(Input::StillConnecting { browser });
    }
    assert_eq!(sim.reply(call), None, "590 s, and a call has 30");
    sim.pass(Duration::from_secs(10));
    let Some(Reply::Refused(Refusal::TooLate { stuck, .. })) = sim.reply(call) else {
        panic!("no call takes more than 600 s");
    };
    assert_eq!(stuck, Stuck::Connecting);
}

/// The grid has let the call wait. To ask again at once would go on until the last deadline.
#[test]
fn a_call_that_waited_in_a_queue_is_answered_when_it_is_refused() {
    let mut sim = Sim::new(FakeBrowser::new());
    sim.open_session_as(ONE, fixed());
    sim.browser.hangs = true;
    let call = sim.ask(CallKind::ListPages);
    let Some(Output::Connect { browser, .. }) = sim.outputs.last().cloned() else {
        panic!("it connects");
    };
    sim.pass(Duration::from_secs(10));
    sim.happen(Input::StillConnecting { browser });
    let failure = ConnectFailure::Away {
        error: "all are in use".into(),
        instructions: "Call again".into(),
    };
    sim.happen(Input::ConnectFailed { browser, failure });
    assert!(matches!(sim.reply(call), Some(Reply::Refused(_))));
}

/// Spec: multi-client 38.
#[test]
fn a_call_that_never_gets_a_tab_is_stopped_and_its_tab_closed() {
    let mut sim = Sim::with_fixed_list(&[A]);
    sim.pages_of(ONE);
    sim.browser.hangs = true;
    let call = sim.ask(page(CLICK, Act));
    sim.pass(Duration::from_secs(30));
    let Some(Reply::Refused(Refusal::TooLate { stuck, .. })) = sim.reply(call) else {
        panic!("it is too late");
    };
    assert_eq!(stuck, Stuck::Settling);
    sim.settle();
    assert_eq!(sim.browser.tab_count(), 1);
}

#[test]
fn no_more_calls_than_a_tab_takes_wait_for_it() {
    let config = crate::Config {
        calls_per_tab: 2,
        ..crate::Config::default()
    };
    let mut sim = Sim::with_config(FakeBrowser::running(&[A]), config);
    sim.open_session_as(ONE, fixed());
    let calls = [Act, Act, Act].map(|access| sim.ask(page(CLICK, access)));
    sim.settle();
    let done = |reply| matches!(reply, Some(Reply::Done { .. }));
    assert!(done(sim.reply(calls[0])) && done(sim.reply(calls[1])));
    let reply = sim.reply(calls[2]);
    assert!(matches!(
        reply,
        Some(Reply::Refused(Refusal::TabBusy { .. }))
    ));
}
