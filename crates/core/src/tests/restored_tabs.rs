//! A session gets back the tabs that it had before its daemon crashed.

use super::browser::FakeBrowser;
use super::sim::*;
use crate::{
    BrowserKey, Config, Fate, Loss, LostTab, RememberedTab, Reply, RestoredTabs, SessionConfig,
    TabId,
};

const A: &str = "https://a.test/";
const B: &str = "https://b.test/";
const C: &str = "https://c.test/";

/// A user's browser in which the session opened A and took over B.
fn scene(config: impl FnOnce(RestoredTabs) -> SessionConfig) -> Sim {
    let (mut sim, restored_tabs) = no_session_yet();
    sim.open_session_as(ONE, config(restored_tabs));
    sim
}

/// The same before the session opens, and what it had.
fn no_session_yet() -> (Sim, RestoredTabs) {
    let browser = FakeBrowser::running(&[A, B, C]);
    let (a, b) = (browser.at(A), browser.at(B));
    let restored_tabs = RestoredTabs {
        opened: vec![a.clone()],
        bound: vec![b.clone()],
        connected: Some(key()),
        ..RestoredTabs::default()
    };
    let remembered = [(a, 40), (b, 41)].map(|(target, number)| RememberedTab {
        browser: key(),
        target,
        number: TabId(number),
    });
    let known = Config {
        tabs_counted: 41,
        remembered: remembered.to_vec(),
        ..Config::default()
    };
    (Sim::with_config(browser, known), restored_tabs)
}

/// A progressive session with restored tabs.
fn progressive_restored(restored_tabs: RestoredTabs) -> SessionConfig {
    SessionConfig {
        restored_tabs,
        ..progressive()
    }
}

fn refused(sim: &mut Sim) -> String {
    match sim.call(page(CLICK, crate::Access::Act)) {
        Reply::Refused(refusal) => refusal.to_string(),
        other => panic!("{other:?}"),
    }
}

const DISCONNECTED: [&str; 1] = ["connect_browser"];
const NO_FOCUS: [&str; 3] = ["list_tabs", "open_tab", "focus_tab"];
const FOCUSED: [&str; 7] = [
    "list_tabs",
    "open_tab",
    "focus_tab",
    "close_tab",
    "click",
    "handle_dialog",
    "take_snapshot",
];

fn key() -> BrowserKey {
    fixed().browsers[0].key.clone()
}

fn restored(restored_tabs: RestoredTabs) -> SessionConfig {
    SessionConfig {
        restored_tabs,
        ..fixed()
    }
}

#[test]
fn it_is_bound_to_its_tab_again_and_no_other_is_opened() {
    let mut sim = scene(restored);
    let tab = sim.click_of(ONE);
    assert_eq!(sim.page_at(B), tab);
    assert_eq!(sim.opens(), 0);
}

#[test]
fn the_tabs_that_it_opened_keep_their_numbers_and_close_with_it() {
    let mut sim = scene(restored);
    assert_eq!(sim.page_at(A), TabId(40));
    let newer = sim.page_at(C);
    assert!(newer > TabId(41), "no number means another tab: {newer:?}");
    sim.close_session(ONE);
    sim.settle();
    assert!(!sim.browser.shows(A) && sim.browser.shows(B));
}

#[test]
fn other_sessions_do_not_see_its_tabs() {
    let mut sim = scene(restored);
    sim.open_session_as(TWO, fixed());
    sim.click_of(ONE);
    let others: Vec<_> = sim.pages_of(TWO).into_iter().map(|row| row.url).collect();
    assert_eq!(others, [C.into()]);
}

#[test]
fn a_progressive_session_continues_in_its_tab_with_its_next_call() {
    let mut sim = scene(progressive_restored);
    assert_eq!(sim.tools(), FOCUSED, "before it is connected");
    assert_eq!(sim.click_of(ONE), TabId(41));
    assert_eq!((sim.connects(), sim.opens()), (1, 0));
    assert_eq!(sim.tools(), FOCUSED);
    assert_eq!(sim.tab(A), TabId(40));
    sim.close_session(ONE);
    sim.settle();
    assert!(!sim.browser.shows(A) && sim.browser.shows(B));
}

#[test]
fn a_progressive_session_that_connects_again_by_itself_has_its_focus() {
    let mut sim = scene(progressive_restored);
    let notices = sim.notices(|sim| {
        assert!(matches!(sim.call(connect(false)), Reply::Connected { .. }));
    });
    assert_eq!(notices, 1);
    assert!(
        sim.list()
            .iter()
            .any(|row| row.focused && row.id == TabId(41))
    );
}

