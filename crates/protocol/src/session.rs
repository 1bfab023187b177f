//! What a client sends when it opens a session: who it is, and its options.

mod token_limits;

pub use token_limits::TokenLimits;

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Who a client is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClientInfo {
    /// The program's name.
    pub name: String,
    /// Its process id.
    pub pid: u32,
}

/// The environment variables that describe the user's display.
pub const SCREEN_VARIABLES: [&str; 6] = [
    "WAYLAND_DISPLAY",
    "DISPLAY",
    "XAUTHORITY",
    "XDG_SESSION_TYPE",
    "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
];

/// The options of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SessionOptions {
    /// Which browser it uses.
    pub browser: BrowserOptions,
    /// Which tool list it has.
    pub tools: ToolMode,
    /// Whether tabs have the numbers that `tabmux tabs` shows, also with a fixed list. Otherwise a session with a
    /// fixed list has its own numbers, from 1.
    pub shared_numbers: bool,
    /// Whether page actions are available.
    pub page_actions: bool,
    /// Whether the answers of actions end with what changed on the page.
    pub changes: bool,
    /// The maximum number of tools that are generated from a page; 0 for none. `None`: the default.
    pub generated_tools: Option<u16>,
    /// The enabled categories of tools. `None`: those that are enabled by default.
    pub categories: Option<Vec<String>>,
    /// The categories that the user enabled by name. A progressive list has all of their tools from the start.
    pub added_categories: Vec<String>,
    /// Whether it has only the three tools of chrome-devtools-mcp's `--slim`.
    pub slim: bool,
    /// The folder that the client works in. Files may be read and written there.
    pub folder: Option<PathBuf>,
    /// More folders in which files may be read and written.
    pub roots: Vec<PathBuf>,
    /// Where files without a path are written and kept. `None`: a folder that is deleted with the session.
    pub output: Option<PathBuf>,
    /// Whether its client is on another machine: it gets addresses of files that it can read, and no paths.
    pub remote: bool,
    /// What happens to the tabs that the session opened.
    pub on_session_end: OnSessionEnd,
    /// Whether other sessions may use the tabs that it holds.
    pub tab_policy: TabPolicy,
    /// Whether page tools always run in the active tab, if there is one.
    pub hybrid_routing: bool,
    /// Whether the session's focus follows the user's active tab.
    pub follow_user_focus: bool,
    /// Whether a person is asked before a page tool runs.
    pub confirm: Confirm,
    /// The only origins that it may access. Empty: all.
    pub allowed_origins: Vec<String>,
    /// Origins that it may not access, even if they are allowed otherwise.
    pub blocked_origins: Vec<String>,
    /// Values that its agent may have typed, but never sees.
    pub secrets: Vec<SecretDefinition>,
    /// What the token of a client over HTTP allows it, besides all that.
    pub limits: TokenLimits,
}

/// A value that an agent names and never sees.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SecretDefinition {
    /// The name that the agent uses.
    pub name: String,
    /// The value.
    pub value: String,
    /// The only origins where it may be typed.
    pub origins: Vec<String>,
}

impl SecretDefinition {
    /// Whether one of its origins is every site, with any scheme and port.
    pub fn is_for_every_site(&self) -> bool {
        self.origins.iter().any(|origin| {
            let host = origin.split_once("://").map_or(&**origin, |(_, host)| host);
            let host = host.trim().trim_end_matches('/');
            host.split(':').next() == Some("*")
        })
    }
}

/// Without the value: options are logged.
impl std::fmt::Debug for SecretDefinition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SecretDefinition")
            .field("name", &self.name)
            .field("origins", &self.origins)
            .finish_non_exhaustive()
    }
}

/// Which tool list a session has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "flags", derive(clap::ValueEnum))]
#[serde(rename_all = "camelCase")]
pub enum ToolMode {
    /// The one that works best with its client.
    #[default]
    Auto,
    /// The tools that its current state allows.
    Progressive,
    /// A fixed list of every tool.
    Static,
}

/// What happens to the tabs that a session opened when it ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "flags", derive(clap::ValueEnum))]
#[serde(rename_all = "camelCase")]
pub enum OnSessionEnd {
    /// They are closed.
    #[default]
    Close,
    /// They stay open.
    Keep,
}

/// When a person is asked before a page tool runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "flags", derive(clap::ValueEnum))]
#[serde(rename_all = "camelCase")]
pub enum Confirm {
    /// If the tool declares that its effects may be hard to undo.
    #[default]
    Ask,
    /// Unless the tool declares itself read-only.
    Always,
    /// Never.
    Never,
}

/// Whether other sessions may use the tabs that a session holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "flags", derive(clap::ValueEnum))]
#[serde(rename_all = "camelCase")]
pub enum TabPolicy {
    /// They do not see them, but can use them by number; the answer then says that the tab is shared.
    #[default]
    Respect,
    /// They can neither see nor use them.
    Exclusive,
    /// They see and can use them.
    Shared,
}

