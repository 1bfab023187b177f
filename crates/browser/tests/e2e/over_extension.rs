//! The tests of this program once more, in a browser that runs already and is reached through the real
//! extension. Each part runs in one process with one browser. Only `pulse` stays out: it is about a browser
//! that is attached by its address and hangs.

mod bridge;

pub(crate) use bridge::Bridge;

use crate::web_mcp::{WITH_WEB_MCP, WITHOUT_WEB_MCP};
use tabmux_testkit::OverExtension;

/// One test for each part.
macro_rules! parts {
    ($($part:ident),* $(,)?) => {$(
        #[test]
        fn $part() {
            OverExtension::run(&[concat!(stringify!($part), "::")], &[], &[WITH_WEB_MCP]);
        }
    )*};
}

parts!(
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
    press,
    rules,
    screencast,
    screenshot,
    script,
    snapshot,
    storage,
    tabs,
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
    OverExtension::run(&["web_mcp::"], &STAND_IN_ONLY, &[WITH_WEB_MCP]);
}

// As people's browsers are: sites cannot switch WebMCP on any more, so pages have the stand-in.
#[test]
fn web_mcp_where_chrome_has_none() {
    OverExtension::run(&["web_mcp::"], &NATIVE_ONLY, &[WITHOUT_WEB_MCP]);
}

/// These need a browser without WebMCP.
const STAND_IN_ONLY: [&str; 2] = [
    "web_mcp::shim::",
    "web_mcp::attached::what_a_page_brought_along_before_is_heard",
];

/// What only Chrome's own WebMCP has.
const NATIVE_ONLY: [&str; 6] = [
    // It lives on when its document goes, so it answers for a tool that leaves its page.
    "web_mcp::calls::the_first_of_two_answers_counts",
    "web_mcp::lifetimes::a_tool_that_leads_to_another_page_says_where",
    // A stand-in comes with the next page, so there was none to register with before.
    "web_mcp::attached::tools_that_were_registered_before",
    // It knows the permission `tools`, so it serves frames of other sites, and none where a page forbids it.
    "web_mcp::lifetimes::frames_of_the_same_site_and_of_another",
    "web_mcp::lifetimes::the_policy_of_a_page_that_forbids_tools",
    // It sees where a form leads before it is sent.
    "web_mcp::lifetimes::chrome_refuses_a_form_tool",
];
