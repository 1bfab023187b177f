//! An isolated session has a browser context of its own.

use super::browser::FakeBrowser;
use super::sim::*;
use crate::{Refusal, Reply, SessionConfig};

const A: &str = "https://a.test/";
const B: &str = "https://b.test/";

fn isolated() -> SessionConfig {
    SessionConfig {
        isolated: true,
        ..fixed()
    }
}

/// A user's tab, and an isolated session with one of its own.
fn scene() -> Sim {
    let mut sim = Sim::new(FakeBrowser::running(&[A]));
    sim.open_session_as(ONE, isolated());
    sim.open_session_as(TWO, fixed());
    sim.browser.context = Some(ONE);
    sim.call(new_page(B));
    sim.browser.context = None;
    sim
}

#[test]
fn it_sees_only_its_own_tabs_and_no_other_session_sees_them() {
    let mut sim = scene();
    let urls = |rows: Vec<crate::TabRow>| -> Vec<String> {
        rows.into_iter().map(|row| row.url.to_string()).collect()
    };
    assert_eq!(urls(sim.pages_of(ONE)), [B]);
    assert_eq!(urls(sim.pages_of(TWO)), [A]);
}

#[test]
fn tabs_of_the_other_context_cannot_be_named() {
    let mut sim = scene();
    let own = sim.page_at(B);
    let users = sim.pages_of(TWO)[0].id;
    for (session, tab) in [(ONE, users), (TWO, own)] {
        let reply = sim.call_of(session, click_in(tab));
        assert!(
            matches!(reply, Reply::Refused(Refusal::UnknownTab { .. })),
            "{reply:?}"
        );
    }
}

#[test]
fn popups_of_its_pages_are_its_own() {
    let mut sim = scene();
    sim.browser.context = Some(ONE);
    sim.page_opens(B, "https://popup.test/");
    assert_eq!(sim.pages_of(ONE).len(), 2);
    assert_eq!(sim.pages_of(TWO).len(), 1);
}

#[test]
fn it_takes_over_neither_the_page_in_front_nor_an_unused_tab() {
    let mut browser = FakeBrowser::running(&[A]);
    browser.front = Some(browser.at(A));
    let mut sim = Sim::new(browser);
    sim.open_session_as(ONE, named(isolated()));
    sim.browser.context = Some(ONE);
    sim.click_of(ONE);
    assert_eq!(sim.opens(), 1);
    assert!(!sim.browser.holds(A));

    let mut sim = Sim::disconnected();
    sim.open_session_as(TWO, isolated());
    sim.browser.context = None;
    sim.call_of(TWO, crate::CallKind::ListPages);
    sim.browser.context = Some(TWO);
    sim.click_of(TWO);
    assert_eq!(sim.opens(), 1);
}
