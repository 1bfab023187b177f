//! The suites of the tool lists once more, in a browser that runs already and is reached through the real
//! extension. Each part runs in one process with one browser, and every test with a daemon of its own.
//!
//! What stays out, and why:
//! - `attach`, `endpoint_secrets`, `playwright_flags`, `proxy`, `registry`, `served`, `several`: browsers that are named by their addresses, or launched.
//! - `lifecycle`: how browsers that we launched end with us.
//! - `kills`: `kills/own_browser.rs` is its like, with an extension to kill besides.
//! - `load`: compares times, for which the machine has to be its own; `sessions` has ten agents at once.
//! - `crashed`, `extension`, `groups`, `idle`, `letting_go`, `panel…`, `private`: they have the extension in
//!   browsers of their own.

use crate::user::User;
use std::path::Path;
use std::process::Command;
use tabmux_testkit::OverExtension;

/// One test for each part, without those that a browser of somebody's own cannot have.
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
    walk without [],
    edges without [
        // Launched ones.
        "edges::a_launched_browser_that_dies",
    ],
    page_tools without [HOSTILE, "page_tools::tools_of_a_tab_that_nobody_works_in"],
    bad_input without [],
    looping without [],
    random_walk without [],
    sessions without [
        // It begins with the page in front, as one of `fixed_list` does.
        "sessions::in_a_users_browser_the_first_session",
    ],
    migrating without [
        // No browser is needed for it.
        "migrating::the_recording_has_every",
        // Launched ones, and those that are found by their profile.
        "migrating::a_configuration_of_chrome_devtools_mcp",
        "migrating::a_launched_browser_has_a_page",
        "migrating::auto_connect_takes_a_browser",
    ],
    eras without [],
    outliving without [
        // Launched ones.
        "outliving::a_tab_that_is_gone_is_told",
        "outliving::isolated_sessions_share",
    ],
);

// As people's browsers are: sites cannot switch WebMCP on any more.
parts!(
    WITHOUT_WEB_MCP:
    hookup without [],
    generated without [],
    policy without [
        // A person with the extension can be asked. `panel_questions.rs` has its like.
        "policy::a_consequential_tool_does_not_run_where_nobody",
    ],
);

#[test]
fn fixed_list_and_peers() {
    let without = [
        // No browser is needed for it.
        "fixed_list::the_list_stays_within_its_budget_on_the_wire",
        // It begins with the page in front, which an extension's session never takes. `extension.rs` has its like.
        "fixed_list::only_select_page_with_bring_to_front",
        // They compare times. `hookup` and `looping` show that tabs do not wait for each other.
        "peers::peer_1_ten_tabs",
        "peers::peer_2_a_looping_tab",
        // Launched ones.
        "peers::peer_9_a_failed_tool",
    ];
    OverExtension::run(&["fixed_list::", "peers::"], &without, &[WITH_WEB_MCP]);
}

#[test]
fn page_tools_where_chrome_has_none() {
    let without = ["page_tools::tools_of_a_tab_that_nobody_works_in"];
    OverExtension::run(&["page_tools::"], &without, &[WITHOUT_WEB_MCP]);
}

/// What is experimental in this version of Chrome, as `tabmux` launches its own.
const WITH_WEB_MCP: &str = "--enable-features=WebMCP";
const WITHOUT_WEB_MCP: &str = "--disable-features=WebMCP";

/// It needs a browser without WebMCP.
const HOSTILE: &str = "page_tools::whatever_a_hostile_page_says";

/// What Chrome gives to those who launched it, and not to an extension.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Capability {
    /// To start a browser, and to have none until then.
    Launch,
    /// Cookies and storage of one's own.
    Contexts,
    /// Objects of pages with their keys in the page's order; extensions get them sorted.
    OrderOfKeys,
    /// Pages that are their own address.
    DataAddresses,
    /// To look into a page's memory.
    Memory,
    /// Decision of crashes in tabs that nobody works in.
    CrashesElsewhere,
}

impl Capability {
    /// Whether we have it in the tests of this process.
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

/// Whether pages have WebMCP's stand-in in the tests of this process.
pub(crate) fn has_stand_in() -> bool {
    OverExtension::here().is_some_and(|over| over.runs_with(WITHOUT_WEB_MCP))
}

/// Makes a home whose daemon the extension knows, and leaves the browser without tabs and cookies.
pub(crate) fn move_in(over: &'static OverExtension, home: &Path) {
    tabmux_testkit::over_extension::pair(&over.secret, home);
    // A test that ended it may have failed before it started another.
    over.start_browser();
    // On a thread, because those who call are in the midst of a runtime of their own.
    let clean = || {
        let runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = { runtime }.enable_all().build().unwrap();
        runtime.block_on(async { User::at(&over.websocket()).await.clears_up().await });
    };
    std::thread::spawn(clean).join().unwrap();
}

/// Points the program at the daemon of that home, which the extension finds.
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

/// The flags of a session without those that make a browser, which is there and as they say.
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
