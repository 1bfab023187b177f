//! The `tabmux` binary: flags, wiring, human output, exit codes.

mod commands;
mod flags;
mod logging;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Multiplexes AI agents onto browsers.
#[derive(Debug, Parser)]
#[command(name = "tabmux", version, max_term_width = 100, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Watch an agent work in a real browser, as a short story. Leaves a picture.
    Demo(commands::demo::Args),
    /// Serve an MCP client over stdin and stdout. MCP clients start this.
    Mcp(commands::mcp::Args),
    /// Print the reference of all tools as Markdown.
    #[command(name = "__tools-md", hide = true)]
    ToolsMd,
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Demo(args) => commands::demo::run(args),
        Command::Mcp(args) => commands::mcp::run(args),
        Command::ToolsMd => commands::tools_md::run(),
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            complain(&error);
            ExitCode::FAILURE
        }
    }
}

#[expect(clippy::print_stderr, reason = "the last words of a command that failed")]
fn complain(error: &anyhow::Error) {
    eprintln!("tabmux: {error:#}");
}