#[test]
fn a_progressive_session_without_a_tab_is_connected_again() {
    let mut sim = scene(|restored_tabs| {
        let connected = restored_tabs.connected;
        progressive_restored(RestoredTabs {
            connected,
            ..RestoredTabs::default()
        })
    });
    assert_eq!(sim.tools(), NO_FOCUS);
    assert!(refused(&mut sim).contains("needs a focused tab"));
    assert_eq!(sim.list().len(), 3);
    assert_eq!(sim.connects(), 1);
}

#[test]
fn a_progressive_session_is_connected_at_once_if_its_browser_is() {
    let (mut sim, restored_tabs) = no_session_yet();
    sim.open_session_as(TWO, fixed());
    sim.pages_of(TWO);
    sim.open_session_as(ONE, progressive_restored(restored_tabs));
    assert_eq!(sim.core.bound_tab(ONE), Some(TabId(41)));
    assert_eq!(sim.click_of(ONE), TabId(41));
}

#[test]
fn a_progressive_session_learns_that_its_tab_was_closed_meanwhile() {
    let mut sim = scene(progressive_restored);
    sim.browser.remove(&sim.browser.at(B));
    let told = refused(&mut sim);
    assert!(told.contains("tab 41 was closed. Call focus_tab"), "{told}");
    assert_eq!(sim.tools(), NO_FOCUS);
}

#[test]
fn a_progressive_session_whose_browser_is_gone_too_has_to_connect() {
    let mut sim = scene(progressive_restored);
    sim.browser.quit();
    let told = refused(&mut sim);
    assert!(told.contains("cannot be reached any more"), "{told}");
    assert!(
        told.ends_with("Call connect_browser to connect again."),
        "{told}"
    );
    assert_eq!(sim.tools(), DISCONNECTED);
    assert!(matches!(sim.call(connect(true)), Reply::Connected { .. }));
}

#[test]
fn a_progressive_session_reconnects_even_after_a_second_crash() {
    let sim = scene(progressive_restored);
    assert_eq!(sim.core.returns_to(ONE), Some(&key()));
}

#[test]
fn a_session_does_not_reconnect_to_a_browser_that_tabmux_launched() {
    let mut sim = Sim::launched();
    assert_eq!(sim.core.returns_to(ONE), None);
    sim.user_quits();
    assert_eq!(sim.core.returns_to(ONE), None);
}

#[test]
fn a_progressive_session_learns_that_its_tab_was_lost_with_its_daemon() {
    let mut sim = Sim::new(FakeBrowser::new());
    let (tab, fate) = (TabId(7), Fate::BrowserGone);
    let lost = Some(Loss {
        browser: Some(key()),
        tab: LostTab { tab, fate },
    });
    let restored_tabs = RestoredTabs {
        lost: lost.clone(),
        ..RestoredTabs::default()
    };
    sim.open_session_as(ONE, progressive_restored(restored_tabs));
    assert_eq!(sim.tools(), DISCONNECTED);
    assert_eq!(
        refused(&mut sim),
        "click was not carried out: tab 7 is gone with its browser, and no browser is connected now. \
         Call connect_browser, then open_tab to work in a new tab."
    );
    assert_eq!(sim.core.loss(ONE), lost, "a later daemon must know it");
    sim.call(connect(true));
    assert_eq!(sim.core.loss(ONE), None);
    sim.open(A, true);
    sim.click_of(ONE);
}

#[test]
fn tabs_that_are_gone_are_reported_once_and_replaced() {
    let mut sim = scene(restored);
    sim.browser.remove(&sim.browser.at(A));
    sim.browser.remove(&sim.browser.at(B));
    assert!(refused(&mut sim).contains("tab 41 was closed"));
    let tab = sim.click_of(ONE);
    assert_eq!(sim.opens(), 1);
    assert!(tab > TabId(41));
}

#[test]
fn a_tab_that_was_lost_with_its_daemon_is_reported_once() {
    let mut sim = Sim::new(FakeBrowser::new());
    let (tab, fate) = (TabId(7), Fate::BrowserGone);
    let lost = Loss {
        browser: Some(key()),
        tab: LostTab { tab, fate },
    };
    let restored_tabs = RestoredTabs {
        lost: Some(lost.clone()),
        ..RestoredTabs::default()
    };
    sim.open_session_as(ONE, restored(restored_tabs));
    assert_eq!(
        sim.core.loss(ONE),
        Some(lost),
        "a later daemon must know it"
    );
    let reply = sim.call(page(CLICK, crate::Access::Act));
    let Reply::Refused(refusal) = reply else {
        panic!("{reply:?}");
    };
    let text = refusal.to_string();
    assert!(text.contains("tab 7 is gone with its browser"), "{text}");
    assert_eq!(sim.core.loss(ONE), None);
    sim.click_of(ONE);
}
