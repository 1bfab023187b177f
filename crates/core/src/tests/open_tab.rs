//! `open_tab`: the tab becomes visible when the call has succeeded, not earlier.

use super::sim::*;
use crate::{
    BrowserFacts, CallKind, Finish, Input, Output, Refusal, Reply, TabId, TabOpener, ToolName,
};
use std::time::Duration;

const A: &str = "https://a.test/";
const B: &str = "https://b.test/";
const REFUSED: &str = "https://refused.test/";

fn discards(sim: &Sim) -> usize {
    let is_discard = |output: &&Output| matches!(output, Output::Discard { .. });
    sim.outputs.iter().filter(is_discard).count()
}

/// Spec: dynamic-tools 35.
#[test]
fn the_answer_shows_the_tab_as_it_is_then() {
    let mut sim = Sim::launched();
    let Reply::Opened { tab, tools } = sim.call(open_tab(A, true)) else {
        panic!("it opens");
    };
    assert_eq!(&*tab.url, A);
    assert_eq!(&*tab.title, "Title of https://a.test/");
    assert!(tab.focused);
    assert!(tools.is_empty(), "no page has tools of its own yet");
}

/// Spec: dynamic-tools 35, 99.
#[test]
fn a_page_without_a_title_is_loading() {
    let mut sim = Sim::launched();
    let tab = sim.open("https://untitled.test/", false);
    assert_eq!(&*tab.title, "Loading...");
    assert!(!tab.focused);
}

/// Spec: dynamic-tools 36.
#[test]
fn opening_with_focus_is_announced() {
    let mut sim = Sim::attached(&[A]);
    let notices = sim.notices(|sim| {
        sim.open(B, true);
    });
    assert_eq!(notices, 1);
    assert!(sim.tools().contains(&"close_tab".to_owned()));
}

/// Spec: dynamic-tools 36.
#[test]
fn opening_with_focus_is_announced_though_the_names_stay() {
    let mut sim = Sim::launched();
    sim.open(A, true);
    let notices = sim.notices(|sim| {
        sim.open(B, true);
    });
    assert_eq!(notices, 1);
}

/// Spec: dynamic-tools 37.
#[test]
fn open_tab_without_focus_is_not_announced() {
    let mut sim = Sim::attached(&[A]);
    let notices = sim.notices(|sim| {
        sim.open(B, false);
    });
    assert_eq!(notices, 0);
    assert!(sim.list().iter().any(|tab| &*tab.url == B));
}

/// Spec: dynamic-tools 99.
#[test]
fn unfocused_answers_have_no_tools() {
    let mut sim = Sim::attached(&[A]);
    let Reply::Opened { tab, tools } = sim.call(open_tab(B, false)) else {
        panic!("it opens");
    };
    assert_eq!((tab.focused, tools), (false, vec![]));
}

/// Opening without focus causes no notice if the list stays the same.
/// Spec: dynamic-tools 8, 94; decisions 11.
#[test]
fn the_first_tab_is_announced_even_without_focus() {
    let mut sim = Sim::launched();
    let notices = sim.notices(|sim| {
        sim.open(A, false);
    });
    assert_eq!(notices, 1);
    assert_eq!(sim.tools(), ["list_tabs", "open_tab", "focus_tab"]);
}

#[test]
fn the_notice_comes_before_the_answer() {
    for focus in [true, false] {
        let mut sim = Sim::launched();
        let before = sim.outputs.len();
        sim.call(open_tab(A, focus));
        let told: Vec<_> = sim.outputs[before..]
            .iter()
            .filter(|output| matches!(output, Output::ToolsChanged { .. } | Output::Reply { .. }))
            .collect();
        assert!(matches!(told[0], Output::ToolsChanged { .. }));
        assert!(matches!(told[1], Output::Reply { .. }));
    }
}

