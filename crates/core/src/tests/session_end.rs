//! When a session ends, the tabs that it created are closed, and those that it took over stay.

use super::browser::FakeBrowser;
use super::sim::*;
use crate::Access::Act;
use crate::{
    BrowserKey, CallKind, Fate, LostTab, Mode, Output, Refusal, Reply, SessionId, ToolName,
};

const A: &str = "https://a.test/";
const B: &str = "https://b.test/";
const C: &str = "https://c.test/";

/// Spec: multi-client 33.
#[test]
fn closes_the_tabs_it_created_and_their_popups() {
    let mut sim = Sim::new(FakeBrowser::running(&[A]));
    sim.open_session_as(ONE, fixed());
    sim.click_of(ONE);
    sim.call(new_page(B));
    sim.page_opens(B, C);
    sim.close_session(ONE);
    sim.settle();
    assert!(sim.browser.shows(A));
    assert_eq!(sim.browser.tab_count(), 1);
    assert_eq!(sim.core.tabs().count(), 1);
}

/// Spec: multi-client 33.
#[test]
fn in_progressive_mode_too() {
    let mut sim = Sim::attached(&[A]);
    sim.open(B, true);
    sim.open(C, false);
    sim.close_session(ONE);
    sim.settle();
    assert_eq!((sim.browser.tab_count(), sim.browser.shows(A)), (1, true));
}

/// Spec: multi-client 33.
#[test]
fn never_closes_a_tab_that_it_was_given() {
    let mut sim = Sim::new(FakeBrowser::running(&[A, B]));
    sim.open_session_as(ONE, fixed());
    let pages = sim.pages_of(ONE);
    sim.call(select_page(pages[0].id));
    sim.call(click_in(pages[1].id));
    sim.close_session(ONE);
    sim.settle();
    assert_eq!((sim.browser.tab_count(), sim.discards()), (2, 0));
    assert!(!sim.browser.holds(B));
}

/// Spec: multi-client 33.
#[test]
fn a_popup_of_a_tab_it_was_given_is_its_own() {
    let mut sim = Sim::new(FakeBrowser::running(&[A]));
    sim.open_session_as(ONE, fixed());
    let a = sim.pages_of(ONE)[0].id;
    sim.call(select_page(a));
    sim.page_opens(A, B);
    sim.close_session(ONE);
    sim.settle();
    assert_eq!((sim.browser.shows(A), sim.browser.shows(B)), (true, false));
}

/// Spec: multi-client 34.
#[test]
fn keeps_them_if_configured() {
    for config in [fixed(), progressive()] {
        let mut sim = Sim::new(FakeBrowser::running(&[A]));
        let mode = config.mode;
        sim.open_session_as(ONE, keeping(config));
        match mode {
            Mode::Static => drop(sim.call(new_page(B))),
            Mode::Progressive => {
                sim.call(connect(false));
                sim.open(B, true);
            }
        }
        sim.close_session(ONE);
        sim.settle();
        assert_eq!((sim.browser.tab_count(), sim.discards()), (2, 0));
        assert!(!sim.browser.holds(B), "it is free");
    }
}

#[test]
fn a_tab_that_another_session_is_bound_to_stays() {
    let mut sim = Sim::new(FakeBrowser::running(&[A]));
    sim.open_session_as(ONE, fixed());
    sim.open_session_as(TWO, fixed());
    let tab = sim.click_of(ONE);
    sim.call_of(TWO, click_in(tab));
    sim.close_session(ONE);
    sim.settle();
    assert_eq!((sim.click_of(TWO), sim.discards()), (tab, 0));
    sim.close_session(TWO);
    sim.settle();
    assert_eq!(sim.discards(), 0, "the second session took it over");
}

#[test]
fn the_last_tab_of_a_browser_is_replaced_by_a_spare_one() {
    let mut sim = Sim::new(FakeBrowser::new());
    sim.open_session_as(ONE, fixed());
    sim.click_of(ONE);
    sim.call(new_page(A));
    sim.close_session(ONE);
    let last = |output: &Output| match output {
        Output::Discard { last, .. } => Some(*last),
        _ => None,
    };
    let lasts: Vec<_> = sim.outputs.iter().filter_map(last).collect();
    assert_eq!(lasts, [false, true]);
    sim.settle();
    assert_eq!((sim.browser.tab_count(), sim.core.tabs().count()), (1, 0));
}

