//! The person at the browser pauses agents, takes tabs back and gives tabs to agents.

use super::browser::FakeBrowser;
use super::sim::*;
use crate::{Access, CallKind, Input, Output, Reply, TabId, TargetId};

const A: &str = "https://a.test/";
const B: &str = "https://b.test/";

/// Two agents with fixed lists, in a person's browser.
fn scene() -> Sim {
    let mut sim = Sim::new(FakeBrowser::running(&[A, B]));
    sim.open_session_as(ONE, fixed());
    sim.open_session_as(TWO, fixed());
    sim
}

impl Sim {
    fn refused(&mut self, kind: CallKind) -> String {
        match self.call(kind) {
            Reply::Refused(refusal) => refusal.to_string(),
            other => panic!("answered {other:?}"),
        }
    }

    fn takes_back(&mut self, target: TargetId) {
        let browser = self.browser.id.expect("it is connected");
        self.happen(Input::TakenBack { browser, target });
    }

    fn gives(&mut self, session: crate::SessionId, url: &str) {
        let browser = self.browser.id.unwrap_or(crate::BrowserId(1));
        let target = self.browser.at(url);
        self.happen(Input::Given {
            session,
            browser,
            target,
        });
    }

    fn releases(&self) -> usize {
        let is_release = |output: &&Output| matches!(output, Output::Release { .. });
        self.outputs.iter().filter(is_release).count()
    }
}

#[test]
fn while_agents_are_paused_their_calls_are_refused_and_those_at_work_end() {
    let mut sim = scene();
    let mine = sim.click_of(ONE);
    sim.click_of(TWO);
    let running = sim.ask(page(CLICK, Access::Act));
    let waiting = sim.ask(page(CLICK, Access::Act));
    sim.happen(Input::Paused);
    for (call, how) in [
        (running, "stopped before it was done"),
        (waiting, "not carried out"),
    ] {
        let Some(Reply::Refused(refusal)) = sim.reply(call) else {
            panic!("{:?}", sim.reply(call));
        };
        let text = refusal.to_string();
        assert!(
            text.starts_with("The person paused all agents") && text.contains(how),
            "{text}"
        );
    }
    for kind in [
        page(CLICK, Access::Act),
        CallKind::ListPages,
        new_page(B),
        click_in(mine),
    ] {
        let text = sim.refused(kind);
        assert!(text.starts_with("The person paused"), "{text}");
    }
    assert!(matches!(
        sim.call(CallKind::ConnectionStatus),
        Reply::Status { .. }
    ));
    sim.happen(Input::Resumed);
    assert_eq!(sim.click_of(ONE), mine, "nothing else has changed");
    sim.click_of(TWO);
}

#[test]
fn a_tab_that_was_taken_back_is_reported_once_and_used_again_only_if_named() {
    let mut sim = scene();
    let theirs = sim.page_at(A);
    sim.call(click_in(theirs));
    let target = sim.browser.at(A);
    sim.takes_back(target);
    assert_eq!(sim.releases(), 1);
    let text = sim.refused(page(CLICK, Access::Act));
    assert!(
        text.contains(&format!("tab {theirs} was taken back by the person")),
        "{text}"
    );
    let other = sim.click_of(ONE);
    assert_ne!(other, theirs, "it works in a tab of its own");
    assert!(
        sim.pages_of(TWO).iter().any(|page| page.id == theirs),
        "it is free"
    );
    assert!(matches!(
        sim.call(click_in(theirs)),
        Reply::Done { tab, .. } if tab == theirs
    ));
}

#[test]
fn a_call_in_a_tab_that_is_taken_back_ends_and_its_session_knows() {
    let mut sim = scene();
    let tab = sim.click_of(ONE);
    let running = sim.ask(page(CLICK, Access::Act));
    let target = sim.outputs.iter().rev().find_map(|output| match output {
        Output::Run { target, .. } => Some(target.clone()),
        _ => None,
    });
    sim.takes_back(target.expect("it runs"));
    let Some(Reply::Refused(refusal)) = sim.reply(running) else {
        panic!("{:?}", sim.reply(running));
    };
    assert!(refusal.to_string().contains("was taken back by the person"));
    assert_ne!(sim.click_of(ONE), tab);
    // A tab that was taken back is not closed with the session that opened it.
    let discards = sim.discards();
    sim.close_session(ONE);
    assert_eq!(sim.discards(), discards + 1);
}

