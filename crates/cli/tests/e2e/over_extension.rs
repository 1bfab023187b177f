//! The suites of the tool lists again, in a running browser that is used through the real extension. Each part runs
//! in one process with one browser, and every test with its own daemon.
//!
//! What is left out, and why:
//! - `attach`, `endpoint_secrets`, `playwright_flags`, `proxy`, `registry`, `served`, `several`: browsers that are named by their addresses, or launched.
//! - `lifecycle`: how browsers that we launched end.
//! - `kills`: `kills/own_browser.rs` is the counterpart, and also kills the extension.
//! - `load`: fifty agents; `sessions` has ten agents at once.
//! - `crashed`, `extension`, `groups`, `idle`, `detaching`, `panel…`, `private`: they start their own
//!   browsers with the extension.

use crate::user::User;
use std::path::Path;
use std::process::Command;
use tabmux_testkit::OverExtension;

/// One test for each part, without the tests that do not work in a person's browser.
macro_rules! parts {
    ($flag:ident: $($part:ident without $without:expr),* $(,)?) => {$(
        #[test]
        fn $part() {
            let parts = [concat!(stringify!($part), "::")];
            OverExtension::run(&parts, &$without, &[$flag]);
        }
    )*};
}

parts!(
    WITH_WEB_MCP:
    walk without [
        // Through the extension the first call may be answered before the second is sent.
        "walk::two_calls_to_connect_share",
    ],
    edges without [
        // They launch a browser.
        "edges::a_launched_browser_that_dies",
    ],
    page_tools without [HOSTILE, "page_tools::tools_of_a_tab_without_an_agent"],
    bad_input without [],
    looping without [],
    random_walk without [],
    sessions without [
        // It begins with the page in front, like one of `fixed_list`.
        "sessions::in_a_users_browser_the_first_session",
    ],
    migrating without [
        // It needs no browser.
        "migrating::the_recording_has_every",
        // They launch a browser, or find one by its profile.
        "migrating::a_configuration_of_chrome_devtools_mcp",
        "migrating::auto_connect_uses_a_running_browser",
    ],
    eras without [],
    outliving without [
        // They launch a browser.
        "outliving::a_lost_tab_is_reported",
        "outliving::isolated_sessions_share",
    ],
);

// As in current browsers: sites can no longer enable WebMCP.
parts!(
    WITHOUT_WEB_MCP:
    hookup without [],
    generated without [],
    policy without [
        // With the extension the person can be asked. `panel_questions.rs` has the counterpart.
        "policy::a_consequential_tool_does_not_run_where_nobody",
    ],
);

#[test]
fn fixed_list_and_peers() {
    let without = [
        // It needs no browser.
        "fixed_list::the_list_stays_within_its_budget_on_the_wire",
        // It begins with the page in front, which a session of the extension never uses. `extension.rs` has the counterpart.
        "fixed_list::only_select_page_with_bring_to_front",
        // They launch a browser.
        "peers::peer_9_a_failed_tool",
    ];
    OverExtension::run(&["fixed_list::", "peers::"], &without, &[WITH_WEB_MCP]);
}

#[test]
fn page_tools_where_chrome_has_none() {
    let without = ["page_tools::tools_of_a_tab_without_an_agent"];
    OverExtension::run(&["page_tools::"], &without, &[WITHOUT_WEB_MCP]);
}

/// The flags for experimental features with which `tabmux` launches its own Chrome.
const WITH_WEB_MCP: &str = "--enable-features=WebMCP";
const WITHOUT_WEB_MCP: &str = "--disable-features=WebMCP";

/// Needs a browser without WebMCP.
const HOSTILE: &str = "page_tools::a_hostile_page_cannot_make_the_list_invalid";

/// What Chrome offers to a client that launched it, but not to an extension.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Capability {
    /// Starting a browser, and having none before.
    Launch,
    /// Separate cookies and storage.
    Contexts,
    /// Keys of objects in the page's order; extensions get them sorted.
    OrderOfKeys,
    /// Pages with `data:` addresses.
    DataAddresses,
    /// Heap snapshots.
    Memory,
    /// Reports of crashes in tabs without a client.
    CrashesElsewhere,
}

impl Capability {
    /// Whether the tests of this process have it.
    pub(crate) fn is_given(self) -> bool {
        match self {
            Self::Launch
            | Self::Contexts
            | Self::OrderOfKeys
            | Self::DataAddresses
            | Self::Memory
            | Self::CrashesElsewhere => OverExtension::here().is_none(),
        }
    }
}

/// Whether pages have WebMCP's polyfill in the tests of this process.
pub(crate) fn has_polyfill() -> bool {
    OverExtension::here().is_some_and(|over| over.runs_with(WITHOUT_WEB_MCP))
}

/// Prepares a home whose daemon the extension knows, and clears tabs and cookies of the browser.
pub(crate) fn move_in(over: &'static OverExtension, home: &Path) {
    tabmux_testkit::over_extension::pair(&over.secret, home);
    // A test that ended the browser may have failed before it started another.
    over.start_browser();
    // On a thread, because callers are already inside a runtime.
    let clean = || {
        let runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = { runtime }.enable_all().build().unwrap();
        runtime.block_on(async { User::at(&over.websocket()).await.clears_up().await });
    };
    std::thread::spawn(clean).join().unwrap();
}

/// Sets the environment so that the program uses the daemon of that home, to which the extension connects.
pub(crate) fn direct<'a>(
    over: &OverExtension,
    command: &'a mut Command,
    home: &Path,
) -> &'a mut Command {
    command
        .env("TABMUX_SOCKET", home.join("run/daemon.sock"))
        .env("TABMUX_PORT", over.port.to_string())
        .env_remove("XDG_RUNTIME_DIR")
}

/// The flags of a session without those that launch a browser: the running one already has those settings.
pub(crate) fn flags_without_launch<'a>(over: &OverExtension, flags: &[&'a str]) -> Vec<&'a str> {
    let mut flags = flags.to_vec();
    flags.retain(|flag| match flag.strip_prefix("--chromeArg=") {
        Some(wanted) => {
            over.assert_runs_with(wanted);
            false
        }
        None => true,
    });
    flags
}
