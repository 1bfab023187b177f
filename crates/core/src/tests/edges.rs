//! Actions of the user and the browser: the edge cases of `docs/specification/dynamic-tools.md`.

use super::browser::{FakeBrowser, facts};
use super::sim::*;
use crate::{BrowserId, CallKind, Fate, Input, LostTab, Output, Refusal, Reply, TabId, ToolName};

const A: &str = "https://a.test/";
const B: &str = "https://b.test/";

fn with_focus_on_a() -> Sim {
    let mut sim = Sim::attached(&[A, B]);
    let a = sim.tab(A);
    sim.focus(a);
    sim
}

/// Spec: dynamic-tools 83.
#[test]
fn the_user_closes_the_focused_tab() {
    let mut sim = with_focus_on_a();
    let notices = sim.notices(|sim| sim.user_closes(A));
    assert_eq!(notices, 1);
    assert_eq!(sim.tools(), ["list_tabs", "open_tab", "focus_tab"]);
    let Reply::Tabs { focused, tabs } = sim.call(CallKind::ListTabs) else {
        panic!("list_tabs lists");
    };
    assert_eq!((focused, tabs.len()), (None, 1));
}

/// Spec: dynamic-tools 83.
#[test]
fn a_call_for_a_lost_tab_says_what_happened_to_it() {
    let mut sim = with_focus_on_a();
    sim.user_closes(A);
    let lost = Some(LostTab {
        tab: TabId(1),
        fate: Fate::Closed,
    });
    let tool = ToolName::CLOSE_TAB;
    assert_eq!(
        sim.call(close_focused()),
        Reply::Refused(Refusal::NoFocus { tool, lost })
    );
    let b = sim.tab(B);
    sim.focus(b);
    sim.call(close_focused());
    sim.user_opens(A);
    assert_eq!(
        sim.call(close_focused()),
        Reply::Refused(Refusal::NoFocus { tool, lost: None }),
        "the loss is forgotten after the next focus"
    );
}

/// Spec: dynamic-tools 84.
#[test]
fn the_user_opens_a_tab() {
    let mut sim = with_focus_on_a();
    let notices = sim.notices(|sim| sim.user_opens("https://c.test/"));
    assert_eq!(notices, 0);
    assert_eq!(sim.list().len(), 3);
}

/// 0 → 1 tab changes the list.
/// Spec: dynamic-tools 84, 94; decisions 11.
#[test]
fn the_users_first_tab_brings_focus_tab() {
    let mut sim = Sim::launched();
    let notices = sim.notices(|sim| sim.user_opens(A));
    assert_eq!(notices, 1);
    assert_eq!(sim.tools(), ["list_tabs", "open_tab", "focus_tab"]);
}

/// Spec: dynamic-tools 86.
#[test]
fn a_navigation_that_changes_no_tools_is_not_announced() {
    let mut sim = with_focus_on_a();
    let notices = sim.notices(|sim| sim.user_navigates(A, "https://c.test/"));
    assert_eq!(notices, 0);
    assert!(sim.list()[0].focused);
}

/// Spec: dynamic-tools 87.
#[test]
fn the_focused_tab_crashes() {
    let mut sim = with_focus_on_a();
    let notices = sim.notices(|sim| sim.crashes(A));
    assert_eq!(notices, 1);
    assert_eq!(sim.list().len(), 1);
    let reply = sim.call(close_focused());
    let Reply::Refused(Refusal::NoFocus { lost, .. }) = reply else {
        panic!("none is focused");
    };
    assert!(lost.is_some_and(|lost| lost.fate == Fate::Crashed));
}

/// Spec: dynamic-tools 87.
#[test]
fn another_tab_crashes() {
    let mut sim = with_focus_on_a();
    let notices = sim.notices(|sim| sim.crashes(B));
    assert_eq!(notices, 0);
    assert_eq!(sim.list().len(), 1);
}

/// Spec: dynamic-tools 94.
#[test]
fn the_user_closes_the_last_tab() {
    let mut sim = Sim::attached(&[A]);
    let notices = sim.notices(|sim| sim.user_closes(A));
    assert_eq!(notices, 1);
    assert_eq!(sim.tools(), ["list_tabs", "open_tab"]);
}

/// Spec: dynamic-tools 101.
#[test]
fn a_browser_that_goes_away_disconnects() {
    let mut sim = with_focus_on_a();
    let notices = sim.notices(Sim::user_quits);
    assert_eq!(notices, 1);
    assert_eq!(sim.tools(), ["connect_browser"]);
    let notices = sim.notices(|sim| {
        sim.call(connect(true));
    });
    assert_eq!(notices, 1);
    assert!(sim.list().is_empty());
}

#[test]
fn calls_on_a_browser_that_goes_away_are_answered() {
    let mut sim = with_focus_on_a();
    sim.browser.hangs = true;
    let calls = [
        sim.ask(open_tab("https://c.test/", true)),
        sim.ask(focus_tab(TabId(2))),
        sim.ask(close_focused()),
    ];
    sim.user_quits();
    for call in calls {
        assert!(matches!(
            sim.reply(call),
            Some(Reply::Refused(Refusal::BrowserLost { .. }))
        ));
        assert!(sim.outputs.contains(&Output::Abort { call }));
    }
    assert_eq!(sim.tools(), ["connect_browser"]);
}

