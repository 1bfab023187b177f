//! The states and their exact lists: the seed's table, row by row.

use super::browser::FakeBrowser;
use super::sim::*;

const A: &str = "https://a.test/";
const B: &str = "https://b.test/";

const DISCONNECTED: [&str; 1] = ["connect_browser"];
const NO_TABS: [&str; 2] = ["list_tabs", "open_tab"];
const NO_FOCUS: [&str; 3] = ["list_tabs", "open_tab", "focus_tab"];
const FOCUSED: [&str; 4] = ["list_tabs", "open_tab", "focus_tab", "close_tab"];

#[test]
fn r004_5_15_90_disconnected_has_connect_browser_alone() {
    // R004-5, R004-15, R004-90
    let sim = Sim::disconnected();
    assert_eq!(sim.tools(), DISCONNECTED);
}

#[test]
fn r004_6_7_16_24_connecting_to_a_browser_without_tabs() {
    // R004-6, R004-7, R004-16, R004-24
    let mut sim = Sim::disconnected();
    let notices = sim.notices(|sim| {
        sim.call(connect(true));
    });
    assert_eq!(notices, 1);
    assert_eq!(sim.tools(), NO_TABS);
}

#[test]
fn r004_8_17_24_connecting_to_a_browser_with_tabs() {
    // R004-8, R004-17, R004-24
    let mut sim = Sim::new(FakeBrowser::running(&[A, B]));
    sim.open_session(ONE, false);
    let notices = sim.notices(|sim| {
        sim.call(connect(false));
    });
    assert_eq!(notices, 1);
    assert_eq!(sim.tools(), NO_FOCUS);
}

#[test]
fn r004_9_10_18_opening_with_focus_leads_to_tab_focused() {
    // R004-9, R004-10, R004-18
    let mut sim = Sim::launched();
    let notices = sim.notices(|sim| {
        sim.open(A, true);
    });
    assert_eq!(notices, 1);
    assert_eq!(sim.tools(), FOCUSED);
}

#[test]
fn r004_11_focusing_leads_to_tab_focused() {
    let mut sim = Sim::attached(&[A, B]);
    let tab = sim.tab(A);
    let notices = sim.notices(|sim| {
        sim.focus(tab);
    });
    assert_eq!(notices, 1);
    assert_eq!(sim.tools(), FOCUSED);
}

#[test]
fn r004_12_41_focusing_another_tab_is_announced_though_the_names_stay() {
    // R004-12, R004-41
    let mut sim = Sim::attached(&[A, B]);
    let (a, b) = (sim.tab(A), sim.tab(B));
    sim.focus(a);
    let notices = sim.notices(|sim| {
        sim.focus(b);
    });
    assert_eq!(notices, 1);
    assert_eq!(sim.tools(), FOCUSED);
}

#[test]
fn r004_13_45_closing_the_focused_tab_leaves_none_focused() {
    // R004-13, R004-45
    let mut sim = Sim::attached(&[A, B]);
    let tab = sim.tab(A);
    sim.focus(tab);
    let notices = sim.notices(|sim| {
        sim.call(close_focused());
    });
    assert_eq!(notices, 1);
    assert_eq!(sim.tools(), NO_FOCUS);
}

#[test]
fn r004_14_47_closing_the_last_tab_leaves_no_tabs() {
    // R004-14, R004-47
    let mut sim = Sim::attached(&[A]);
    let tab = sim.tab(A);
    sim.focus(tab);
    let notices = sim.notices(|sim| {
        sim.call(close_focused());
    });
    assert_eq!(notices, 1);
    assert_eq!(sim.tools(), NO_TABS);
}

#[test]
fn r004_1_58_91_94_the_list_is_a_function_of_the_state() {
    // R004-1, R004-58, R004-91, R004-94
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

#[test]
fn r004_4_55_92_compare_two_tabs() {
    // R004-4, R004-55, R004-92
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
