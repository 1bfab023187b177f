//! Static mode: a fixed list, and the connection status.

use super::browser::FakeBrowser;
use super::sim::*;
use crate::Access::Act;
use crate::{BrowserRow, BrowserState, CallKind, Refusal, Reply, SessionConfig, ToolName};

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

/// Whatever happens, the list stays the same and no notice is sent.
/// Spec: decisions 16.
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

/// Spec: multi-client 25, 28, 43.
#[test]
fn the_status_is_correct_at_every_moment() {
    let mut sim = Sim::new(FakeBrowser::new());
    sim.open_session_as(ONE, fixed());
    let ask = |sim: &mut Sim| sim.call(CallKind::ConnectionStatus);
    assert_eq!(ask(&mut sim), status(false, 1, BrowserState::Pending));
    sim.ask(page(CLICK, Act));
    // Spec: multi-browser 23.
    assert_eq!(ask(&mut sim), status(false, 1, BrowserState::Connecting));
    sim.settle();
    assert_eq!(ask(&mut sim), status(true, 1, BrowserState::Connected));
    sim.open_session_as(TWO, fixed());
    assert_eq!(ask(&mut sim), status(true, 2, BrowserState::Connected));
    sim.user_quits();
    sim.close_session(TWO);
    assert_eq!(ask(&mut sim), status(false, 1, BrowserState::Disconnected));
    let connects = sim.connects();
    assert_eq!(connects, 1, "asking for the status does not connect");
}

/// `connected` is about the session; the browser's state is independent of it.
/// Spec: multi-client 28; decisions 8.
#[test]
fn the_status_is_available_in_progressive_mode() {
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

#[test]
fn a_session_with_a_few_tools_has_no_others() {
    let mut sim = Sim::with_fixed_list(&[A]);
    sim.open_session_as(
        TWO,
        SessionConfig {
            only: Some(vec![CLICK]),
            ..with_own_numbers()
        },
    );
    assert_eq!(sim.tools_of(TWO), ["click"]);
    sim.click_of(TWO);
    for kind in [
        CallKind::ListPages,
        CallKind::ListBrowsers,
        CallKind::ConnectionStatus,
        page(SNAPSHOT, Act),
    ] {
        let reply = sim.call_of(TWO, kind);
        let is_refused = matches!(reply, Reply::Refused(Refusal::NotOffered { .. }));
        assert!(is_refused, "{reply:?}");
    }
    assert!(sim.core.can_call(TWO, CLICK) && !sim.core.can_call(TWO, SNAPSHOT));
    assert!(!sim.core.can_call(TWO, ToolName::CALL_PAGE_TOOL));
    assert!(sim.core.can_call(ONE, SNAPSHOT));
}

#[test]
fn what_a_session_can_call_depends_on_its_mode_and_what_is_withheld() {
    let mut sim = Sim::with_fixed_list(&[A]);
    sim.open_session_as(TWO, progressive());
    let withheld = SessionConfig {
        withheld: vec![ToolName::LIST_PAGES, CLICK],
        ..fixed()
    };
    let three = crate::SessionId(3);
    sim.open_session_as(three, withheld);
    for (tool, [one, two, third]) in [
        (ToolName::LIST_PAGES, [true, false, false]),
        (ToolName::LIST_TABS, [false, true, false]),
        (ToolName::SELECT_DEFAULT_BROWSER, [false; 3]),
        (ToolName::LIST_PAGE_TOOLS, [true; 3]),
        (CLICK, [true, true, false]),
        (ToolName::new("a_pages_own"), [true; 3]),
    ] {
        let can = [ONE, TWO, three].map(|session| sim.core.can_call(session, tool));
        assert_eq!(can, [one, two, third], "{tool}");
    }
    assert!(!sim.core.can_call(crate::SessionId(9), CLICK));
}