#[test]
fn a_tab_that_is_being_closed_is_hidden_from_others() {
    let mut sim = Sim::new(FakeBrowser::running(&[A]));
    sim.open_session_as(ONE, fixed());
    sim.open_session_as(TWO, fixed());
    let tab = sim.click_of(ONE);
    sim.browser.hangs = true;
    let late = sim.ask_of(TWO, select_page(tab), None);
    sim.close_session(ONE);
    let lost = LostTab {
        tab,
        fate: Fate::Closed,
    };
    let (tool, mode) = (ToolName::SELECT_PAGE, Mode::Static);
    let refusal = Refusal::TabLost { tool, lost, mode };
    assert_eq!(sim.reply(late), Some(Reply::Refused(refusal)));
    let reply = sim.call_of(TWO, select_page(tab));
    assert!(matches!(reply, Reply::Refused(Refusal::UnknownTab { .. })));
}

#[test]
fn a_tab_that_two_sessions_want_closed_is_closed_for_both() {
    let mut sim = Sim::new(FakeBrowser::running(&[A]));
    sim.open_session_as(ONE, fixed());
    sim.open_session_as(TWO, fixed());
    let tab = sim.click_of(ONE);
    sim.browser.hangs = true;
    let close = sim.ask_of(TWO, close_page(tab), None);
    sim.close_session(ONE);
    sim.settle();
    assert_eq!(sim.reply(close), Some(closed(tab)));
}

#[test]
fn a_crashed_tab_does_not_stay_in_the_tab_strip() {
    let mut sim = Sim::new(FakeBrowser::running(&[A]));
    sim.open_session_as(ONE, fixed());
    sim.open_session_as(TWO, keeping(fixed()));
    sim.call(new_page(B));
    sim.call_of(TWO, new_page(C));
    sim.crashes(A);
    sim.crashes(C);
    assert_eq!(
        sim.discards(),
        0,
        "neither the user's nor what is to be kept"
    );
    sim.crashes(B);
    assert_eq!(sim.discards(), 1);
}

#[test]
fn no_call_is_started_for_a_session_that_ends() {
    let mut sim = Sim::new(FakeBrowser::running(&[A]));
    sim.open_session_as(ONE, fixed());
    sim.pages_of(ONE);
    sim.browser.hangs = true;
    let calls = [Act, Act, Act].map(|access| sim.ask(page(CLICK, access)));
    sim.settle();
    sim.close_session(ONE);
    for call in calls {
        assert_eq!(sim.reply(call), Some(Reply::Cancelled));
    }
    let opened = sim.opens();
    assert_eq!((opened, sim.runs().len()), (1, 0));
    sim.settle();
    assert_eq!(sim.browser.tab_count(), 1);
    assert_eq!(sim.core.poll_timeout(), None);
}

#[test]
fn calls_that_wait_for_a_browser_end_with_their_session() {
    let mut sim = Sim::new(FakeBrowser::new());
    sim.open_session_as(ONE, fixed());
    let call = sim.ask(page(CLICK, Act));
    sim.close_session(ONE);
    assert_eq!(sim.reply(call), Some(Reply::Cancelled));
    sim.settle();
    sim.open_session_as(SessionId(3), fixed());
    sim.click_of(SessionId(3));
}

#[test]
fn a_browser_of_a_grid_is_given_back_with_the_last_session_that_uses_it() {
    let mut sim = Sim::with_fixed_list(&[]);
    let mut config = fixed();
    config.browsers[0].key = BrowserKey("grid".into());
    (config.browsers[0].attached, config.browsers[0].leased) = (true, true);
    let [two, three] = [SessionId(2), SessionId(3)];
    for session in [two, three] {
        sim.open_session_as(session, config.clone());
        sim.ask_of(session, CallKind::ListPages, None);
        sim.settle();
    }
    let given_back = |sim: &Sim| {
        let mut outputs = sim.outputs.iter();
        outputs.any(|output| matches!(output, Output::Disconnect { .. }))
    };
    sim.close_session(two);
    assert!(!given_back(&sim));
    sim.close_session(three);
    assert!(given_back(&sim));
}
