//! The flags of `tabmux mcp`, and what they mean.

use crate::flags::{self, BrowserFlags, CategoryFlags, Kind, OriginFlags, ReadOrigins};
use anyhow::{Context, bail};
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand, ValueEnum};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use tabmux_protocol::session::{
    BrowserChoice, Confirm, OnSessionEnd, SessionOptions, TabPolicy, TokenLimits, ToolMode,
};

/// Serve an MCP client over stdin and stdout. MCP clients start this.
#[derive(Debug, clap::Args)]
#[command(next_line_help = true)]
pub struct Args {
    #[command(flatten)]
    browser: BrowserFlags,

    /// Which tools are listed: `progressive` follows the state, from one tool to those of the focused
    /// tab; `static` is a fixed list of every tool; `auto` depends on the client.
    #[arg(long, value_enum, default_value_t = ToolMode::Auto, help_heading = TOOLS)]
    tools: ToolMode,

    /// Whether to close or keep the tabs that this client opened when its session ends.
    #[arg(long = "onSessionEnd", alias = "on-session-end", value_enum, default_value_t = OnSessionEnd::Close, help_heading = TABS)]
    on_session_end: OnSessionEnd,

    /// Whether other clients may use the tabs that this client holds: `respect` lets a client use a tab that it
    /// names (and tells it so), `exclusive` lets none, `shared` lets all.
    #[arg(long = "tabPolicy", alias = "tab-policy", value_enum, default_value_t = TabPolicy::Respect, help_heading = TABS)]
    tab_policy: TabPolicy,

    /// Switch to the tab that the user brings to the front. Without this flag the agent stays in its own
    /// tab.
    #[arg(long = "followUserFocus", alias = "follow-user-focus", help_heading = TABS)]
    follow_user_focus: bool,

    /// Whether generic page actions (click, fill, take_snapshot, …) are listed while a tab is focused.
    #[arg(long = "pageActions", alias = "page-actions", value_enum, default_value_t = Switch::On, help_heading = TOOLS)]
    page_actions: Switch,

    /// Whether the answer of an action (click, fill, press_key, …) ends with what changed on the page.
    #[arg(long, value_enum, default_value_t = Switch::On, help_heading = TOOLS)]
    changes: Switch,

    /// The most tools to generate from a page, or `off`.
    #[arg(long = "generatedTools", alias = "generated-tools", value_name = "N|off", value_parser = generated_tools, default_value = "12", help_heading = TOOLS)]
    generated_tools: u16,

    #[command(flatten)]
    categories: CategoryFlags,

    /// Offer only three tools: navigate, evaluate and screenshot.
    #[arg(long, conflicts_with = "categories", help_heading = TOOLS)]
    slim: bool,

    #[command(flatten)]
    origins: OriginFlags,

    /// Start with the cookies and local storage that the last session with this name left, and save them when this
    /// one ends. Implies --isolated. Encrypted if TABMUX_STATE_KEY is set. See `tabmux state`.
    #[arg(long, value_name = "NAME", help_heading = "Browser")]
    state: Option<String>,

    /// Values that the agent may have typed by name and never sees, such as passwords: a file of yours with mode 0600,
    /// or `exec:COMMAND` for a command that prints one. See docs/secrets.md.
    #[arg(long, value_name = "FILE|exec:COMMAND", help_heading = "Policy")]
    secrets: Option<OsString>,

    /// Whether to ask a person before a page's own tool runs: `ask` if the tool says that it may be hard to undo,
    /// `always` unless the tool says that it changes nothing, or `never`. If no person can be asked, the tool
    /// does not run.
    #[arg(long, value_enum, default_value_t = Confirm::Ask, help_heading = "Policy")]
    confirm: Confirm,

    /// Do everything in this process instead of the shared daemon.
    #[arg(long = "no-daemon", alias = "noDaemon", help_heading = PROCESS)]
    pub(crate) no_daemon: bool,

    /// The daemon's socket.
    #[arg(
        long,
        value_name = "PATH",
        env = "TABMUX_SOCKET",
        conflicts_with = "no_daemon",
        help_heading = PROCESS
    )]
    pub(crate) socket: Option<PathBuf>,

    /// The loopback port for pages, if this client starts the daemon; 0 means any free port.
    #[arg(long, value_name = "PORT", help_heading = PROCESS)]
    pub(crate) port: Option<u16>,

    /// Which tab a call of a page's own tool goes to: `smart` chooses a tab that has the tool, the one in
    /// front first; `hybrid` always chooses the one in front.
    #[arg(long, value_enum, default_value_t = Route::Smart, help_heading = TOOLS)]
    routing: Route,

    /// Read settings from this file instead of the usual tabmux.toml. See `tabmux config`.
    #[arg(long, value_name = "FILE", env = "TABMUX_CONFIG", help_heading = PROCESS)]
    pub(crate) config: Option<PathBuf>,

    /// Also use the settings below [profiles.NAME] of the config file.
    #[arg(long, value_name = "NAME", env = "TABMUX_PROFILE", help_heading = PROCESS)]
    profile: Option<String>,

    /// Write the log to this file instead of standard error.
    #[arg(long = "logFile", alias = "log-file", value_name = "FILE", help_heading = PROCESS)]
    pub(crate) log_file: Option<PathBuf>,

    /// One more folder in which tools may read and write files; may be repeated. By default these are the folder in
    /// which tabmux is started and those that the client reports. Hidden folders below (`.ssh`, `.git`) are not
    /// accessible, unless such a folder is named itself.
    #[arg(
        long = "filesystemRoot",
        alias = "filesystem-root",
        value_name = "DIR",
        help_heading = "Policy"
    )]
    filesystem_root: Vec<PathBuf>,

    /// Keep files that tools write without a path, such as PDFs and downloads, in this folder. By default they are in a
    /// folder that is deleted with the session.
    #[arg(
        long = "outputDir",
        alias = "output-dir",
        value_name = "DIR",
        help_heading = "Policy"
    )]
    output_dir: Option<PathBuf>,

    /// Flags without effect, for the log.
    #[arg(skip)]
    pub(crate) notes: Vec<String>,

    /// Whether the flags were written for a server with a fixed list.
    #[arg(skip)]
    wants_fixed_list: bool,
}

