//! Static mode: a lost bound tab is one clear error, and then the session gets a new tab.

use super::sim::*;
use crate::Access::Act;
use crate::{Fate, LostTab, Refusal, Reply, TabId};

const A: &str = "https://a.test/";
const B: &str = "https://b.test/";

fn lost(tab: TabId, fate: Fate) -> Reply {
    let lost = LostTab { tab, fate };
    Reply::Refused(Refusal::BindingLost { tool: CLICK, lost })
}

/// Spec: multi-client 36, 37.
#[test]
fn a_lost_tab_is_one_error_and_then_a_new_tab() {
    for fate in [Fate::Closed, Fate::Crashed] {
        let mut sim = Sim::with_fixed_list(&[A, B]);
        let a = sim.page_at(A);
        sim.call(select_page(a));
        match fate {
            Fate::Crashed => sim.crashes(A),
            _ => sim.user_closes(A),
        }
        assert_eq!(
            sim.pages_of(ONE).len(),
            1,
            "a list is no answer to the loss"
        );
        assert_eq!(sim.call(page(CLICK, Act)), lost(a, fate));
        let tab = sim.click_of(ONE);
        assert!(tab != a && sim.core.bound_tab(ONE) == Some(tab));
    }
}

#[test]
fn a_session_that_chooses_another_tab_gets_no_error_for_the_lost_one() {
    let mut sim = Sim::with_fixed_list(&[A, B]);
    let (a, b) = (sim.page_at(A), sim.page_at(B));
    sim.call(select_page(a));
    sim.user_closes(A);
    sim.call(click_in(b));
    assert_eq!(sim.click_of(ONE), b);
}

#[test]
fn a_loss_that_a_running_call_reported_is_not_reported_again() {
    let mut sim = Sim::with_fixed_list(&[A, B]);
    let a = sim.page_at(A);
    sim.call(select_page(a));
    sim.browser.hangs = true;
    let calls = [Act, Act].map(|access| sim.ask(page(CLICK, access)));
    sim.user_closes(A);
    for call in calls {
        let reply = sim.reply(call);
        assert!(matches!(
            reply,
            Some(Reply::Refused(Refusal::TabLost { .. }))
        ));
    }
    sim.browser.hangs = false;
    assert_ne!(sim.click_of(ONE), a);
}

#[test]
fn a_session_that_closes_its_own_tab_knows_it() {
    let mut sim = Sim::with_fixed_list(&[A, B]);
    let a = sim.page_at(A);
    sim.call(select_page(a));
    assert_eq!(sim.call(close_page(a)), closed(a));
    assert_ne!(sim.click_of(ONE), a);
}

/// Spec: multi-client 36, 37.
#[test]
fn a_browser_that_goes_away_is_one_error_and_then_a_new_one() {
    let mut sim = Sim::with_fixed_list(&[A]);
    let tab = sim.click_of(ONE);
    sim.user_quits();
    assert_eq!(sim.call(page(CLICK, Act)), lost(tab, Fate::BrowserGone));
    assert_eq!(sim.connects(), 1, "the error does not reconnect");
    sim.click_of(ONE);
    assert_eq!(sim.connects(), 2);
}

#[test]
fn calls_on_a_browser_that_goes_away_are_answered_and_the_next_one_starts_over() {
    let mut sim = Sim::with_fixed_list(&[A]);
    sim.pages_of(ONE);
    sim.browser.hangs = true;
    let calls = [page(CLICK, Act), page(CLICK, Act), new_page(B)].map(|kind| sim.ask(kind));
    let before = sim.opens();
    sim.user_quits();
    for call in calls {
        let Some(Reply::Refused(refusal)) = sim.reply(call) else {
            panic!("its browser is gone");
        };
        assert!(matches!(refusal, Refusal::BrowserLost { .. }));
    }
    assert_eq!(sim.opens(), before, "no tab is opened without a browser");
    sim.browser.hangs = false;
    sim.click_of(ONE);
}
