//! The connection to a browser is lost for a moment, and its tabs keep their sessions and numbers.

use super::browser::FakeBrowser;
use super::pages::{Pages, url};
use super::sim::*;
use crate::{Access, CallKind, Fate, Input, LostTab, Output, Refusal, Reply, TabId};
use std::time::Duration;

const A: &str = "https://a.test/";
const B: &str = "https://b.test/";

impl Sim {
    fn connection_ends(&mut self) {
        let browser = self.browser.id.expect("it is connected");
        self.browser.cut_off();
        let reason = "its worker was ended".to_owned();
        self.happen(Input::ConnectionLost { browser, reason });
    }

    fn comes_back(&mut self) {
        let browser = self.browser.id.expect("it was connected");
        self.happen(Input::Reachable { browser });
        self.settle();
    }
}

#[test]
fn a_session_continues_in_its_tab_and_closes_it_in_the_end() {
    let mut sim = Sim::with_fixed_list(&[A, B]);
    let theirs = sim.page_at(A);
    sim.call(click_in(theirs));
    let own = match sim.call(new_page("https://n.test/")) {
        Reply::Opened { tab, .. } => tab.id,
        other => panic!("{other:?}"),
    };
    sim.connection_ends();
    sim.comes_back();
    assert_eq!(sim.connects(), 2, "it reconnects without a call");
    assert_eq!(sim.click_of(ONE), own);
    assert_eq!(sim.page_at(A), theirs, "numbers stay");
    sim.close_session(ONE);
    sim.settle();
    assert!(sim.browser.shows(A) && !sim.browser.shows("https://n.test/"));
}

#[test]
fn a_running_call_fails_and_the_next_one_continues() {
    let mut sim = Sim::with_fixed_list(&[A, B]);
    let own = sim.click_of(ONE);
    let running = sim.ask(page(CLICK, Access::Act));
    sim.connection_ends();
    assert!(matches!(sim.reply(running), Some(Reply::Refused(_))));
    assert_eq!(sim.click_of(ONE), own);
}

#[test]
fn a_progressive_session_continues_in_its_tab_with_or_without_a_call() {
    for comes_back in [true, false] {
        let mut sim = Sim::new(FakeBrowser::running(&[A, B]));
        sim.open_session(ONE, true);
        sim.call(connect(false));
        let tab = sim.tab(A);
        sim.focus(tab);
        let before = sim.tools();
        let mut running = None;
        let notices = sim.notices(|sim| {
            running = Some(sim.ask(page(CLICK, Access::Act)));
            sim.connection_ends();
        });
        assert_eq!(notices, 0, "its list is the same");
        let told = match running.and_then(|call| sim.reply(call)) {
            Some(Reply::Refused(refusal)) => refusal.to_string(),
            other => panic!("{other:?}"),
        };
        assert!(told.ends_with("Call click to connect again."), "{told}");
        assert_eq!(sim.tools(), before);
        if comes_back {
            sim.comes_back();
        }
        assert_eq!(sim.click_of(ONE), tab);
        assert_eq!((sim.connects(), sim.tools()), (2, before));
    }
}

#[test]
fn a_progressive_session_is_disconnected_if_its_browser_does_not_come_back() {
    let mut sim = Sim::new(FakeBrowser::running(&[A, B]));
    sim.open_session(ONE, true);
    sim.call(connect(false));
    let tab = sim.tab(A);
    sim.focus(tab);
    sim.connection_ends();
    let notices = sim.notices(|sim| sim.pass(Duration::from_secs(5)));
    assert_eq!(notices, 1);
    assert_eq!(sim.tools(), ["connect_browser"]);
    let refused = Refusal::NotConnected { tool: CLICK };
    assert_eq!(sim.call(page(CLICK, Access::Act)), Reply::Refused(refused));
    assert_eq!(
        sim.notices(Sim::comes_back),
        0,
        "it has to call connect_browser"
    );
    assert_eq!(sim.tools(), ["connect_browser"]);
    sim.call(connect(false));
    assert_eq!(sim.click_of(ONE), tab, "it works in the same tab");
}

#[test]
fn a_browser_without_tabs_of_sessions_is_not_reconnected() {
    let mut sim = Sim::new(FakeBrowser::running(&[A]));
    sim.open_session_as(ONE, fixed());
    sim.pages_of(ONE);
    sim.connection_ends();
    sim.comes_back();
    assert_eq!(sim.connects(), 1);
}