/// Adds the settings of the config file to the words of a command line; the last argument names switches that the
/// command line turns off.
pub type Complete =
    fn(fn() -> clap::Command, Vec<OsString>, &[&str]) -> Result<Vec<OsString>, clap::Error>;

impl Args {
    /// The flags of this process, whose first argument is `mcp`. Builds the parser of this command only,
    /// because a client is waiting.
    pub fn read(complete: Complete) -> Self {
        Self::of(std::env::args_os(), complete).unwrap_or_else(|error| error.exit())
    }

    /// The parser of these flags, as `tabmux mcp`.
    pub fn parser() -> clap::Command {
        McpCli::command()
    }

    /// The flags in a command line that begins with the program and `mcp`.
    fn of(
        words: impl IntoIterator<Item = OsString>,
        complete: Complete,
    ) -> Result<Self, clap::Error> {
        let mut words = words.into_iter();
        let head: Vec<_> = words.by_ref().take(2).collect();
        let translated = flags::translate(words)
            .map_err(|why| McpCli::command().error(ErrorKind::InvalidValue, why))?;
        let words = head.into_iter().chain(translated.args).collect();
        let words = complete(McpCli::command, words, &translated.switched_off)?;
        let McpOnly::Mcp(args) = McpCli::try_parse_from(words)?.command;
        Ok(Self {
            notes: translated.notes,
            wants_fixed_list: translated.is_theirs,
            ..*args
        })
    }

    /// The daemon's socket, if it is not the usual one.
    pub fn socket(&self) -> Option<PathBuf> {
        self.socket.clone()
    }

    /// The file for the log.
    pub fn log_file(&self) -> Option<&Path> {
        self.log_file.as_deref()
    }

    /// The port for pages of a daemon that is started.
    pub fn port(&self) -> Option<u16> {
        self.port
    }

    /// The config file, if it is not the usual one.
    pub fn config(&self) -> Option<PathBuf> {
        self.config.clone()
    }

    /// The session options that the flags mean.
    ///
    /// # Errors
    /// When flags contradict each other, or a file that they name cannot be used.
    pub fn options(
        self,
        kinds: fn() -> Vec<Kind>,
        origins: ReadOrigins,
    ) -> anyhow::Result<SessionOptions> {
        let browser = match self.state {
            Some(name) => flags::with_state(self.browser, name)?,
            None => self.browser.options()?,
        };
        if self.no_daemon && matches!(browser.choice, BrowserChoice::Extension { .. }) {
            bail!(
                "--extension needs the daemon, which the extension connects to; remove --no-daemon"
            );
        }
        let mut output = absolute(self.output_dir.into_iter().collect())?;
        Ok(SessionOptions {
            browser,
            tools: match self.tools {
                ToolMode::Auto if self.wants_fixed_list => ToolMode::Static,
                tools => tools,
            },
            on_session_end: self.on_session_end,
            tab_policy: self.tab_policy,
            page_actions: self.page_actions == Switch::On,
            changes: self.changes == Switch::On,
            generated_tools: Some(self.generated_tools),
            added_categories: self.categories.asked_for(),
            categories: self.categories.chosen(kinds)?,
            slim: self.slim,
            shared_numbers: false,
            remote: false,
            hybrid_routing: self.routing == Route::Hybrid,
            follow_user_focus: self.follow_user_focus,
            confirm: self.confirm,
            allowed_origins: self.origins.allowed(origins)?,
            blocked_origins: self.origins.blocked(origins)?,
            secrets: flags::read_secrets(self.secrets.as_deref(), origins)?,
            folder: std::env::current_dir().ok(),
            roots: absolute(self.filesystem_root)?,
            output: output.pop(),
            limits: TokenLimits::default(),
        })
    }
}

/// The daemon runs in another folder, so paths must be absolute.
fn absolute(paths: Vec<PathBuf>) -> anyhow::Result<Vec<PathBuf>> {
    let paths = paths.into_iter().map(|path| {
        std::path::absolute(&path).with_context(|| format!("{} is not a path", path.display()))
    });
    paths.collect()
}

#[derive(Debug, Parser)]
#[command(name = "tabmux", version, max_term_width = 100)]
struct McpCli {
    #[command(subcommand)]
    command: McpOnly,
}

#[derive(Debug, Subcommand)]
enum McpOnly {
    Mcp(Box<Args>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Route {
    Smart,
    Hybrid,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Switch {
    On,
    Off,
}

fn generated_tools(text: &str) -> Result<u16, String> {
    let number = match text {
        "off" => Some(0),
        number => number.parse().ok(),
    };
    number
        .filter(|number| *number <= MOST_GENERATED)
        .ok_or_else(|| format!("write `off` or a number up to {MOST_GENERATED}"))
}

/// Headings of the help.
const TOOLS: &str = "Tools";
const TABS: &str = "Tabs";
const PROCESS: &str = "Daemon and log";

/// A tab offers no more tools than this, whatever their source.
const MOST_GENERATED: u16 = 60;

#[cfg(test)]
mod tests;