/// Spec: dynamic-tools 32.
#[test]
fn available_in_all_connected_states() {
    let mut sim = Sim::launched();
    sim.open(A, false);
    sim.open(B, true);
    sim.open("https://c.test/", true);
    assert_eq!(sim.list().len(), 3);
}

/// Spec: dynamic-tools 89.
#[test]
fn a_page_that_cannot_be_loaded_changes_nothing() {
    let mut sim = Sim::launched();
    let notices = sim.notices(|sim| {
        let message = "The page could not be loaded.".to_owned();
        assert_eq!(sim.call(open_tab(REFUSED, true)), Reply::Failed { message });
    });
    assert_eq!(notices, 0);
    assert_eq!(sim.tools(), ["list_tabs", "open_tab"]);
    assert!(sim.list().is_empty());
    assert_eq!(discards(&sim), 1, "its tab is closed");
    assert_eq!(sim.browser.tab_count(), 1);
}

#[test]
fn a_tab_is_not_shown_before_its_call_has_finished() {
    let mut sim = Sim::launched();
    sim.browser.hangs = true;
    let call = sim.ask(open_tab(A, true));
    sim.settle();
    let (browser, target) = (sim.browser.id.unwrap(), sim.browser.at(A));
    assert!(sim.list().is_empty());
    assert_eq!(sim.core.tab(browser, &target), None);
    assert_eq!(sim.tools(), ["list_tabs", "open_tab"]);
    sim.finish(call);
    let tab = sim.tab(A);
    assert_eq!(sim.core.tab(browser, &target), Some(tab));
}

#[test]
fn a_tab_cannot_be_named_before_its_call_has_finished() {
    let mut sim = Sim::attached(&[A]);
    sim.browser.hangs = true;
    let call = sim.ask(open_tab(B, false));
    sim.settle();
    let b = TabId(2);
    let reply = sim.call(focus_tab(b));
    assert!(matches!(reply, Reply::Refused(Refusal::UnknownTab { .. })));
    sim.finish(call);
    assert_eq!(sim.tab(B), b);
}

#[test]
fn a_cancelled_open_never_shows_its_tab() {
    let mut sim = Sim::launched();
    sim.browser.hangs = true;
    let call = sim.ask(open_tab(A, true));
    sim.settle();
    let notices = sim.notices(|sim| {
        sim.cancel(call);
        sim.finish(call);
    });
    assert_eq!(notices, 0);
    assert_eq!(discards(&sim), 1);
    assert!(sim.list().is_empty());
    assert!(!sim.browser.shows(A));
}

#[test]
fn a_tab_that_comes_after_its_call_was_cancelled_is_closed() {
    let mut sim = Sim::launched();
    let call = sim.ask(open_tab(A, true));
    sim.cancel(call);
    assert_eq!(discards(&sim), 0, "there is no tab yet");
    sim.settle();
    assert_eq!(discards(&sim), 1);
    assert!(sim.list().is_empty());
    assert!(!sim.browser.shows(A));
}

#[test]
fn a_tab_that_takes_too_long_is_closed() {
    let mut sim = Sim::launched();
    sim.browser.hangs = true;
    let call = sim.ask(open_tab(A, true));
    sim.pass(Duration::from_secs(31));
    assert!(matches!(
        sim.reply(call),
        Some(Reply::Refused(Refusal::TooLate { .. }))
    ));
    assert_eq!(discards(&sim), 1);
}

#[test]
fn a_tab_that_the_user_closes_while_it_loads_is_an_error() {
    let mut sim = Sim::launched();
    sim.browser.hangs = true;
    let call = sim.ask(open_tab(A, true));
    sim.settle();
    sim.user_closes(A);
    let tool = ToolName::OPEN_TAB;
    let refusal = Refusal::NotOpened { tool };
    assert_eq!(sim.reply(call), Some(Reply::Refused(refusal)));
    assert_eq!(discards(&sim), 0, "it is gone already");
}

