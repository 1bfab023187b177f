//! The texts of refusals: what happened, and which tool to call next.

use crate::{Fate, LostTab, Mode, Refusal, Stuck, TabId, TabRef, ToolName};
use std::time::Duration;

const TOOL: ToolName = ToolName::new("click");
const TAB: TabId = TabId(3);

fn check(refusal: Refusal, sentence: &str) {
    assert_eq!(refusal.to_string(), sentence);
}

#[test]
fn outside_its_state() {
    check(
        Refusal::NotConnected { tool: TOOL },
        "click needs a browser and none is connected. Call connect_browser first.",
    );
    check(
        Refusal::AlreadyConnected,
        "A browser is already connected. Call list_tabs to see its tabs.",
    );
    check(
        Refusal::NoTabs { tool: TOOL },
        "click needs a tab and none is open. Call open_tab first.",
    );
    check(
        Refusal::NoFocus {
            tool: TOOL,
            lost: None,
        },
        "click needs a focused tab, and none is focused. Call focus_tab first; list_tabs shows the tabs.",
    );
    check(
        Refusal::NoFocus {
            tool: TOOL,
            lost: Some(LostTab {
                tab: TAB,
                fate: Fate::Crashed,
            }),
        },
        "click needs a focused tab, and tab 3 crashed. Call focus_tab first; list_tabs shows the tabs.",
    );
    check(
        Refusal::NotOffered { tool: TOOL },
        "click is switched off in this session by the flags that tabmux was started with. Work with other \
         tools, or ask the user to change them.",
    );
}

#[test]
fn unknown_tabs() {
    let unknown = |given: TabRef, available: &[u32]| Refusal::UnknownTab {
        given,
        available: available.iter().map(|tab| TabId(*tab).into()).collect(),
        mode: Mode::Progressive,
    };
    check(
        unknown(7.0.into(), &[1, 2]),
        "There is no tab 7. Available tabs: 1, 2. Call list_tabs to see the tabs.",
    );
    check(
        unknown("se\"ven".into(), &[]),
        "There is no tab \"se\\\"ven\". Call list_tabs to see the tabs.",
    );
    let many: Vec<u32> = (1..=22).collect();
    let sentence = unknown((-1.0).into(), &many).to_string();
    assert!(sentence.ends_with(", 20 and 2 more. Call list_tabs to see the tabs."));
    let long = unknown("é".repeat(10_000).as_str().into(), &[]).to_string();
    assert!(long.chars().count() < 100, "{long}");
}

#[test]
fn cut_short() {
    check(
        Refusal::TabLost {
            tool: TOOL,
            lost: LostTab {
                tab: TAB,
                fate: Fate::Closed,
            },
            mode: Mode::Progressive,
        },
        "click was not finished because tab 3 was closed. Call list_tabs to see the tabs that are left.",
    );
    check(
        Refusal::BrowserLost {
            tool: TOOL,
            reason: "it crashed".to_owned(),
            mode: Mode::Progressive,
        },
        "click was not finished because the browser is gone: it crashed. \
         Call connect_browser to connect again.",
    );
    check(
        Refusal::NotOpened {
            tool: ToolName::OPEN_TAB,
        },
        "The new tab was gone before it had loaded. Call open_tab again.",
    );
}

#[test]
fn too_late() {
    let late = |stuck| Refusal::TooLate {
        tool: TOOL,
        limit: Duration::from_secs(30),
        stuck,
        mode: Mode::Progressive,
    };
    let start = "click was stopped: it had not finished after 30 s.";
    check(
        late(Stuck::Connecting),
        &format!("{start} Check that the browser responds, then call click again."),
    );
    check(
        late(Stuck::Opening),
        &format!("{start} Check the address, then call click again."),
    );
    check(
        late(Stuck::Working(TAB)),
        &format!("{start} Call it again, or call close_tab if tab 3 no longer responds."),
    );
    check(
        late(Stuck::Queueing(TAB)),
        &format!(
            "{start} Earlier calls on tab 3 kept it waiting. Call it again when they have finished, \
             or call close_tab if the tab no longer responds."
        ),
    );
}

#[test]
fn too_much() {
    check(
        Refusal::TabBusy {
            tool: TOOL,
            tab: TAB,
            limit: 64,
        },
        "Tab 3 is busy with 64 calls. Wait for some of them to finish, then call click again.",
    );
    check(
        Refusal::SessionBusy {
            tool: TOOL,
            limit: 128,
        },
        "This session is busy with 128 calls. Wait for some of them to finish, then call click again.",
    );
    check(
        Refusal::TooManySessions { limit: 100 },
        "There are already 100 sessions. End one of them, then start this one again.",
    );
    check(
        Refusal::RequestInUse,
        "A call with this request id is not finished yet. Use another id for each call.",
    );
    check(
        Refusal::NoSession,
        "This session is not open. Start a new one.",
    );
}

#[test]
fn in_static_mode() {
    let mode = Mode::Static;
    let fate = Fate::BrowserGone;
    let lost = LostTab { tab: TAB, fate };
    check(
        Refusal::BindingLost { tool: TOOL, lost },
        "click was not carried out: tab 3 is gone with its browser, and this session worked there. \
         Call click again to work in a new tab, or call select_page to work in another one.",
    );
    check(
        Refusal::BrowserLost {
            tool: TOOL,
            reason: "it crashed".to_owned(),
            mode,
        },
        "click was not finished because the browser is gone: it crashed. Call click to connect again.",
    );
    check(
        Refusal::LastPage { tab: TAB },
        "Tab 3 is the last page and stays open. Call new_page first, then close it.",
    );
    let late = |stuck| Refusal::TooLate {
        tool: TOOL,
        limit: Duration::from_secs(30),
        stuck,
        mode,
    };
    let start = "click was stopped: it had not finished after 30 s.";
    check(
        late(Stuck::Settling),
        &format!(
            "{start} No tab could be opened for it. \
             Check that the browser responds, then call click again."
        ),
    );
    check(
        late(Stuck::Working(TAB)),
        &format!("{start} Call it again, or call new_page if tab 3 no longer responds."),
    );
}

#[test]
fn another_sessions_tab() {
    let held = |mode| Refusal::TabHeld {
        tab: TAB,
        holder: "Claude Code · 2".into(),
        mode,
    };
    let start =
        "Tab 3 is held by another session (Claude Code · 2), which does not share its tabs.";
    check(
        held(Mode::Static),
        &format!("{start} Call list_pages to see the tabs that you can use."),
    );
    check(
        held(Mode::Progressive),
        &format!("{start} Call list_tabs to see the tabs that you can use."),
    );
    check(
        Refusal::NotFocused {
            tool: TOOL,
            tab: TAB,
        },
        "click works on the focused tab, and tab 3 is not focused. Call focus_tab first.",
    );
}
