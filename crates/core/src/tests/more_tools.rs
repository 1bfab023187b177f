//! `more_tools`, and page actions that are not listed.

use super::browser::FakeBrowser;
use super::sim::*;
use crate::Access::Act;
use crate::{CallKind, Config, Mode, Refusal, Reply, SessionConfig, ToolName};

const A: &str = "https://a.test/";
const DRAG: ToolName = ToolName::new("drag");
const UPLOAD: ToolName = ToolName::new("upload_file");
const USUAL: [&str; 3] = ["click", "handle_dialog", "take_snapshot"];

fn more_tools() -> CallKind {
    let category = "input".into();
    let tools = vec![CLICK, DRAG, UPLOAD];
    CallKind::MoreTools { category, tools }
}

fn added(tools: &[ToolName]) -> Reply {
    let category = "input".into();
    let tools = tools.to_vec();
    Reply::Added { category, tools }
}

/// One session, and a browser that shows one page. There are two more page actions than the usual ones.
fn sim(config: SessionConfig) -> Sim {
    let more = Config {
        tab_tools: vec![UPLOAD, DRAG],
        ..Config::default()
    };
    let mut sim = Sim::with_config(FakeBrowser::running(&[A]), more);
    sim.open_session_as(ONE, config);
    sim
}

/// The same, with the page focused.
fn focused(config: SessionConfig) -> Sim {
    let mut sim = sim(config);
    sim.call(connect(false));
    let tab = sim.tab(A);
    sim.focus(tab);
    sim
}

/// The tools after the core tools in the list.
fn actions(sim: &Sim) -> Vec<String> {
    sim.tools().split_off(4)
}

#[test]
fn more_tools_adds_a_category_to_the_list() {
    let mut sim = focused(progressive());
    assert_eq!(
        actions(&sim),
        ["click", "handle_dialog", "more_tools", "take_snapshot"]
    );
    let notices = sim.notices(|sim| {
        assert_eq!(sim.call(more_tools()), added(&[CLICK, DRAG, UPLOAD]));
    });
    assert_eq!(notices, 1);
    let all = [
        "click",
        "drag",
        "handle_dialog",
        "take_snapshot",
        "upload_file",
    ];
    assert_eq!(actions(&sim), all, "and nothing is left to add");
    let notices = sim.notices(|sim| drop(sim.call(more_tools())));
    assert_eq!(notices, 0, "it is there already");
    sim.call(close_focused());
    sim.call(open_tab(A, true));
    assert_eq!(actions(&sim), all, "for the whole session");
}

#[test]
fn before_a_tab_is_focused_the_list_stays() {
    let mut sim = sim(progressive());
    let notices = sim.notices(|sim| drop(sim.call(more_tools())));
    assert_eq!(
        (notices, sim.tools()),
        (0, vec!["connect_browser".to_owned()])
    );
    sim.call(connect(false));
    let tab = sim.tab(A);
    sim.focus(tab);
    assert!(actions(&sim).contains(&"drag".to_owned()));
}

#[test]
fn a_page_action_runs_listed_or_not() {
    let mut sim = sim(progressive());
    let refusal = |sim: &mut Sim| match sim.call(page(DRAG, Act)) {
        Reply::Refused(refusal) => refusal,
        other => panic!("{other:?}"),
    };
    let tool = DRAG;
    assert_eq!(refusal(&mut sim), Refusal::NotConnected { tool });
    sim.call(connect(false));
    assert_eq!(refusal(&mut sim), Refusal::NoFocus { tool, lost: None });
    let tab = sim.tab(A);
    sim.focus(tab);
    assert!(!actions(&sim).contains(&"drag".to_owned()));
    let reply = sim.call(page(DRAG, Act));
    assert!(matches!(reply, Reply::Done { .. }), "{reply:?}");
}

#[test]
fn what_flags_switch_off_stays_off() {
    let withheld = vec![CLICK, DRAG, UPLOAD];
    let mut sim = focused(SessionConfig {
        withheld,
        ..progressive()
    });
    assert_eq!(actions(&sim), ["handle_dialog", "take_snapshot"]);
    let category = "input".into();
    let refusal = Refusal::CategoryOff { category };
    assert_eq!(sim.call(more_tools()), Reply::Refused(refusal));
    let refusal = Refusal::NotOffered { tool: DRAG };
    assert_eq!(sim.call(page(DRAG, Act)), Reply::Refused(refusal));
    assert_eq!(actions(&sim), ["handle_dialog", "take_snapshot"]);
}

#[test]
fn without_page_actions_nothing_can_be_added() {
    let page_actions = false;
    let mut sim = focused(SessionConfig {
        page_actions,
        ..progressive()
    });
    assert_eq!(actions(&sim), [""; 0]);
    let tool = ToolName::MORE_TOOLS;
    let refusal = Refusal::NotOffered { tool };
    assert_eq!(sim.call(more_tools()), Reply::Refused(refusal));
}

#[test]
fn flags_add_tools_from_the_start() {
    let sim = focused(SessionConfig {
        added: vec![DRAG],
        ..progressive()
    });
    let mut expected = USUAL.to_vec();
    expected.extend(["drag", "more_tools"]);
    expected.sort_unstable();
    assert_eq!(actions(&sim), expected);
}

#[test]
fn a_tool_that_has_to_be_enabled_is_refused_until_then() {
    let on_request = || vec![(DRAG, "input".into())];
    let refusal = |mode| Refusal::NotAskedFor {
        tool: DRAG,
        category: "input".into(),
        mode,
    };
    let mut stepwise = focused(SessionConfig {
        on_request: on_request(),
        ..progressive()
    });
    let refused = Reply::Refused(refusal(Mode::Progressive));
    assert_eq!(stepwise.call(page(DRAG, Act)), refused);
    stepwise.call(more_tools());
    let reply = stepwise.call(page(DRAG, Act));
    assert!(matches!(reply, Reply::Done { .. }), "{reply:?}");

    let mut fixed = sim(SessionConfig {
        on_request: on_request(),
        ..fixed()
    });
    let refused = Reply::Refused(refusal(Mode::Static));
    assert_eq!(fixed.call(page(DRAG, Act)), refused);
    let tool = ToolName::MORE_TOOLS;
    let refused = Reply::Refused(Refusal::OtherList { tool });
    assert_eq!(fixed.call(more_tools()), refused);
}

#[test]
fn every_refusal_says_what_to_do() {
    for (refusal, text) in [
        (
            Refusal::NotAskedFor {
                tool: DRAG,
                category: "input".into(),
                mode: Mode::Progressive,
            },
            "drag belongs to the category input. Call more_tools with category: \"input\" first.",
        ),
        (
            Refusal::NotAskedFor {
                tool: DRAG,
                category: "input".into(),
                mode: Mode::Static,
            },
            "drag belongs to the category input. Ask the user to start tabmux with input among its \
             --categories.",
        ),
        (
            Refusal::OtherList {
                tool: ToolName::LIST_PAGES,
            },
            "list_pages is not needed in this session. Call list_tabs instead.",
        ),
        (
            Refusal::OtherList {
                tool: ToolName::CONNECT_BROWSER,
            },
            "connect_browser is not needed in this session. Every tool connects to the browser by itself; \
             call list_pages.",
        ),
    ] {
        assert_eq!(refusal.to_string(), text);
    }
}