#[test]
fn an_unused_blank_tab_is_shown_once_it_is_used() {
    let mut sim = Sim::launched();
    sim.user_navigates("about:blank", "about:blank");
    assert!(
        sim.list().is_empty(),
        "a change that leaves it blank does not show it"
    );
    let notices = sim.notices(|sim| sim.user_navigates("about:blank", A));
    assert_eq!(notices, 1);
    assert_eq!(sim.list().len(), 1);
    sim.user_navigates(A, "about:blank");
    assert_eq!(sim.list().len(), 1, "it stays");
}

#[test]
fn a_blank_tab_of_the_users_own_browser_is_shown() {
    let mut sim = Sim::attached(&["about:blank"]);
    assert_eq!(sim.list().len(), 1);
}

#[test]
fn a_popup_is_listed_and_not_focused() {
    let mut sim = with_focus_on_a();
    let notices = sim.notices(|sim| sim.page_opens(A, "about:blank"));
    assert_eq!(notices, 0);
    let tabs = sim.list();
    assert_eq!((tabs.len(), tabs[2].focused), (3, false));
    assert!(sim.browser.holds("about:blank"));
}

#[test]
fn inputs_about_unknown_things_are_ignored() {
    let mut sim = with_focus_on_a();
    let before = (sim.outputs.len(), sim.tools());
    let nowhere = BrowserId(77);
    let browser = sim.browser.id.unwrap();
    let tab = facts("T77", B);
    let target = tab.target.clone();
    let about = crate::BrowserFacts {
        name: "x".into(),
        version: "1".into(),
        launched: true,
    };
    let inputs = [
        Input::SessionClosed { session: TWO },
        Input::Connected {
            replaces: false,
            browser: nowhere,
            about: about.clone(),
            tabs: vec![],
            front: None,
        },
        Input::Connected {
            replaces: false,
            browser,
            about,
            tabs: vec![tab.clone()],
            front: None,
        },
        Input::ConnectFailed {
            browser,
            failure: crate::ConnectFailure::NotFound,
        },
        Input::BrowserGone {
            browser: nowhere,
            reason: String::new(),
        },
        Input::TabAppeared {
            browser: nowhere,
            tab: tab.clone(),
            origin: crate::TabOpener::Browser,
        },
        Input::TabChanged { browser, tab },
        Input::TabGone {
            browser,
            target,
            crashed: true,
        },
        Input::Finished {
            call: crate::CallId(77),
            outcome: crate::Finish::Done,
        },
        Input::SessionOpened {
            session: ONE,
            config: crate::SessionConfig::new(crate::BrowserKey("another".into())),
        },
    ];
    for input in inputs {
        sim.happen(input);
    }
    assert_eq!((sim.outputs.len(), sim.tools()), before);
    sim.run_out();
}

#[test]
fn a_tab_reported_twice_is_one_tab() {
    let mut sim = with_focus_on_a();
    let browser = sim.browser.id.unwrap();
    let tab = facts(&sim.browser.at(A).0, "https://c.test/");
    sim.happen(Input::TabAppeared {
        browser,
        tab,
        origin: crate::TabOpener::Browser,
    });
    let tabs = sim.list();
    assert_eq!((tabs.len(), &*tabs[0].url), (2, "https://c.test/"));
}

#[test]
fn a_browser_that_no_session_uses_is_forgotten_unless_it_is_connected() {
    let connected_to = |sim: &mut Sim| {
        sim.open_session(ONE, false);
        sim.call(connect(true));
        sim.browser.id
    };
    let mut sim = Sim::disconnected();
    sim.close_session(ONE);
    assert_eq!(connected_to(&mut sim), Some(BrowserId(2)));
    sim.close_session(ONE);
    assert_eq!(connected_to(&mut sim), Some(BrowserId(2)), "it is there");
    sim.close_session(ONE);
    sim.user_quits();
    assert_eq!(connected_to(&mut sim), Some(BrowserId(3)));
}

#[test]
fn a_closed_session_leaves_nothing_behind() {
    let mut sim = Sim::new(FakeBrowser::running(&[A]));
    sim.open_session(ONE, true);
    sim.call(connect(false));
    let a = sim.tab(A);
    sim.focus(a);
    sim.browser.hangs = true;
    let running = sim.ask(page(CLICK, crate::Access::Act));
    let waiting = sim.ask(page(CLICK, crate::Access::Act));
    let opening = sim.ask(open_tab(B, true));
    sim.settle();
    sim.close_session(ONE);
    for call in [running, waiting, opening] {
        assert_eq!(sim.reply(call), Some(Reply::Cancelled));
    }
    assert!(!sim.browser.holds(A));
    sim.settle();
    assert!(!sim.browser.shows(B));
    assert_eq!(sim.core.poll_timeout(), None);
}
