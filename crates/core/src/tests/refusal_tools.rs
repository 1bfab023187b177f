//! No refusal recommends a tool that sessions of this mode do not have.

use super::sim::*;
use crate::{
    Access, ConnectFailure, Fate, LostBrowser, LostTab, Mode, PageRefusal, PersonRefusal, Refusal,
    Reply, RequestedTab, Stuck, TabId, TabName, ToolName,
};
use std::time::Duration;

const TOOL: ToolName = ToolName::new("click");
const TAB: TabId = TabId(3);
const LOST: LostTab = LostTab {
    tab: TAB,
    fate: Fate::Closed,
};

/// The modes whose sessions can get a refusal. No wildcard, so that the compiler asks for each new one.
fn modes(refusal: &Refusal) -> &'static [Mode] {
    const BOTH: &[Mode] = &[Mode::Progressive, Mode::Static];
    match refusal {
        Refusal::NotConnected { .. }
        | Refusal::LostBrowser(_)
        | Refusal::IndexMisplaced { .. }
        | Refusal::AlreadyConnected
        | Refusal::NoTabs { .. }
        | Refusal::NoFocus { .. }
        | Refusal::NotFocused { .. }
        | Refusal::ToolGone { .. }
        | Refusal::CategoryOff { .. } => &[Mode::Progressive],
        Refusal::NoBrowser { .. }
        | Refusal::CoolingDown { .. }
        | Refusal::NoBrowserLeft { .. }
        | Refusal::BrowserKnown { .. }
        | Refusal::TooManyBrowsers { .. }
        | Refusal::BindingLost { .. }
        | Refusal::LastPage { .. } => &[Mode::Static],
        Refusal::IndexForbidden
        | Refusal::IndexRequired { .. }
        | Refusal::UnknownBrowser { .. }
        | Refusal::NotOffered { .. }
        | Refusal::OnlyReads { .. }
        | Refusal::NotAskedFor { .. }
        | Refusal::OtherList { .. }
        | Refusal::UnknownTab { .. }
        | Refusal::TabHeld { .. }
        | Refusal::Hidden { .. }
        | Refusal::UnknownTool { .. }
        | Refusal::NoSuchToolThere { .. }
        | Refusal::TabLost { .. }
        | Refusal::BrowserLost { .. }
        | Refusal::NotOpened { .. }
        | Refusal::TooLate { .. }
        | Refusal::TabBusy { .. }
        | Refusal::SessionBusy { .. }
        | Refusal::RequestInUse
        | Refusal::Person(_)
        | Refusal::NoSession
        | Refusal::TooManySessions { .. } => BOTH,
    }
}

/// The simulator asserts this for every refusal.
pub(super) fn check_mode(refusal: &Refusal, mode: Mode) {
    assert!(modes(refusal).contains(&mode), "{mode:?}: {refusal}");
}

/// One refusal of each kind, as a session of this mode gets it.
fn refusals(mode: Mode) -> Vec<Refusal> {
    let (tool, tab, lost, limit) = (TOOL, TAB, LOST, 9);
    let late = |stuck| Refusal::TooLate {
        tool,
        limit: Duration::from_secs(30),
        stuck,
        mode,
    };
    let of_other_mode = ToolName::session_tools().filter(|tool| !has(mode, *tool));
    let of_other_mode = of_other_mode.map(|tool| Refusal::OtherList { tool });
    let others = vec![
        Refusal::NotConnected { tool },
        LostBrowser::Gone { tool, lost }.into(),
        LostBrowser::Unreachable {
            tool,
            failure: ConnectFailure::NotFound,
        }
        .into(),
        Refusal::NoBrowser {
            tool,
            failure: ConnectFailure::NotFound,
        },
        Refusal::CoolingDown {
            tool,
            number: 1,
            label: "x".into(),
            error: "It is off.".into(),
            left: Duration::from_secs(9),
            several: true,
        },
        Refusal::IndexForbidden,
        Refusal::IndexRequired {
            tool: match mode {
                Mode::Progressive => ToolName::CONNECT_BROWSER,
                Mode::Static => tool,
            },
            available: vec![1, 2],
            mode,
        },
        Refusal::UnknownBrowser {
            given: 7,
            available: vec![1, 2],
            mode,
        },
        Refusal::IndexMisplaced { tool },
        Refusal::NoBrowserLeft { tool },
        Refusal::BrowserKnown {
            number: 1,
            label: "x".into(),
        },
        Refusal::TooManyBrowsers { limit },
        Refusal::AlreadyConnected,
        Refusal::NoTabs { tool },
        Refusal::NoFocus { tool, lost: None },
        Refusal::NoFocus {
            tool,
            lost: Some(lost),
        },
        Refusal::NotFocused { tool, tab },
        Refusal::BindingLost { tool, lost },
        Refusal::NotOffered { tool },
        Refusal::OnlyReads { tool },
        Refusal::NotAskedFor {
            tool,
            category: "x".into(),
            mode,
        },
        Refusal::CategoryOff {
            category: "x".into(),
        },
        Refusal::UnknownTab {
            given: tab.into(),
            available: vec![TabName::Number(tab)],
            mode,
        },
        Refusal::TabHeld {
            tab,
            holder: "x".into(),
            mode,
        },
        Refusal::Hidden { why: "No.".into() },
        Refusal::UnknownTool { tool },
        Refusal::ToolGone { tool },
        Refusal::NoSuchToolThere {
            tool,
            tab: RequestedTab::Given("x".into()),
            available: Vec::new(),
            more: 0,
            begun: true,
        },
        Refusal::LastPage { tab },
        Refusal::TabLost { tool, lost, mode },
        Refusal::BrowserLost {
            tool,
            reason: "x".into(),
            mode,
        },
        Refusal::NotOpened { tool },
        late(Stuck::Connecting),
        late(Stuck::Opening),
        late(Stuck::Settling),
        late(Stuck::Working(tab)),
        late(Stuck::Queueing(tab)),
        Refusal::TabBusy { tool, tab, limit },
        Refusal::SessionBusy { tool, limit },
        Refusal::RequestInUse,
        Refusal::Person(PersonRefusal::Paused { tool, begun: false }),
        Refusal::Person(PersonRefusal::Given { tool, tab }),
        Refusal::NoSession,
        Refusal::TooManySessions { limit },
    ];
    others.into_iter().chain(of_other_mode).collect()
}

