//! Static mode: one list that never changes, and what is connected can be asked for.

use super::browser::FakeBrowser;
use super::sim::*;
use crate::Access::Act;
use crate::{BrowserRow, BrowserState, CallKind, Reply};

const A: &str = "https://a.test/";

fn status(connected: bool, active_sessions: usize, state: BrowserState) -> Reply {
    Reply::Status {
        connected,
        active_sessions,
        browsers: vec![BrowserRow {
            index: 1,
            name: (state == BrowserState::Connected).then(|| "Chrome".into()),
            state,
            label: "chrome".into(),
            error: (state == BrowserState::Disconnected).then(|| "it was closed".into()),
            is_default: false,
        }],
    }
}

/// C-16: whatever happens, the list stands and nobody is told otherwise.
#[test]
fn the_list_is_the_configured_one_in_every_state() {
    let mut sim = Sim::new(FakeBrowser::new());
    sim.open_session_as(ONE, fixed());
    let steps: [fn(&mut Sim); 6] = [
        |_| {},
        |sim| assert!(sim.click_of(ONE).0 > 0),
        |sim| drop(sim.call(new_page(A))),
        |sim| sim.user_opens("https://b.test/"),
        |sim| sim.crashes(A),
        Sim::user_quits,
    ];
    for step in steps {
        assert_eq!(sim.notices(step), 0);
        assert_eq!(sim.core.tools(ONE), STATIC_TOOLS);
    }
}

#[test]
fn list_pages_connects_and_says_which_page_is_selected() {
    let mut sim = Sim::new(FakeBrowser::running(&[A]));
    sim.open_session_as(ONE, fixed());
    let Reply::Pages { pages, selected } = sim.call(CallKind::ListPages) else {
        panic!("it lists");
    };
    assert_eq!((pages.len(), selected), (1, None));
    sim.call(select_page(pages[0].id));
    let Reply::Pages { pages, selected } = sim.call(CallKind::ListPages) else {
        panic!("it lists");
    };
    assert_eq!(selected, Some(pages[0].id));
    assert!(pages[0].focused);
}

#[test]
fn r002_25_28_43_the_status_is_true_at_every_moment() {
    // R002-25, R002-28, R002-43
    let mut sim = Sim::new(FakeBrowser::new());
    sim.open_session_as(ONE, fixed());
    let ask = |sim: &mut Sim| sim.call(CallKind::ConnectionStatus);
    assert_eq!(ask(&mut sim), status(false, 1, BrowserState::Pending));
    sim.ask(page(CLICK, Act));
    // R003-23
    assert_eq!(ask(&mut sim), status(false, 1, BrowserState::Connecting));
    sim.settle();
    assert_eq!(ask(&mut sim), status(true, 1, BrowserState::Connected));
    sim.open_session_as(TWO, fixed());
    assert_eq!(ask(&mut sim), status(true, 2, BrowserState::Connected));
    sim.user_quits();
    sim.close_session(TWO);
    assert_eq!(ask(&mut sim), status(false, 1, BrowserState::Disconnected));
    let connects = sim.connects();
    assert_eq!(connects, 1, "to ask changes nothing");
}

/// C-8: connected is a fact of the session, the browser's state one of the browser.
#[test]
fn r002_28_the_status_can_be_asked_for_in_progressive_mode() {
    let mut sim = Sim::attached(&[A]);
    sim.open_session(TWO, false);
    let reply = sim.call_of(TWO, CallKind::ConnectionStatus);
    assert_eq!(reply, status(false, 2, BrowserState::Connected));
    let reply = sim.call(CallKind::ConnectionStatus);
    assert_eq!(reply, status(true, 2, BrowserState::Connected));
    assert!(
        !sim.tools()
            .contains(&"browser_get_connection_status".to_owned())
    );
}
