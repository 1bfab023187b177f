//! `close_tab`: closes the focused tab or another one, and never the browser.

use super::sim::*;
use crate::{CallKind, Finish, Input, Output, Refusal, Reply, TabId, TabRef};

const A: &str = "https://a.test/";
const B: &str = "https://b.test/";

fn with_focus_on_a() -> (Sim, TabId, TabId) {
    let mut sim = Sim::attached(&[A, B]);
    let (a, b) = (sim.tab(A), sim.tab(B));
    sim.focus(a);
    sim.settle();
    (sim, a, b)
}

/// Spec: dynamic-tools 43, 44.
#[test]
fn the_focused_tab_is_the_default() {
    let (mut sim, a, _) = with_focus_on_a();
    assert_eq!(sim.call(close_focused()), closed(a));
    assert!(!sim.browser.shows(A));
}

/// Spec: dynamic-tools 44, 46.
#[test]
fn closing_another_tab_is_not_announced() {
    let (mut sim, a, b) = with_focus_on_a();
    let before = sim.tools();
    let notices = sim.notices(|sim| {
        assert_eq!(sim.call(close_tab(b)), closed(b));
    });
    assert_eq!(notices, 0);
    assert_eq!(sim.tools(), before);
    let tabs = sim.list();
    assert_eq!((tabs.len(), tabs[0].id, tabs[0].focused), (1, a, true));
}

/// Spec: dynamic-tools 45.
#[test]
fn after_closing_the_focused_tab_the_agent_must_focus_again() {
    let (mut sim, ..) = with_focus_on_a();
    sim.call(close_focused());
    let reply = sim.call(close_focused());
    let tool = crate::ToolName::CLOSE_TAB;
    assert_eq!(reply, Reply::Refused(Refusal::NoFocus { tool, lost: None }));
}

/// Spec: dynamic-tools 42, 97.
#[test]
fn not_available_while_no_tab_is_focused() {
    let mut sim = Sim::attached(&[A]);
    let a = sim.tab(A);
    let notices = sim.notices(|sim| {
        let reply = sim.call(close_tab(a));
        assert!(matches!(reply, Reply::Refused(Refusal::NoFocus { .. })));
    });
    assert_eq!(notices, 0);
    assert!(sim.browser.shows(A));
}

/// Spec: dynamic-tools 43.
#[test]
fn an_unknown_tab_is_an_error() {
    let (mut sim, ..) = with_focus_on_a();
    let tab = Some(TabRef::from("x"));
    let reply = sim.call(CallKind::CloseTab { tab });
    assert!(matches!(reply, Reply::Refused(Refusal::UnknownTab { .. })));
}

/// A blank tab keeps the browser alive and is hidden.
/// Spec: dynamic-tools 14, 47; decisions 14.
#[test]
fn the_last_tab_may_be_closed_and_the_browser_lives_on() {
    let mut sim = Sim::attached(&[A]);
    let a = sim.tab(A);
    sim.focus(a);
    sim.call(close_focused());
    assert!(sim.list().is_empty());
    assert_eq!(sim.browser.tab_count(), 1);
    sim.open(B, true);
    sim.call(close_focused());
    assert_eq!(sim.browser.tab_count(), 1, "one spare tab is enough");
}

#[test]
fn closing_all_tabs_at_once_leaves_the_browser_one() {
    let (mut sim, a, b) = with_focus_on_a();
    let calls = [sim.ask(close_tab(a)), sim.ask(close_tab(b))];
    sim.settle();
    assert_eq!(sim.reply(calls[0]), Some(closed(a)));
    assert_eq!(sim.reply(calls[1]), Some(closed(b)));
    assert_eq!(sim.browser.tab_count(), 1);
    assert_eq!(sim.tools(), ["list_tabs", "open_tab"]);
}

#[test]
fn close_tab_succeeds_whichever_way_the_close_is_reported() {
    let (mut sim, a, _) = with_focus_on_a();
    sim.browser.hangs = true;
    let call = sim.ask(close_tab(a));
    let notices = sim.notices(|sim| sim.user_closes(A));
    assert_eq!(sim.reply(call), Some(closed(a)));
    assert_eq!(notices, 1);
    let reply = sim.call(close_focused());
    assert!(
        matches!(reply, Reply::Refused(Refusal::NoFocus { lost: None, .. })),
        "the agent closed it, so no loss is reported"
    );

    let (mut sim, a, _) = with_focus_on_a();
    sim.browser.hangs = true;
    let call = sim.ask(close_tab(a));
    let notices = sim.notices(|sim| sim.finish(call));
    assert_eq!(sim.reply(call), Some(closed(a)));
    assert_eq!(notices, 1);
}

#[test]
fn the_notice_comes_before_the_answer() {
    let (mut sim, a, _) = with_focus_on_a();
    let before = sim.outputs.len();
    sim.call(close_tab(a));
    let told: Vec<_> = sim.outputs[before..]
        .iter()
        .filter(|output| matches!(output, Output::ToolsChanged { .. } | Output::Reply { .. }))
        .collect();
    assert!(matches!(told[0], Output::ToolsChanged { .. }));
    assert!(matches!(told[1], Output::Reply { .. }));
}

#[test]
fn a_tab_that_will_not_close_stays() {
    let (mut sim, a, _) = with_focus_on_a();
    sim.browser.hangs = true;
    let call = sim.ask(close_tab(a));
    let message = "The page asks whether to leave.".to_owned();
    let outcome = Finish::Failed {
        message: message.clone(),
    };
    sim.happen(Input::Finished { call, outcome });
    assert_eq!(sim.reply(call), Some(Reply::Failed { message }));
    assert!(sim.list()[0].focused);
}

#[test]
fn other_calls_on_the_closed_tab_fail() {
    let mut sim = Sim::new(super::browser::FakeBrowser::running(&[A, B]));
    sim.open_session(ONE, true);
    sim.call(connect(false));
    let a = sim.tab(A);
    sim.focus(a);
    sim.browser.hangs = true;
    let running = sim.ask(page(CLICK, crate::Access::Act));
    let waiting = sim.ask(page(CLICK, crate::Access::Act));
    sim.browser.hangs = false;
    sim.call(close_focused());
    for call in [running, waiting] {
        assert!(matches!(
            sim.reply(call),
            Some(Reply::Refused(Refusal::TabLost { .. }))
        ));
    }
    assert!(sim.outputs.contains(&Output::Abort { call: running }));
    assert!(!sim.outputs.contains(&Output::Abort { call: waiting }));
}
