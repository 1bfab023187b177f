//! The `tabmux` binary: flags, wiring, human output, exit codes.

mod commands;
mod paint;
mod say;
mod table;
mod wrap;

use clap::{Parser, Subcommand};
use commands::status::View;
use std::process::ExitCode;

/// Multiplexes AI agents onto browsers.
#[derive(Debug, Parser)]
#[command(
    name = "tabmux",
    version,
    max_term_width = 100,
    arg_required_else_help = true
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve an MCP client over stdin and stdout. MCP clients start this.
    Mcp(tabmux_shim::Args),
    /// Watch an agent work in a real browser, as a short story. Leaves a picture.
    Demo(commands::demo::Args),
    /// Run or stop the daemon that MCP clients share.
    #[command(subcommand)]
    Daemon(commands::daemon::Args),
    /// Show how the daemon is.
    Status(commands::status::Args),
    /// List the browsers of the daemon.
    Browsers(commands::status::Args),
    /// List the open tabs and who holds them.
    Tabs(commands::status::Args),
    /// List the sessions of MCP clients.
    Sessions(commands::status::Args),
    /// Run one tool, as an agent would.
    Call(commands::call::Args),
    /// Print the daemon's log.
    Logs(commands::logs::Args),
    /// Find what is wrong, and how to mend it.
    Doctor(commands::doctor::Args),
    /// Tell MCP clients about tabmux: one entry in each one's config.
    Install(commands::install::Args),
    /// Take that entry out again.
    Uninstall(commands::install::Target),
    /// Work in your own Chrome: install the browser extension, or see how it is.
    #[command(subcommand)]
    Extension(commands::extension::Args),
    /// Say which sites agents may have to do with.
    #[command(subcommand)]
    Policy(commands::policy::Args),
    /// Print what a shell needs to complete tabmux's commands and flags.
    Completions(commands::completions::Args),
    /// Print the reference of all tools as Markdown.
    #[command(name = "__tools-md", hide = true)]
    ToolsMd,
}

fn main() -> ExitCode {
    let result = match command() {
        Command::Mcp(args) => commands::mcp::run(args),
        Command::Demo(args) => commands::demo::run(args),
        Command::Daemon(args) => commands::daemon::run(args),
        Command::Status(args) => commands::status::run(View::Status, args),
        Command::Browsers(args) => commands::status::run(View::Browsers, args),
        Command::Tabs(args) => commands::status::run(View::Tabs, args),
        Command::Sessions(args) => commands::status::run(View::Sessions, args),
        Command::Call(args) => commands::call::run(args),
        Command::Logs(args) => commands::logs::run(args),
        Command::Doctor(args) => commands::doctor::run(args),
        Command::Extension(args) => commands::extension::run(args),
        Command::Install(args) => commands::install::run(args),
        Command::Policy(args) => commands::policy::run(args),
        Command::Uninstall(args) => commands::install::remove(args),
        Command::Completions(args) => commands::completions::run(args),
        Command::ToolsMd => commands::tools_md::run(),
    };
    tabmux_shim::logging::finish();
    match result {
        Ok(code) => code,
        Err(error) => {
            say::complain(format!("tabmux: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn command() -> Command {
    if std::env::args_os().nth(1).is_some_and(|name| name == "mcp") {
        return Command::Mcp(tabmux_shim::Args::read());
    }
    Cli::parse().command
}
