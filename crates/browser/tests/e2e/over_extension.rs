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
    OverExtension::run(&["web_mcp::"], &WITHOUT, &[WITH_WEB_MCP]);
}

#[test]
fn web_mcp_where_chrome_has_none() {
    let flags = [WITHOUT_WEB_MCP];
    OverExtension::run(&WITHOUT, &[], &flags);
}

/// These test a browser without WebMCP.
const WITHOUT: [&str; 2] = [
    "web_mcp::shim::",
    "web_mcp::attached::a_polyfill_that_was_loaded_before_is_found",
];