#[test]
fn a_tab_that_did_not_come_back_is_reported_once_and_replaced() {
    let mut sim = Sim::with_fixed_list(&[A, B]);
    let tab = sim.page_at(A);
    sim.call(click_in(tab));
    sim.connection_ends();
    sim.browser.remove(&sim.browser.at(A));
    sim.comes_back();
    let reply = sim.call(page(CLICK, Access::Act));
    let Reply::Refused(refusal) = reply else {
        panic!("{reply:?}");
    };
    let text = refusal.to_string();
    assert!(text.contains(&format!("tab {tab} was closed")), "{text}");
    assert_ne!(sim.click_of(ONE), tab);
    let discarded = |output: &&Output| matches!(output, Output::Discard { .. });
    assert_eq!(sim.outputs.iter().filter(discarded).count(), 0);
}

fn lost(tab: TabId) -> Reply {
    let fate = Fate::Closed;
    let lost = LostTab { tab, fate };
    Reply::Refused(Refusal::BindingLost { tool: CLICK, lost })
}

#[test]
fn a_tab_that_was_closed_before_is_still_reported() {
    let mut sim = Sim::with_fixed_list(&[A, B]);
    let tab = sim.page_at(A);
    sim.call(click_in(tab));
    sim.user_closes(A);
    sim.connection_ends();
    sim.comes_back();
    assert_eq!(sim.call(page(CLICK, Access::Act)), lost(tab));
    assert_ne!(sim.click_of(ONE), tab);
}

#[test]
fn a_tab_that_was_closed_before_is_reported_even_after_a_call_reported_the_lost_browser() {
    let mut sim = Sim::with_fixed_list(&[A, B]);
    let tab = sim.page_at(A);
    sim.call(click_in(tab));
    sim.user_closes(A);
    let listing = sim.ask(CallKind::ListPages);
    sim.connection_ends();
    assert!(matches!(sim.reply(listing), Some(Reply::Refused(_))));
    sim.comes_back();
    assert_eq!(sim.call(page(CLICK, Access::Act)), lost(tab));
}

/// A session that works in a tab with the page library, and the tab's number.
fn in_a_page() -> (Pages, TabId) {
    let mut pages = Pages::new();
    pages.open_in_browser_with("A", "x");
    let number = pages.number("A");
    pages.sim.call(click_in(number));
    (pages, number)
}

/// How often the page is listed.
fn rows(pages: &mut Pages) -> usize {
    let rows = pages.sim.pages_of(ONE);
    rows.iter().filter(|row| *row.url == *url("A")).count()
}

#[test]
fn a_tab_with_the_page_library_keeps_its_number_and_is_one_tab() {
    let (mut pages, number) = in_a_page();
    pages.sim.connection_ends();
    pages.sim.comes_back();
    assert_eq!(rows(&mut pages), 1);
    assert_eq!(pages.sim.click_of(ONE), number);
    let named = number.to_string();
    for _ in 0..2 {
        assert_eq!(pages.number("A"), number);
        let reply = pages.call("x", Some(&named));
        assert!(
            matches!(reply, Reply::Done { tab, .. } if tab == number),
            "{reply:?}"
        );
        // Still once when the page is found in its tab again.
        pages.join("A");
    }
    assert_eq!(rows(&mut pages), 1);
    pages.sim.user_closes(&url("A"));
    assert_eq!(pages.listed(ONE), [""; 0]);
}

#[test]
fn a_tab_keeps_its_number_if_its_library_disconnects_or_reconnects_meanwhile() {
    for is_opened_again in [false, true] {
        let (mut pages, number) = in_a_page();
        pages.sim.connection_ends();
        pages.close("A");
        if is_opened_again {
            pages.open_with("A", "x");
        }
        pages.sim.comes_back();
        assert_eq!(pages.number("A"), number);
        if is_opened_again {
            pages.join("A");
            let reply = pages.call("x", Some("A"));
            assert!(
                matches!(reply, Reply::Done { tab, .. } if tab == number),
                "{reply:?}"
            );
        }
        assert_eq!(rows(&mut pages), 1);
        assert_eq!(pages.sim.click_of(ONE), number);
    }
}

#[test]
fn a_tab_with_the_page_library_that_did_not_come_back_is_reported() {
    let (mut pages, number) = in_a_page();
    pages.sim.connection_ends();
    pages.sim.browser.remove(&pages.sim.browser.at(&url("A")));
    pages.close("A");
    pages.sim.comes_back();
    assert_eq!(pages.sim.call(page(CLICK, Access::Act)), lost(number));
}
