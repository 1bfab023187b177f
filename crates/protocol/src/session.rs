//! What a client tells about itself and what it wants, when it opens a session.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Who a client is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClientInfo {
    /// The program's name.
    pub name: String,
    /// Its process.
    pub pid: u32,
}

/// The variables of a client's environment that say where its user has a screen.
pub const SCREEN_VARIABLES: [&str; 6] = [
    "WAYLAND_DISPLAY",
    "DISPLAY",
    "XAUTHORITY",
    "XDG_SESSION_TYPE",
    "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
];

/// What a session wants.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SessionOptions {
    /// The browser it means.
    pub browser: BrowserOptions,
    /// Which tools are listed.
    pub tools: ToolMode,
    /// Whether tabs have the numbers that `tabmux tabs` shows, also in a fixed list. Otherwise a session
    /// with a fixed list has numbers of its own, from 1.
    pub shared_numbers: bool,
    /// Whether generic page actions are listed while a tab is focused.
    pub page_actions: bool,
    /// How many tools are generated from a page at most; 0 for none. `None`: as many as is usual.
    pub generated_tools: Option<u16>,
    /// The categories of tools that are offered. `None`: all that need not be asked for.
    pub categories: Option<Vec<String>>,
    /// Those among them that were asked for by name: a list that follows the work has all of their tools from
    /// the start.
    pub added_categories: Vec<String>,
    /// Whether it has three tools and no others, those of chrome-devtools-mcp's `--slim`.
    pub slim: bool,
    /// The folder the client works in; files stay there.
    pub folder: Option<PathBuf>,
    /// More folders in which files may be.
    pub roots: Vec<PathBuf>,
    /// Where files without a path go and stay. `None`: into a folder that ends with the session.
    pub output: Option<PathBuf>,
    /// What becomes of the tabs that the session opened.
    pub on_session_end: OnSessionEnd,
    /// Who may use the tabs that the session holds.
    pub tab_policy: TabPolicy,
    /// Whether page tools always run in the tab in front, if there is one.
    pub hybrid_routing: bool,
    /// Whether the session's focus goes to the tab that the user turns to.
    pub follow_user_focus: bool,
    /// Whether a person is asked before a page's tool runs.
    pub confirm: Confirm,
    /// The only origins it may have to do with; all, if there are none.
    pub allowed_origins: Vec<String>,
    /// Origins that it may not have to do with, whatever else is allowed.
    pub blocked_origins: Vec<String>,
}

/// Which tools a session is told about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ToolMode {
    /// Whatever suits its client.
    #[default]
    Auto,
    /// Those that its state allows.
    Progressive,
    /// All of them, always.
    Static,
}

/// What becomes of a session's own tabs when it ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum OnSessionEnd {
    /// They are closed.
    #[default]
    Close,
    /// They stay.
    Keep,
}

/// Whether a person is asked before a page's tool runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Confirm {
    /// If the tool says that what it does may be hard to undo.
    #[default]
    Ask,
    /// Unless the tool says that it changes nothing.
    Always,
    /// Never.
    Never,
}

/// Who may use the tabs that a session holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TabPolicy {
    /// Whoever names one, and is told so.
    #[default]
    Respect,
    /// Nobody else.
    Exclusive,
    /// Everybody; they are in everybody's lists.
    Shared,
}

/// Which browser, and how it is launched if it must be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct BrowserOptions {
    /// Attach to these, numbered from 1 in this order. None of the launch options goes with them.
    pub endpoints: Vec<Endpoint>,
    /// Work in the browser of an extension, and in no other.
    pub extension: bool,
    /// What people call the one that is meant.
    pub extension_name: Option<String>,
    /// Let the agent add browsers that are not on this machine.
    pub allow_remote: bool,
    /// Let the agent choose a browser that is meant when none is named.
    pub allow_default: bool,
    /// Connect all of them when the session opens, without keeping anybody waiting.
    pub connect_at_start: bool,
    /// Take one that runs, and launch none.
    pub attaches_only: bool,
    /// Whether flags say how to launch one, so that one that runs is not meant.
    pub launches: bool,
    /// Launch without a window.
    pub headless: bool,
    /// Launch with a profile of its own that is removed afterwards.
    pub isolated: bool,
    /// What an isolated session begins with: a file of cookies and storage in Playwright's form.
    pub storage_state: Option<PathBuf>,
    /// Launch with this profile.
    pub user_data_dir: Option<PathBuf>,
    /// Launch this program.
    pub executable: Option<PathBuf>,
    /// Launch this channel of Chrome.
    pub channel: Option<String>,
    /// The size of pages.
    pub viewport: Option<(u32, u32)>,
    /// The device that tabs pretend to be, by the name that Playwright has for it.
    pub device: Option<String>,
    /// A proxy.
    pub proxy: Option<String>,
    /// Take any certificate.
    pub accept_insecure_certs: bool,
    /// More arguments.
    pub extra_args: Vec<String>,
    /// JavaScript that runs in every page of the launched browser before its own scripts.
    pub init_scripts: Vec<String>,
    /// What its pages need not ask for.
    pub permissions: Vec<String>,
    /// Let agents open `file:` URLs.
    pub allow_file_urls: bool,
    /// Leave pages without `document.modelContext` where the browser has none.
    pub no_shim: bool,
}

/// A browser that is named by its address.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Endpoint {
    /// `http://host:port`, or `ws://…`.
    pub address: String,
    /// Whether it is a websocket's.
    pub web_socket: bool,
    /// What people call it.
    pub name: Option<String>,
    /// What to run when it is to be reconnected and cannot be reached.
    pub start_command: Option<String>,
    /// Headers for its websocket.
    pub headers: Vec<(String, String)>,
}

/// How many folders a client may work in.
pub const MOST_ROOTS: usize = 32;

/// How long the path of one may be, in bytes.
pub const LONGEST_ROOT: usize = 4_096;
