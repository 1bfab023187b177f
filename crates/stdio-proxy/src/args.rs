//! The flags of `tabmux mcp`, and what they mean.

use crate::flags::{self, BrowserFlags, CategoryFlags, Kind, OriginFlags, ReadOrigins};
use anyhow::{Context, bail};
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;
use tabmux_protocol::session::{Confirm, OnSessionEnd, SessionOptions, TabPolicy, ToolMode};

/// Serve an MCP client over stdin and stdout. MCP clients start this.
#[derive(Debug, clap::Args)]
#[command(next_line_help = true)]
pub struct Args {
    #[command(flatten)]
    browser: BrowserFlags,

    /// Which tools are listed: `progressive` follows the state, from one tool to those of the focused
    /// tab; `static` is a fixed list of every tool; `auto` chooses by the client.
    #[arg(long, value_enum, default_value_t = Tools::Auto, help_heading = TOOLS)]
    tools: Tools,

    /// What becomes of the tabs that this client opened when it goes.
    #[arg(long = "onSessionEnd", alias = "on-session-end", value_enum, default_value_t = AtEnd::Close, help_heading = TABS)]
    on_session_end: AtEnd,

    /// Who may use the tabs that this client holds: whoever names one (and is told so), nobody else,
    /// or everybody.
    #[arg(long = "tabPolicy", alias = "tab-policy", value_enum, default_value_t = Policy::Respect, help_heading = TABS)]
    tab_policy: Policy,

    /// Work in the tab that the user brings to the front, as soon as that happens. Without it the agent
    /// stays in its own tab, wherever the user goes.
    #[arg(long = "followUserFocus", alias = "follow-user-focus", help_heading = TABS)]
    follow_user_focus: bool,

    /// Whether generic page actions (click, fill, take_snapshot, …) are listed while a tab is focused.
    #[arg(long = "pageActions", alias = "page-actions", value_enum, default_value_t = Switch::On, help_heading = TOOLS)]
    page_actions: Switch,

    /// How many tools are generated from a page at most, or `off`.
    #[arg(long = "generatedTools", alias = "generated-tools", value_name = "N|off", value_parser = generated_tools, default_value = "30", help_heading = TOOLS)]
    generated_tools: u16,

    #[command(flatten)]
    categories: CategoryFlags,

    /// Have three tools and no others: navigate, evaluate and screenshot.
    #[arg(long, conflicts_with = "categories", help_heading = TOOLS)]
    slim: bool,

    #[command(flatten)]
    origins: OriginFlags,

    /// Whether a person is asked before a page's own tool runs: `ask` if the tool says that what it does may be
    /// hard to undo, `always` unless it says that it changes nothing, or `never`. Where nobody can be asked,
    /// the tool does not run.
    #[arg(long, value_enum, default_value_t = Confirming::Ask, help_heading = "Policy")]
    confirm: Confirming,

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

    /// The loopback port for pages of a daemon that is started; 0 takes any that is free.
    #[arg(long, value_name = "PORT", help_heading = PROCESS)]
    pub(crate) port: Option<u16>,

    /// How calls of pages' own tools find their tab: `smart` takes one that has the tool, the one in
    /// front first; `hybrid` always takes the one in front.
    #[arg(long, value_enum, default_value_t = Route::Smart, help_heading = TOOLS)]
    routing: Route,

    /// Write the log to this file instead of standard error.
    #[arg(long = "logFile", alias = "log-file", value_name = "FILE", help_heading = PROCESS)]
    pub(crate) log_file: Option<PathBuf>,

    /// One more folder in which tools may read and write files; may be repeated. Else they keep to the
    /// folder in which tabmux is started, and to those that the client says it works in. What is hidden below
    /// (`.ssh`, `.git`) is left alone, unless such a folder is named itself.
    #[arg(
        long = "filesystemRoot",
        alias = "filesystem-root",
        value_name = "DIR",
        help_heading = "Policy"
    )]
    filesystem_root: Vec<PathBuf>,

    /// Keep files that tools write without a path in this folder, such as PDFs and downloads. Else they are in a
    /// folder that ends with the session.
    #[arg(
        long = "outputDir",
        alias = "output-dir",
        value_name = "DIR",
        help_heading = "Policy"
    )]
    output_dir: Option<PathBuf>,

    /// What was taken without effect, for the log.
    #[arg(skip)]
    pub(crate) notes: Vec<String>,

    /// Whether the flags were written for a server with a fixed list.
    #[arg(skip)]
    wants_fixed_list: bool,
}