/// Which browser a session uses, and how to launch it.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct BrowserOptions {
    /// Which browser.
    pub choice: BrowserChoice,
    /// Files with certificates of authorities to trust beside those of the system, for `https` and `wss` addresses.
    pub ca_files: Vec<PathBuf>,
    /// The file of the user's certificate for such addresses, and that of its key. Not for browsers that agents add.
    pub client_certificate: Option<(PathBuf, PathBuf)>,
    /// Let the agent add browsers on other machines.
    pub allow_remote: bool,
    /// Let the agent choose a default browser.
    pub allow_default: bool,
    /// Connect to all of them in the background when the session opens.
    pub connect_at_start: bool,
    /// Launch without a window.
    pub headless: bool,
    /// Launch with a temporary profile.
    pub isolated: bool,
    /// A file of cookies and storage in Playwright's format, with which an isolated session starts.
    pub storage_state: Option<PathBuf>,
    /// A login state, with which an isolated session starts and which it saves at its end.
    pub state: Option<StateChoice>,
    /// Launch with this profile.
    pub user_data_dir: Option<PathBuf>,
    /// Launch this program.
    pub executable: Option<PathBuf>,
    /// Launch this channel of Chrome.
    pub channel: Option<String>,
    /// The size of pages.
    pub viewport: Option<(u32, u32)>,
    /// The device that tabs emulate, by its name in Playwright.
    pub device: Option<String>,
    /// A proxy.
    pub proxy: Option<String>,
    /// Accept invalid certificates.
    pub accept_insecure_certs: bool,
    /// More command-line arguments for the browser.
    pub extra_args: Vec<String>,
    /// JavaScript that runs in every page of the launched browser before its own scripts.
    pub init_scripts: Vec<String>,
    /// Permissions that its pages have without asking.
    pub permissions: Vec<String>,
    /// Let agents open `file:` URLs.
    pub allow_file_urls: bool,
    /// Do not add `document.modelContext` to pages where the browser has none.
    pub no_shim: bool,
}

/// Without what may be secret, such as the password of a proxy: options are logged.
impl std::fmt::Debug for BrowserOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BrowserOptions")
            .field("choice", &self.choice)
            .finish_non_exhaustive()
    }
}

/// A login state.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StateChoice {
    /// Its name.
    pub name: String,
    /// The key that it is encrypted with, if it is.
    pub key: Option<String>,
}

/// Without the key: options are logged.
impl std::fmt::Debug for StateChoice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("StateChoice").field(&self.name).finish()
    }
}

/// Which browser a session uses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum BrowserChoice {
    /// The one of an extension; else a running one; else, if the agent asks for it, a launched one.
    #[default]
    Any,
    /// A launched one.
    Launch,
    /// A running one. None is launched.
    Running,
    /// The one of an extension.
    Extension {
        /// The name of the extension's profile, if it must be a particular one.
        name: Option<String>,
    },
    /// Those at these addresses, numbered from 1 in this order.
    Endpoints {
        /// At least one.
        endpoints: Vec<Endpoint>,
    },
}

/// A browser that is named by its address.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Endpoint {
    /// Its address.
    pub address: EndpointAddress,
    /// Its name for people.
    pub name: Option<String>,
    /// The command to run when reconnecting fails.
    pub start_command: Option<String>,
    /// Accept any certificate there.
    #[serde(default)]
    pub insecure: bool,
}

/// The command may have secrets in it, too.
impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Endpoint")
            .field("name", &self.name)
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

/// The address of a browser, and what is there.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum EndpointAddress {
    /// The browser's DevTools server.
    DevTools {
        /// `http://host:port` or `https://…`.
        url: String,
    },
    /// The browser's websocket.
    WebSocket {
        /// `ws://…` or `wss://…`.
        url: String,
        /// Headers for the websocket.
        headers: Vec<(String, String)>,
    },
    /// A grid that hands out browsers by WebDriver: each session has its own.
    Grid {
        /// `grid+http://host:port?browserName=…` or `grid+https://…`.
        url: String,
    },
}

/// Addresses and headers have secrets in them: options are logged.
impl std::fmt::Debug for EndpointAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::DevTools { .. } => "DevTools",
            Self::WebSocket { .. } => "WebSocket",
            Self::Grid { .. } => "Grid",
        })
    }
}

impl From<EndpointAddress> for Endpoint {
    fn from(address: EndpointAddress) -> Self {
        Self {
            address,
            name: None,
            start_command: None,
            insecure: false,
        }
    }
}

impl EndpointAddress {
    /// What begins the address of a grid.
    pub const GRID: &str = "grid+";

    /// The URL, including secrets.
    pub fn url(&self) -> &str {
        match self {
            Self::DevTools { url } | Self::WebSocket { url, .. } | Self::Grid { url } => url,
        }
    }
}

/// The maximum number of folders that a client may work in.
pub const MOST_ROOTS: usize = 32;

/// The maximum length of the path of such a folder, in bytes.
pub const LONGEST_ROOT: usize = 4_096;