/// Whether sessions of a mode have a tool, listed or not.
fn has(mode: Mode, tool: ToolName) -> bool {
    match tool {
        ToolName::LIST_PAGE_TOOLS
        | ToolName::CALL_PAGE_TOOL
        | ToolName::LIST_BROWSER_TABS
        | ToolName::LIST_BROWSERS
        | ToolName::CONNECTION_STATUS => true,
        ToolName::MORE_TOOLS
        | ToolName::CONNECT_BROWSER
        | ToolName::LIST_TABS
        | ToolName::OPEN_TAB
        | ToolName::FOCUS_TAB
        | ToolName::CLOSE_TAB => mode == Mode::Progressive,
        _ => mode == Mode::Static,
    }
}

fn named(text: &str) -> impl Iterator<Item = ToolName> {
    let words = text.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'));
    let names = words.filter_map(ToolName::parse);
    names.filter(|name| ToolName::session_tools().any(|tool| tool == *name))
}

#[test]
fn no_refusal_names_a_tool_of_the_other_mode() {
    for mode in [Mode::Progressive, Mode::Static] {
        let all = refusals(mode);
        for refusal in all.iter().filter(|refusal| modes(refusal).contains(&mode)) {
            let text = refusal.to_string();
            let advice = match refusal {
                // Its first sentence names the tool that was called.
                Refusal::OtherList { .. } => text.split_once(". ").unwrap().1,
                _ => &text,
            };
            let missing = named(advice).find(|tool| !has(mode, *tool));
            assert_eq!(missing, None, "{mode:?}: {text}");
        }
    }
}

/// A session with a fixed list has `select_page` where others have `focus_tab`.
#[test]
fn a_static_session_is_asked_to_select_a_page() {
    let mut sim = Sim::with_fixed_list(&["https://a.test/"]);
    sim.click_of(ONE);
    sim.user_closes("about:blank");
    let calls = [page(CLICK, Access::Act), focus_tab(TabId(1))];
    for kind in calls {
        let Reply::Refused(refusal) = sim.call(kind) else {
            panic!("it has lost its tab, and has no focus_tab");
        };
        let text = refusal.to_string();
        let advice = text.split_once(". ").unwrap().1;
        assert!(advice.contains("select_page"), "{text}");
        assert!(!advice.contains("focus_tab"), "{text}");
    }
}

/// The developer of a page is not an agent and has no tools.
#[test]
fn no_refusal_of_a_page_names_a_tool() {
    let limit = 9;
    for refusal in [
        PageRefusal::TooManyConnections { limit },
        PageRefusal::TooManyPages { limit },
        PageRefusal::InvalidId,
        PageRefusal::IdTaken,
        PageRefusal::TooManyToolsInTab { limit },
        PageRefusal::TooManyTools { limit },
        PageRefusal::TooManyNames { limit },
    ] {
        assert_eq!(named(&refusal.to_string()).next(), None, "{refusal}");
    }
}
