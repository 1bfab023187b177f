//! `list_tabs`: what it shows, and that it changes nothing.

use super::sim::*;
use crate::{CallKind, Reply, TabId, TabRow};

const A: &str = "https://a.test/";
const B: &str = "https://b.test/";

/// Spec: dynamic-tools 28, 30.
#[test]
fn rows_have_id_title_url_focused_and_tool_count() {
    let mut sim = Sim::attached(&[A, B]);
    let b = sim.tab(B);
    sim.focus(b);
    let row = |id, url: &str, focused| TabRow {
        id: TabId(id),
        title: format!("Title of {url}").into(),
        url: url.into(),
        focused,
        shared: false,
        tool_count: 0,
    };
    assert_eq!(
        sim.call(CallKind::ListTabs),
        Reply::Tabs {
            tabs: vec![row(1, A, false), row(2, B, true)],
            focused: Some(TabId(2)),
        }
    );
}

/// Spec: dynamic-tools 31.
#[test]
fn focused_is_none_if_no_tab_is_focused() {
    let mut sim = Sim::attached(&[A]);
    let Reply::Tabs { focused, .. } = sim.call(CallKind::ListTabs) else {
        panic!("list_tabs lists");
    };
    assert_eq!(focused, None);
}

/// Spec: dynamic-tools 25, 27.
#[test]
fn listing_changes_no_list_in_any_connected_state() {
    let mut sim = Sim::launched();
    for step in 0..3 {
        let before = sim.tools();
        let notices = sim.notices(|sim| {
            sim.list();
        });
        assert_eq!((sim.tools(), notices), (before, 0), "step {step}");
        sim.open(&format!("https://{step}.test/"), step == 1);
    }
}

/// Spec: dynamic-tools 57, 101.
#[test]
fn title_and_address_follow_the_page() {
    let mut sim = Sim::attached(&[A]);
    sim.user_navigates(A, B);
    let tabs = sim.list();
    assert_eq!(&*tabs[0].url, B);
    assert_eq!(&*tabs[0].title, "Title of https://b.test/");
}

#[test]
fn numbers_begin_at_one_and_are_never_used_again() {
    let mut sim = Sim::attached(&[A]);
    assert_eq!(sim.tab(A), TabId(1));
    sim.user_closes(A);
    sim.user_opens(B);
    assert_eq!(sim.tab(B), TabId(2));
    sim.user_quits();
    sim.call(connect(true));
    assert!(sim.open(A, false).id > TabId(2));
}