#[test]
fn a_progressive_session_has_to_focus_again() {
    let mut sim = Sim::attached(&[A, B]);
    let tab = sim.tab(A);
    sim.focus(tab);
    let target = sim.browser.at(A);
    assert_eq!(sim.notices(|sim| sim.takes_back(target)), 1);
    assert!(!sim.tools().contains(&"close_tab".to_owned()));
    let text = sim.refused(close_focused());
    assert!(text.contains("taken back by the person"), "{text}");
}

#[test]
fn the_next_call_goes_to_a_given_tab_after_it_was_reported() {
    let mut sim = scene();
    let own = sim.click_of(ONE);
    let given = sim.page_at(A);
    sim.gives(ONE, A);
    let text = sim.refused(page(CLICK, Access::Act));
    assert!(
        text.contains(&format!("the person gave this session tab {given}")),
        "{text}"
    );
    assert_eq!(sim.click_of(ONE), given);
    assert_ne!(own, given);
    // It still belongs to the person: it is not closed with the session.
    sim.close_session(ONE);
    sim.settle();
    assert!(sim.browser.shows(A));
}

#[test]
fn what_is_given_to_one_is_taken_from_the_other() {
    let mut sim = scene();
    let tab = sim.page_at(A);
    sim.call(click_in(tab));
    sim.call_of(TWO, CallKind::ListPages);
    sim.gives(TWO, A);
    let text = sim.refused(page(CLICK, Access::Act));
    assert!(text.contains("was taken back by the person"), "{text}");
    sim.call_of(TWO, page(CLICK, Access::Act));
    assert_eq!(sim.click_of(TWO), tab);
    assert_ne!(sim.click_of(ONE), tab);
}

#[test]
fn a_session_that_has_not_begun_begins_in_the_tab_that_it_is_given() {
    let mut sim = scene();
    sim.gives(ONE, B);
    let tab = sim.click_of(ONE);
    assert_eq!(sim.page_at(B), tab);
    assert_eq!(sim.opens(), 0);
}

#[test]
fn what_is_not_there_can_be_neither_taken_nor_given() {
    let mut sim = scene();
    let tab = sim.click_of(ONE);
    sim.takes_back(TargetId("nowhere".into()));
    let browser = sim.browser.id.expect("it is connected");
    for session in [ONE, crate::SessionId(9)] {
        sim.happen(Input::Given {
            session,
            browser,
            target: TargetId("nowhere".into()),
        });
    }
    sim.happen(Input::Given {
        session: ONE,
        browser: crate::BrowserId(9),
        target: sim.browser.at(A),
    });
    assert_eq!(sim.click_of(ONE), tab);
    assert!(tab > TabId(0));
}

#[test]
fn tabs_are_used_while_somebody_holds_them_or_a_call_is_about_them() {
    let mut sim = scene();
    let tab = sim.page_at(A);
    let browser = sim.browser.id.expect("it is connected");
    assert_eq!(sim.core.used_tabs(browser).count(), 0);
    let focusing = sim.ask(select_page(tab));
    assert_eq!(sim.core.used_tabs(browser).count(), 1, "before it is bound");
    sim.finish(focusing);
    assert_eq!(sim.core.used_tabs(browser).count(), 1, "while it is bound");
    sim.close_session(ONE);
    assert_eq!(sim.core.used_tabs(browser).count(), 0);
}

#[test]
fn an_agent_that_follows_uses_the_tab_in_front_until_it_stops_following() {
    let mut sim = scene();
    let own = sim.click_of(ONE);
    let browser = sim.browser.id.expect("it is connected");
    let [a, b] = [A, B].map(|url| sim.page_at(url));
    let turn = |sim: &mut Sim, url: &str| {
        let target = sim.browser.at(url);
        let tab = crate::TabLocation::Browser { browser, target };
        sim.happen(Input::TabActivated { tab });
    };
    turn(&mut sim, A);
    let session = ONE;
    for follows in [true, true] {
        sim.happen(Input::FollowChanged { session, follows });
    }
    // Its agent did not ask for it, so the next call reports it first.
    let text = sim.refused(page(CLICK, Access::Act));
    assert!(text.contains(&format!("tab {a}")), "{text}");
    assert_eq!(sim.click_of(ONE), a);
    turn(&mut sim, B);
    assert_eq!(sim.click_of(ONE), b);
    let follows = false;
    sim.happen(Input::FollowChanged { session, follows });
    turn(&mut sim, A);
    assert_eq!(sim.click_of(ONE), b);
    assert!(sim.pages_of(ONE).iter().any(|page| page.id == own));
    let session = crate::SessionId(9);
    sim.happen(Input::FollowChanged { session, follows });
}
