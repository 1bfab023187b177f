//! Short names for sessions, tools and calls in tests.

use crate::{
    Access, BrowserKey, CallKind, Mode, Numbering, OnEnd, Reply, SessionConfig, SessionId, TabId,
    TabRef, ToolName,
};

pub(super) const CLICK: ToolName = ToolName::new("click");
pub(super) const SNAPSHOT: ToolName = ToolName::new("take_snapshot");
pub(super) const HANDLE_DIALOG: ToolName = ToolName::new("handle_dialog");

/// The fixed list of static sessions, in published order.
pub(super) const STATIC_TOOLS: [ToolName; 8] = [
    ToolName::LIST_PAGES,
    ToolName::NEW_PAGE,
    ToolName::SELECT_PAGE,
    ToolName::CLOSE_PAGE,
    SNAPSHOT,
    CLICK,
    HANDLE_DIALOG,
    ToolName::CONNECTION_STATUS,
];

/// The session that most tests use.
pub(super) const ONE: SessionId = SessionId(1);
pub(super) const TWO: SessionId = SessionId(2);

pub(super) fn connect(launch: bool) -> CallKind {
    CallKind::ConnectBrowser { launch }
}

pub(super) fn open_tab(url: &str, focus: bool) -> CallKind {
    let url = url.into();
    CallKind::OpenTab { url, focus }
}

pub(super) fn focus_tab(tab: impl Into<TabRef>) -> CallKind {
    CallKind::FocusTab { tab: tab.into() }
}

pub(super) fn close_tab(tab: TabId) -> CallKind {
    let tab = Some(tab.into());
    CallKind::CloseTab { tab }
}

/// Closes the focused tab.
pub(super) fn close_focused() -> CallKind {
    CallKind::CloseTab { tab: None }
}

pub(super) fn closed(tab: TabId) -> Reply {
    let shared = false;
    Reply::Closed { tab, shared }
}

/// The default settings of a static session.
pub(super) fn fixed() -> SessionConfig {
    SessionConfig {
        mode: Mode::Static,
        ..progressive()
    }
}

/// The same with its own page numbers.
pub(super) fn with_own_numbers() -> SessionConfig {
    SessionConfig {
        numbering: Numbering::Own,
        ..fixed()
    }
}

pub(super) fn progressive() -> SessionConfig {
    SessionConfig::new(BrowserKey("chrome".into()))
}

/// A session whose user named its browser by its address.
pub(super) fn named(mut config: SessionConfig) -> SessionConfig {
    for browser in &mut config.browsers {
        browser.attached = true;
    }
    config
}

/// A session whose tabs stay open when it ends.
pub(super) fn keeping(config: SessionConfig) -> SessionConfig {
    let on_end = OnEnd::Keep;
    SessionConfig { on_end, ..config }
}

pub(super) fn new_page(url: &str) -> CallKind {
    let url = url.into();
    CallKind::NewPage { url }
}

pub(super) fn select_page(tab: impl Into<TabRef>) -> CallKind {
    CallKind::SelectPage { tab: tab.into() }
}

pub(super) fn close_page(tab: impl Into<TabRef>) -> CallKind {
    CallKind::ClosePage { tab: tab.into() }
}

/// A click in a tab that the agent names.
pub(super) fn click_in(tab: impl Into<TabRef>) -> CallKind {
    CallKind::Page {
        tool: CLICK,
        access: Access::Act,
        tab: Some(tab.into()),
    }
}

pub(super) fn page(tool: ToolName, access: Access) -> CallKind {
    let tab = None;
    CallKind::Page { tool, access, tab }
}
