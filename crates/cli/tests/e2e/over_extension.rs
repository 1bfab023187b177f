//! The suites of the tool lists once more, in a browser that runs already and is reached through the real
//! extension. Each part runs in one process with one browser, and every test with a daemon of its own.

use crate::user::User;
use std::path::Path;
use std::process::Command;
use tabmux_testkit::OverExtension;

/// One test for each part, without those that a browser of somebody's own cannot have.
macro_rules! parts {
    ($($part:ident without $without:expr),* $(,)?) => {$(
        #[test]
        fn $part() {
            let parts = [concat!(stringify!($part), "::")];
            OverExtension::run(&parts, &$without, &[WITH_WEB_MCP]);
        }
    )*};
}

parts!(
    walk without [],
    edges without [
        // Others need this browser. `extension.rs` ends one of its own.
        "edges::r004_57_101_a_browser_that_ends",
        "edges::r004_101_a_browser_that_the_user_quits",
        // Launched ones.
        "edges::r004_101_a_launched_browser_that_dies",
    ],
    hookup without [],
    generated without [],
    page_tools without [HOSTILE, "page_tools::tools_of_a_tab_that_nobody_works_in"],
    bad_input without [],
    looping without [],
    fixed_list without [
        // No browser is needed for it.
        "fixed_list::the_list_stays_within_its_budget_on_the_wire",
        // It begins with the page in front, which an extension's session never takes. `extension.rs` has its like.
        "fixed_list::only_select_page_with_bring_to_front",
    ],
);

#[test]
fn page_tools_where_chrome_has_none() {
    OverExtension::run(&[HOSTILE], &[], &["--disable-features=WebMCP"]);
}

/// What is experimental in this version of Chrome, as `tabmux` launches its own.
const WITH_WEB_MCP: &str = "--enable-features=WebMCP";

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
}

impl Capability {
    /// Whether we have it in the tests of this process.
    pub(crate) fn is_given(self) -> bool {
        match self {
            Self::Launch | Self::Contexts | Self::OrderOfKeys => OverExtension::here().is_none(),
        }
    }
}

/// Makes a home whose daemon the extension knows, and leaves the browser without tabs and cookies.
pub(crate) fn move_in(over: &'static OverExtension, home: &Path) {
    tabmux_testkit::over_extension::pair(&over.secret, home);
    // On a thread, because those who call are in the midst of a runtime of their own.
    let clean = || {
        let runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = { runtime }.enable_all().build().unwrap();
        runtime.block_on(async { User::at(&over.websocket).await.clears_up().await });
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