#[test]
fn a_tab_that_crashes_while_it_loads_is_an_error_and_is_closed() {
    let mut sim = Sim::launched();
    sim.browser.hangs = true;
    let call = sim.ask(open_tab(A, true));
    sim.settle();
    sim.crashes(A);
    let tool = ToolName::OPEN_TAB;
    let refusal = Refusal::NotOpened { tool };
    assert_eq!(sim.reply(call), Some(Reply::Refused(refusal)));
    assert_eq!(discards(&sim), 1, "the crashed tab is closed");
}

#[test]
fn a_driver_that_opens_nothing_is_an_error() {
    let mut sim = Sim::launched();
    sim.browser.hangs = true;
    sim.browser.latency = Duration::from_secs(5);
    let call = sim.ask(open_tab(A, true));
    sim.finish(call);
    let tool = ToolName::OPEN_TAB;
    let refusal = Refusal::NotOpened { tool };
    assert_eq!(sim.reply(call), Some(Reply::Refused(refusal)));
}

#[test]
fn a_failure_after_the_answer_changes_nothing() {
    let mut sim = Sim::launched();
    let tab = sim.open(A, true);
    let call = crate::CallId(2);
    let message = String::new();
    let outcome = Finish::Failed { message };
    sim.happen(Input::Finished { call, outcome });
    assert_eq!(sim.list(), [tab]);
    assert_eq!(discards(&sim), 0);
}

#[test]
fn the_browser_keeps_a_tab_when_the_only_one_is_discarded() {
    let mut sim = Sim::attached(&[A]);
    sim.user_closes(A);
    sim.call(open_tab(REFUSED, true));
    let last = sim.outputs.iter().find_map(|output| match output {
        Output::Discard { last, .. } => Some(*last),
        _ => None,
    });
    assert_eq!(last, Some(true));
    sim.settle();
    assert!(sim.list().is_empty(), "the spare tab is hidden");
    assert_eq!(sim.browser.tab_count(), 1);
}

#[test]
fn tabs_that_are_being_discarded_do_not_keep_the_browser_alive() {
    let mut sim = Sim::attached(&[A]);
    let a = sim.tab(A);
    sim.focus(a);
    sim.browser.latency = Duration::from_millis(1);
    sim.call(open_tab(REFUSED, true));
    sim.call(close_focused());
    sim.settle();
    assert_eq!(sim.browser.tab_count(), 1);
}

#[test]
fn a_tab_in_another_browser_than_the_calls_is_not_its_tab() {
    let mut sim = Sim::launched();
    sim.browser.hangs = true;
    let call = sim.ask(open_tab(A, true));
    sim.open_session_in("another", TWO, false);
    sim.ask_of(TWO, connect(true), None);
    let Some(Output::Connect { browser, .. }) = sim.outputs.last().cloned() else {
        panic!("it connects to another browser");
    };
    let about = BrowserFacts {
        name: "Another".into(),
        version: "1".into(),
        launched: false,
    };
    let tabs = vec![];
    sim.happen(Input::Connected {
        replaces: false,
        browser,
        about,
        tabs,
        front: None,
    });
    let tab = sim.browser.add(B);
    let origin = TabOpener::Call(call);
    sim.happen(Input::TabAppeared {
        browser,
        tab,
        origin,
    });
    assert_eq!(discards(&sim), 1);
}

#[test]
fn a_tab_that_no_call_opened_is_closed() {
    let mut sim = Sim::launched();
    let browser = sim.browser.id.unwrap();
    let tab = sim.browser.add(A);
    let origin = TabOpener::Call(crate::CallId(99));
    sim.happen(Input::TabAppeared {
        browser,
        tab,
        origin,
    });
    assert_eq!(discards(&sim), 1);
    assert_eq!(
        sim.call(CallKind::ListTabs),
        Reply::Tabs {
            tabs: vec![],
            focused: None
        }
    );
}
