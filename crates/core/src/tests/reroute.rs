//! Calls that reached a page too late: they are rerouted, and never run twice.

use super::pages::{Pages, place};
use crate::{Finish, Input, Output, Reply};

/// The tabs to which calls went, in order.
fn ways(pages: &Pages) -> Vec<crate::TabLocation> {
    pages.runs().into_iter().map(|(place, _)| place).collect()
}

fn not_begun(pages: &mut Pages, call: crate::CallId) {
    let outcome = Finish::NotBegun;
    pages.sim.happen(Input::Finished { call, outcome });
}

/// Spec: multi-tab 23.
#[test]
fn a_call_that_the_active_page_left_unanswered_goes_to_the_other_tab() {
    let mut pages = Pages::new();
    for page in ["A", "B"] {
        pages.open_with(page, "toolX");
    }
    pages.front("A");
    pages.sim.browser.hangs = true;
    let working = pages.ask("toolX", None);
    let waiting = pages.ask("toolX", None);
    assert_eq!(ways(&pages), [place("A")]);
    pages.close("A");
    assert_eq!(ways(&pages), [place("A"), place("B")]);
    let taken_back = |output: &&Output| matches!(output, Output::TakeBack { .. });
    let taken_back = pages.sim.outputs.iter().filter(taken_back);
    assert_eq!(taken_back.count(), 1, "the other call was not sent yet");
    pages.finish(working);
    pages.finish(waiting);
    for call in [working, waiting] {
        let reply = pages.sim.reply(call);
        assert!(matches!(reply, Some(Reply::Done { .. })), "{reply:?}");
    }
    assert_eq!(ways(&pages), [place("A"), place("B"), place("B")]);
}

/// Spec: multi-tab 23, 24.
#[test]
fn a_call_that_the_page_refuses_because_its_tool_is_gone_goes_to_the_other_tab() {
    let mut pages = Pages::new();
    for page in ["A", "B"] {
        pages.open_with(page, "toolX");
    }
    pages.front("A");
    pages.sim.browser.hangs = true;
    let call = pages.ask("toolX", None);
    pages.unregister("A", "toolX");
    not_begun(&mut pages, call);
    assert_eq!(ways(&pages), [place("A"), place("B")]);
    pages.finish(call);
    let reply = pages.sim.reply(call);
    assert!(matches!(reply, Some(Reply::Done { .. })), "{reply:?}");
}

#[test]
fn a_call_with_a_named_tab_is_not_rerouted() {
    let mut pages = Pages::new();
    for page in ["A", "B"] {
        pages.open_with(page, "toolX");
    }
    pages.sim.browser.hangs = true;
    let (left, refused) = (pages.ask("toolX", Some("A")), pages.ask("toolX", Some("B")));
    pages.close("A");
    not_begun(&mut pages, refused);
    assert_eq!(ways(&pages), [place("A"), place("B")]);
    for (call, tab) in [(left, "A"), (refused, "B")] {
        let Some(Reply::Refused(refusal)) = pages.sim.reply(call) else {
            panic!("{:?}", pages.sim.reply(call));
        };
        let beginning = format!("Tool 'toolX' not available in tab '{tab}'.");
        assert!(refusal.to_string().starts_with(&beginning), "{refusal}");
    }
}

#[test]
fn a_call_that_every_page_refuses_is_refused_in_the_end() {
    let mut pages = Pages::new();
    for page in ["A", "B"] {
        pages.open_with(page, "toolX");
    }
    pages.sim.browser.hangs = true;
    let call = pages.ask("toolX", None);
    let mut asked = 0;
    while pages.sim.reply(call).is_none() {
        not_begun(&mut pages, call);
        asked += 1;
        assert!(asked < 10, "it is rerouted endlessly");
    }
    let reply = pages.sim.reply(call);
    assert!(matches!(reply, Some(Reply::Refused(_))), "{reply:?}");
}
