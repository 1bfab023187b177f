//! Page actions: when they are listed, and in which order they run on one tab.

use super::browser::FakeBrowser;
use super::sim::*;
use crate::Access::{Act, Bypass, Read};
use crate::{Config, Output, Refusal, Reply, ToolName};

const A: &str = "https://a.test/";
const B: &str = "https://b.test/";

/// One client with page actions, a focused tab, and a browser that never finishes its work.
fn focused() -> Sim {
    focused_with(Config::default())
}

fn focused_with(config: Config) -> Sim {
    let mut sim = Sim::with_config(FakeBrowser::running(&[A, B]), config);
    sim.open_session(ONE, true);
    sim.call(connect(false));
    let a = sim.tab(A);
    sim.focus(a);
    sim.settle();
    sim.browser.hangs = true;
    sim
}

/// They follow the page's own tools, sorted, while a tab is focused.
/// Spec: dynamic-tools 9, 93; decisions 19.
#[test]
fn listed_after_the_core_tools_while_a_tab_is_focused() {
    let mut sim = focused();
    assert_eq!(
        sim.tools(),
        [
            "list_tabs",
            "open_tab",
            "focus_tab",
            "close_tab",
            "click",
            "handle_dialog",
            "take_snapshot"
        ]
    );
    sim.user_closes(A);
    assert_eq!(sim.tools(), ["list_tabs", "open_tab", "focus_tab"]);
}

/// Spec: dynamic-tools 100.
#[test]
fn they_are_not_page_specific_and_not_counted() {
    let mut sim = focused();
    assert!(sim.list().iter().all(|tab| tab.tool_count == 0));
    sim.browser.hangs = false;
    let b = sim.tab(B);
    assert!(matches!(sim.focus(b), Reply::Focused { tools, .. } if tools.is_empty()));
}

/// Spec: dynamic-tools 97.
#[test]
fn refused_in_every_state_without_a_focused_tab() {
    let mut sim = Sim::new(FakeBrowser::new());
    sim.open_session(ONE, true);
    let click = || page(CLICK, Act);
    let tool = CLICK;
    let refused = |sim: &mut Sim| match sim.call(click()) {
        Reply::Refused(refusal) => refusal,
        other => panic!("click answered {other:?}"),
    };
    assert_eq!(refused(&mut sim), Refusal::NotConnected { tool });
    sim.call(connect(true));
    assert_eq!(refused(&mut sim), Refusal::NoTabs { tool });
    sim.open(A, false);
    assert_eq!(refused(&mut sim), Refusal::NoFocus { tool, lost: None });
}

#[test]
fn switched_off_they_are_neither_listed_nor_run() {
    let refused = Reply::Refused(Refusal::NotOffered { tool: CLICK });
    let mut sim = Sim::attached(&[A]);
    assert_eq!(
        sim.call(page(CLICK, Act)),
        refused,
        "the error does not recommend focus_tab"
    );
    let a = sim.tab(A);
    sim.focus(a);
    assert_eq!(sim.tools().last().unwrap(), "close_tab");
    assert_eq!(sim.call(page(CLICK, Act)), refused);
}

#[test]
fn a_tool_that_is_not_configured_is_not_offered() {
    let mut sim = focused();
    let tool = ToolName::new("levitate");
    assert_eq!(
        sim.call(page(tool, Act)),
        Reply::Refused(Refusal::NotOffered { tool })
    );
}

#[test]
fn readers_run_in_parallel_with_all_calls() {
    let mut sim = focused();
    let calls = [Act, Read, Read].map(|access| sim.ask(page(SNAPSHOT, access)));
    assert_eq!(sim.runs(), calls);
}

#[test]
fn actors_run_one_at_a_time_in_arrival_order() {
    let mut sim = focused();
    let calls = [Act, Act, Act].map(|access| sim.ask(page(CLICK, access)));
    assert_eq!(sim.runs(), calls[..1]);
    sim.finish(calls[0]);
    assert_eq!(sim.runs(), calls[..2]);
    sim.finish(calls[1]);
    assert_eq!(sim.runs(), calls);
}

#[test]
fn a_waiting_call_cannot_be_finished() {
    let mut sim = focused();
    let calls = [Act, Act].map(|access| sim.ask(page(CLICK, access)));
    sim.finish(calls[1]);
    assert_eq!(sim.reply(calls[1]), None);
}

#[test]
fn a_bypass_skips_the_queue_and_its_limit() {
    let mut sim = focused_with(Config {
        calls_per_tab: 2,
        ..Config::default()
    });
    let click = sim.ask(page(CLICK, Act));
    sim.ask(page(CLICK, Act));
    let dialog = sim.ask(page(HANDLE_DIALOG, Bypass));
    assert_eq!(sim.runs(), [click, dialog]);
    let (tab, limit) = (crate::TabId(1), 2);
    for access in [Act, Read] {
        let tool = SNAPSHOT;
        assert_eq!(
            sim.call(page(tool, access)),
            Reply::Refused(Refusal::TabBusy { tool, tab, limit })
        );
    }
    sim.finish(click);
    sim.ask(page(SNAPSHOT, Read));
    assert_eq!(sim.runs().len(), 4);
}

#[test]
fn readers_count_against_the_limit_until_they_are_done() {
    let mut sim = focused_with(Config {
        calls_per_tab: 1,
        ..Config::default()
    });
    let first = sim.ask(page(SNAPSHOT, Read));
    let refused = sim.ask(page(SNAPSHOT, Read));
    assert!(sim.reply(refused).is_some());
    sim.finish(first);
    sim.ask(page(SNAPSHOT, Read));
    assert_eq!(sim.runs().len(), 2);
}

#[test]
fn cancelling_the_running_call_lets_the_next_one_run() {
    let mut sim = focused();
    let calls = [Act, Act].map(|access| sim.ask(page(CLICK, access)));
    sim.cancel(calls[0]);
    let tail = &sim.outputs[sim.outputs.len() - 3..];
    assert_eq!(tail[0], Output::Abort { call: calls[0] });
    assert!(matches!(tail[1], Output::Reply { call, .. } if call == calls[0]));
    assert!(matches!(tail[2], Output::Run { call, .. } if call == calls[1]));
}

#[test]
fn cancelling_a_waiting_call_aborts_nothing_and_keeps_the_order() {
    let mut sim = focused();
    let calls = [Act, Act, Act].map(|access| sim.ask(page(CLICK, access)));
    sim.cancel(calls[1]);
    assert_eq!(sim.reply(calls[1]), Some(Reply::Cancelled));
    assert!(!sim.outputs.contains(&Output::Abort { call: calls[1] }));
    sim.finish(calls[0]);
    assert_eq!(sim.runs(), [calls[0], calls[2]]);
}

#[test]
fn nothing_is_serialised_across_tabs() {
    let mut sim = focused();
    let first = sim.ask(page(CLICK, Act));
    sim.browser.hangs = false;
    let b = sim.tab(B);
    sim.focus(b);
    sim.browser.hangs = true;
    let second = sim.ask(page(CLICK, Act));
    assert_eq!(sim.runs(), [first, second]);
}

/// Spec: security 19.
#[test]
fn a_call_stays_with_the_tab_it_was_made_for() {
    let mut sim = focused();
    let first = sim.ask(page(CLICK, Act));
    let waiting = sim.ask(page(CLICK, Act));
    sim.browser.hangs = false;
    let b = sim.tab(B);
    sim.focus(b);
    sim.finish(first);
    let target = sim.browser.at(A);
    assert!(sim.outputs.iter().any(
        |output| matches!(output, Output::Run { call, target: at, .. } if *call == waiting && *at == target)
    ));
}
