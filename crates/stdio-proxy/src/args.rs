//! The flags of `tabmux mcp`, and what they mean.

use crate::flags::{self, BrowserFlags, CategoryFlags, Kind, OriginFlags, ReadOrigins};
use anyhow::{Context, bail};
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;
use tabmux_protocol::session::{
    BrowserChoice, Confirm, OnSessionEnd, SessionOptions, TabPolicy, ToolMode,
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

    /// The most tools to generate from a page, or `off`.
    #[arg(long = "generatedTools", alias = "generated-tools", value_name = "N|off", value_parser = generated_tools, default_value = "30", help_heading = TOOLS)]
    generated_tools: u16,

    #[command(flatten)]
    categories: CategoryFlags,

    /// Offer only three tools: navigate, evaluate and screenshot.
    #[arg(long, conflicts_with = "categories", help_heading = TOOLS)]
    slim: bool,

    #[command(flatten)]
    origins: OriginFlags,

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

impl Args {
    /// The flags of this process, whose first argument is `mcp`. Builds the parser of this command only,
    /// because a client is waiting.
    pub fn read() -> Self {
        Self::of(std::env::args_os()).unwrap_or_else(|error| error.exit())
    }

    /// The flags in a command line that begins with the program and `mcp`.
    fn of(words: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        let mut words = words.into_iter();
        let head: Vec<_> = words.by_ref().take(2).collect();
        let translated = flags::translate(words)
            .map_err(|why| McpCli::command().error(ErrorKind::InvalidValue, why))?;
        let McpOnly::Mcp(args) =
            McpCli::try_parse_from(head.into_iter().chain(translated.args))?.command;
        Ok(Self {
            notes: translated.notes,
            wants_fixed_list: translated.is_theirs,
            ..*args
        })
    }

    /// The session options that the flags mean.
    pub(crate) fn options(
        self,
        kinds: fn() -> Vec<Kind>,
        origins: ReadOrigins,
    ) -> anyhow::Result<SessionOptions> {
        let browser = self.browser.options()?;
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
            generated_tools: Some(self.generated_tools),
            added_categories: self.categories.asked_for(),
            categories: self.categories.chosen(kinds)?,
            slim: self.slim,
            shared_numbers: false,
            hybrid_routing: self.routing == Route::Hybrid,
            follow_user_focus: self.follow_user_focus,
            confirm: self.confirm,
            allowed_origins: self.origins.allowed(origins)?,
            blocked_origins: self.origins.blocked(origins)?,
            folder: std::env::current_dir().ok(),
            roots: absolute(self.filesystem_root)?,
            output: output.pop(),
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
