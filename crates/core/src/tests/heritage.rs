//! A session that had tabs before its daemon died finds them again.

use super::browser::FakeBrowser;
use super::sim::*;
use crate::{
    BrowserKey, Config, Fate, Heritage, Loss, LostTab, RememberedTab, Reply, SessionConfig, TabId,
};

const A: &str = "https://a.test/";
const B: &str = "https://b.test/";
const C: &str = "https://c.test/";

/// A user's browser in which A was opened for the session and B was taken over by it.
fn scene(config: impl FnOnce(Heritage) -> SessionConfig) -> Sim {
    let browser = FakeBrowser::running(&[A, B, C]);
    let (a, b) = (browser.at(A), browser.at(B));
    let heritage = Heritage {
        opened: vec![a.clone()],
        bound: vec![b],
        ..Heritage::default()
    };
    let remembered = vec![RememberedTab {
        browser: key(),
        target: a,
        number: TabId(40),
    }];
    let known = Config {
        tabs_counted: 41,
        remembered,
        ..Config::default()
    };
    let mut sim = Sim::with_config(browser, known);
    sim.open_session_as(ONE, config(heritage));
    sim
}

fn key() -> BrowserKey {
    fixed().browsers[0].key.clone()
}

fn heir(heritage: Heritage) -> SessionConfig {
    SessionConfig {
        heritage,
        ..fixed()
    }
}

#[test]
fn it_is_bound_to_its_tab_again_and_no_other_is_opened() {
    let mut sim = scene(heir);
    let tab = sim.click_of(ONE);
    assert_eq!(sim.page_at(B), tab);
    assert_eq!(sim.opens(), 0);
}

#[test]
fn what_it_opened_keeps_its_number_and_closes_with_it() {
    let mut sim = scene(heir);
    assert_eq!(sim.page_at(A), TabId(40));
    let newer = sim.page_at(C);
    assert!(newer > TabId(41), "no number means another tab: {newer:?}");
    sim.close_session(ONE);
    sim.settle();
    assert!(!sim.browser.shows(A) && sim.browser.shows(B));
}

#[test]
fn others_are_not_shown_what_is_its_own() {
    let mut sim = scene(heir);
    sim.open_session_as(TWO, fixed());
    sim.click_of(ONE);
    let others: Vec<_> = sim.pages_of(TWO).into_iter().map(|row| row.url).collect();
    assert_eq!(others, [C.into()]);
}

#[test]
fn a_progressive_session_owns_its_tabs_again_and_has_to_focus_again() {
    let mut sim = scene(|heritage| SessionConfig {
        heritage,
        ..progressive()
    });
    sim.call(connect(false));
    assert!(sim.list().iter().all(|row| !row.focused));
    sim.close_session(ONE);
    sim.settle();
    assert!(!sim.browser.shows(A) && sim.browser.shows(B));
}

#[test]
fn tabs_that_are_gone_are_not_missed() {
    let mut sim = scene(heir);
    sim.browser.remove(&sim.browser.at(A));
    sim.browser.remove(&sim.browser.at(B));
    let tab = sim.click_of(ONE);
    assert_eq!(sim.opens(), 1);
    assert!(tab > TabId(41));
}

#[test]
fn a_tab_that_went_down_with_its_daemon_is_told_once() {
    let mut sim = Sim::new(FakeBrowser::new());
    let (tab, fate) = (TabId(7), Fate::BrowserGone);
    let lost = Loss {
        browser: Some(key()),
        tab: LostTab { tab, fate },
    };
    let heritage = Heritage {
        lost: Some(lost.clone()),
        ..Heritage::default()
    };
    sim.open_session_as(ONE, heir(heritage));
    assert_eq!(sim.core.loss(ONE), Some(lost), "for a daemon after this");
    let reply = sim.call(page(CLICK, crate::Access::Act));
    let Reply::Refused(refusal) = reply else {
        panic!("{reply:?}");
    };
    let text = refusal.to_string();
    assert!(text.contains("tab 7 is gone with its browser"), "{text}");
    assert_eq!(sim.core.loss(ONE), None);
    sim.click_of(ONE);
}
