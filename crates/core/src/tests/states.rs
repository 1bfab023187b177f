//! The states and their exact lists: the table of `docs/specification/dynamic-tools.md`, row by row.

use super::browser::FakeBrowser;
use super::sim::*;

const A: &str = "https://a.test/";
const B: &str = "https://b.test/";

const DISCONNECTED: [&str; 1] = ["connect_browser"];
const NO_TABS: [&str; 2] = ["list_tabs", "open_tab"];
const NO_FOCUS: [&str; 3] = ["list_tabs", "open_tab", "focus_tab"];
const FOCUSED: [&str; 4] = ["list_tabs", "open_tab", "focus_tab", "close_tab"];

/// Spec: dynamic-tools 5, 15, 90.
#[test]
fn disconnected_has_connect_browser_alone() {
    let sim = Sim::disconnected();
    assert_eq!(sim.tools(), DISCONNECTED);
}

/// Spec: dynamic-tools 6, 7, 16, 24.
#[test]
fn connecting_to_a_browser_without_tabs() {
    let mut sim = Sim::disconnected();
    let notices = sim.notices(|sim| {
        sim.call(connect(true));
    });
    assert_eq!(notices, 1);
    assert_eq!(sim.tools(), NO_TABS);
}

/// Spec: dynamic-tools 8, 17, 24.
#[test]
fn connecting_to_a_browser_with_tabs() {
    let mut sim = Sim::new(FakeBrowser::running(&[A, B]));
    sim.open_session(ONE, false);
    let notices = sim.notices(|sim| {
        sim.call(connect(false));
    });
    assert_eq!(notices, 1);
    assert_eq!(sim.tools(), NO_FOCUS);
}

/// Spec: dynamic-tools 9, 10, 18.
#[test]
fn opening_with_focus_leads_to_tab_focused() {
    let mut sim = Sim::launched();
    let notices = sim.notices(|sim| {
        sim.open(A, true);
    });
    assert_eq!(notices, 1);
    assert_eq!(sim.tools(), FOCUSED);
}

/// Spec: dynamic-tools 11.
#[test]
fn focusing_leads_to_tab_focused() {
    let mut sim = Sim::attached(&[A, B]);
    let tab = sim.tab(A);
    let notices = sim.notices(|sim| {
        sim.focus(tab);
    });
    assert_eq!(notices, 1);
    assert_eq!(sim.tools(), FOCUSED);
}

/// Spec: dynamic-tools 12, 41.
#[test]
fn focusing_another_tab_is_announced_though_the_names_stay() {
    let mut sim = Sim::attached(&[A, B]);
    let (a, b) = (sim.tab(A), sim.tab(B));
    sim.focus(a);
    let notices = sim.notices(|sim| {
        sim.focus(b);
    });
    assert_eq!(notices, 1);
    assert_eq!(sim.tools(), FOCUSED);
}

/// Spec: dynamic-tools 13, 45.
#[test]
fn closing_the_focused_tab_leaves_none_focused() {
    let mut sim = Sim::attached(&[A, B]);
    let tab = sim.tab(A);
    sim.focus(tab);
    let notices = sim.notices(|sim| {
        sim.call(close_focused());
    });
    assert_eq!(notices, 1);
    assert_eq!(sim.tools(), NO_FOCUS);
}

/// Spec: dynamic-tools 14, 47.
#[test]
fn closing_the_last_tab_leaves_no_tabs() {
    let mut sim = Sim::attached(&[A]);
    let tab = sim.tab(A);
    sim.focus(tab);
    let notices = sim.notices(|sim| {
        sim.call(close_focused());
    });
    assert_eq!(notices, 1);
    assert_eq!(sim.tools(), NO_TABS);
}

/// Spec: dynamic-tools 1, 58, 91, 94.
#[test]
fn the_list_is_a_function_of_the_state() {
    let mut sim = Sim::disconnected();
    let mut lists = vec![sim.tools()];
    sim.call(connect(true));
    lists.push(sim.tools());
    let a = sim.open(A, false).id;
    lists.push(sim.tools());
    sim.focus(a);
    lists.push(sim.tools());
    sim.call(close_focused());
    lists.push(sim.tools());
    sim.user_quits();
    lists.push(sim.tools());
    assert_eq!(
        lists,
        [
            &DISCONNECTED[..],
            &NO_TABS,
            &NO_FOCUS,
            &FOCUSED,
            &NO_TABS,
            &DISCONNECTED
        ]
    );
}

/// Spec: dynamic-tools 4, 55, 92.
#[test]
fn compare_two_tabs() {
    let mut sim = Sim::launched();
    sim.open(A, true);
    sim.open(B, false);
    assert!(sim.list().iter().any(|tab| tab.focused && &*tab.url == A));
    let b = sim.tab(B);
    sim.focus(b);
    assert!(sim.list().iter().any(|tab| tab.focused && &*tab.url == B));
}

#[test]
fn an_unknown_session_has_no_tools() {
    let sim = Sim::disconnected();
    assert!(sim.tools_of(TWO).is_empty());
}
