//! Runs the tests of this program again in a running browser that is reached through the real extension. Each module
//! runs in one process with one browser. Only `pulse` is excluded: it tests an unresponsive browser that is attached by
//! its address.

mod bridge;

pub(crate) use bridge::Bridge;

use crate::web_mcp::{WITH_WEB_MCP, WITHOUT_WEB_MCP};
use tabmux_testkit::OverExtension;

/// One test for each module.
macro_rules! parts {
    ($($part:ident),* $(,)?) => {$(
        #[test]
        fn $part() {
            OverExtension::run(&[concat!(stringify!($part), "::")], &[], &[WITH_WEB_MCP]);
        }
    )*};
}

parts!(
    advanced,
    buttons,
    click,
    consequences,
    console,
    drag,
    emulate,
    engines,
    fill,
    find,
    keyboard,
    navigate,
    network,
    new_tabs,
    origins,
    oversize,
    peers,
    performance,
    pointing,
    press,
    read_page,
    rules,
    screencast,
    screenshot,
    script,
    shown_secrets,
    snapshot,
    snapshot_usable,
    storage,
    tabs,
    targets,
    unseen,
    wait,
);

#[test]
fn introspect() {
    let flags = [WITH_WEB_MCP, crate::introspect::OFFLINE];
    OverExtension::run(&["introspect::"], &[], &flags);
}

#[test]
fn web_mcp() {
    OverExtension::run(&["web_mcp::"], &POLYFILL_ONLY, &[WITH_WEB_MCP]);
}

// The usual case for a user's own browser: sites can no longer enable WebMCP, so pages get the polyfill.
#[test]
fn web_mcp_where_chrome_has_none() {
    OverExtension::run(&["web_mcp::"], &NATIVE_ONLY, &[WITHOUT_WEB_MCP]);
}

/// These need a browser without WebMCP.
const POLYFILL_ONLY: [&str; 3] = [
    "web_mcp::polyfill::",
    "web_mcp::attached::a_polyfill_that_was_loaded_before_is_found",
    // Chrome sends an extension one event for every change, and all tabs share the extension's one thread: a page that
    // changes its tools all the time slows down other tabs (SECURITY.md). The polyfill reports changes at most every
    // 50 ms.
    "web_mcp::lifetimes::tools_that_change_constantly_do_not_affect_other_tabs",
];

/// Only Chrome's own WebMCP passes these.
const NATIVE_ONLY: [&str; 6] = [
    // It outlives its document, so a tool that navigates to another page still gets a response.
    "web_mcp::calls::the_first_of_two_answers_counts",
    "web_mcp::lifetimes::a_tool_that_leads_to_another_page_says_where",
    // A page that was open before has no polyfill, so it could not register tools.
    "web_mcp::attached::tools_that_were_registered_before",
    // It implements the permission `tools`, so it serves frames of other sites, and no frame if a page forbids it.
    "web_mcp::lifetimes::frames_of_the_same_site_and_of_another",
    "web_mcp::lifetimes::the_policy_of_a_page_that_forbids_tools",
    // It checks the target of a form before the form is submitted.
    "web_mcp::lifetimes::chrome_refuses_a_form_tool",
];
