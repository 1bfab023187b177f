//! A browser that the user named: the first session takes over the active page.

use super::browser::FakeBrowser;
use super::sim::*;
use crate::{SessionConfig, SessionId};

const A: &str = "https://a.test/";
const B: &str = "https://b.test/";

/// A browser that shows both pages; B is active.
fn with_b_in_front() -> Sim {
    let mut browser = FakeBrowser::running(&[A, B]);
    browser.front = Some(browser.at(B));
    Sim::new(browser)
}

fn attached() -> SessionConfig {
    named(fixed())
}

fn url(sim: &Sim, session: SessionId) -> String {
    let tab = sim.core.bound_tab(session);
    let mut tabs = sim.core.tabs();
    let view = tabs.find(|view| Some(view.id) == tab);
    view.expect("it is bound").url.to_owned()
}

#[test]
fn the_first_session_adopts_the_page_in_front_and_the_next_gets_its_own() {
    let mut sim = with_b_in_front();
    sim.open_session_as(ONE, attached());
    sim.open_session_as(TWO, attached());
    sim.click_of(ONE);
    sim.click_of(TWO);
    assert_eq!((&*url(&sim, ONE), &*url(&sim, TWO)), (B, "about:blank"));
    assert!(sim.browser.holds(B) && !sim.browser.holds(A));
}

#[test]
fn it_is_offered_once() {
    let mut sim = with_b_in_front();
    sim.open_session_as(ONE, attached());
    sim.open_session_as(TWO, attached());
    let b = sim.click_of(ONE);
    sim.call(new_page("https://c.test/"));
    sim.click_of(TWO);
    assert_ne!(sim.core.bound_tab(TWO), Some(b));
}

#[test]
fn a_page_that_a_session_holds_is_not_taken_over() {
    let mut sim = with_b_in_front();
    sim.open_session(ONE, true);
    sim.call(connect(false));
    let b = sim.tab(B);
    sim.focus(b);
    sim.open_session_as(TWO, attached());
    sim.click_of(TWO);
    assert_eq!(url(&sim, TWO), "about:blank");
}

#[test]
fn in_a_browser_that_tabmux_found_no_page_is_taken_over() {
    let mut sim = with_b_in_front();
    sim.open_session_as(ONE, fixed());
    sim.click_of(ONE);
    assert_eq!(url(&sim, ONE), "about:blank");
}

#[test]
fn an_active_page_that_is_gone_is_no_error() {
    let mut sim = with_b_in_front();
    sim.open_session_as(ONE, attached());
    sim.pages_of(ONE);
    sim.user_closes(B);
    sim.click_of(ONE);
    assert_eq!(url(&sim, ONE), "about:blank");
}

/// Spec: multi-client 33.
#[test]
fn an_adopted_page_outlives_its_session() {
    let mut sim = with_b_in_front();
    sim.open_session_as(ONE, attached());
    sim.click_of(ONE);
    sim.close_session(ONE);
    sim.settle();
    assert!(sim.browser.shows(B) && !sim.browser.holds(B));
    assert_eq!(sim.discards(), 0);
}