impl Args {
    /// The flags of this process, whose first argument is `mcp`. Only this command's are built: a
    /// client is waiting.
    pub fn read() -> Self {
        Self::of(std::env::args_os()).unwrap_or_else(|error| error.exit())
    }

    /// The flags in a command line that begins with the program and `mcp`.
    fn of(words: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        let mut words = words.into_iter();
        let head: Vec<_> = words.by_ref().take(2).collect();
        let translated = flags::translate(words)
            .map_err(|why| Alone::command().error(ErrorKind::InvalidValue, why))?;
        let Only::Mcp(args) =
            Alone::try_parse_from(head.into_iter().chain(translated.args))?.command;
        Ok(Self {
            notes: translated.notes,
            wants_fixed_list: translated.is_theirs,
            ..*args
        })
    }

    /// What the flags say about the session.
    pub(crate) fn options(
        self,
        kinds: fn() -> Vec<Kind>,
        origins: ReadOrigins,
    ) -> anyhow::Result<SessionOptions> {
        let browser = self.browser.options()?;
        if self.no_daemon && browser.extension {
            bail!(
                "--extension needs the daemon, which the extension connects to; leave --no-daemon out"
            );
        }
        let mut output = absolute(self.output_dir.into_iter().collect())?;
        Ok(SessionOptions {
            browser,
            tools: match self.tools {
                Tools::Auto if self.wants_fixed_list => ToolMode::Static,
                Tools::Auto => ToolMode::Auto,
                Tools::Progressive => ToolMode::Progressive,
                Tools::Static => ToolMode::Static,
            },
            on_session_end: match self.on_session_end {
                AtEnd::Close => OnSessionEnd::Close,
                AtEnd::Keep => OnSessionEnd::Keep,
            },
            tab_policy: match self.tab_policy {
                Policy::Respect => TabPolicy::Respect,
                Policy::Exclusive => TabPolicy::Exclusive,
                Policy::Shared => TabPolicy::Shared,
            },
            page_actions: self.page_actions == Switch::On,
            generated_tools: Some(self.generated_tools),
            added_categories: self.categories.asked_for(),
            categories: self.categories.chosen(kinds)?,
            slim: self.slim,
            shared_numbers: false,
            hybrid_routing: self.routing == Route::Hybrid,
            follow_user_focus: self.follow_user_focus,
            confirm: match self.confirm {
                Confirming::Ask => Confirm::Ask,
                Confirming::Always => Confirm::Always,
                Confirming::Never => Confirm::Never,
            },
            allowed_origins: self.origins.allowed(origins)?,
            blocked_origins: self.origins.blocked(origins)?,
            folder: std::env::current_dir().ok(),
            roots: absolute(self.filesystem_root)?,
            output: output.pop(),
        })
    }
}

/// The daemon works in another folder than whoever wrote the paths.
fn absolute(paths: Vec<PathBuf>) -> anyhow::Result<Vec<PathBuf>> {
    let paths = paths.into_iter().map(|path| {
        std::path::absolute(&path).with_context(|| format!("{} is no path", path.display()))
    });
    paths.collect()
}

#[derive(Debug, Parser)]
#[command(name = "tabmux", version, max_term_width = 100)]
struct Alone {
    #[command(subcommand)]
    command: Only,
}

#[derive(Debug, Subcommand)]
enum Only {
    Mcp(Box<Args>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Confirming {
    Ask,
    Always,
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Tools {
    Auto,
    Progressive,
    Static,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum AtEnd {
    Close,
    Keep,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Policy {
    Respect,
    Exclusive,
    Shared,
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

/// A tab offers no more tools than this, whoever found them.
const MOST_GENERATED: u16 = 60;

#[cfg(test)]
mod tests;
