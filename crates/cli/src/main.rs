//! The `tabmux` binary: flags, wiring, human output, exit codes.

mod columns;
mod commands;
mod paint;
mod say;
mod table;
mod wrap;

use clap::{CommandFactory, Parser, Subcommand};
use commands::call;
use commands::status::View;
use std::ffi::OsString;
use std::process::ExitCode;

/// Multiplexes AI agents onto browsers.
#[derive(Debug, Parser)]
#[command(
    name = "tabmux",
    version = env!("TABMUX_VERSION"),
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
    Mcp(Box<tabmux_stdio_proxy::Args>),
    /// Serve MCP clients over HTTP, each with its own token.
    Serve(Box<commands::serve::Args>),
    /// Make, list and revoke the tokens of clients of `tabmux serve`.
    #[command(subcommand)]
    Token(commands::token::Args),
    /// Watch an agent work in a real browser. Saves a screenshot.
    Demo(commands::demo::Args),
    /// Run or stop the daemon that MCP clients share.
    #[command(subcommand)]
    Daemon(commands::daemon::Args),
    /// Show daemon status.
    Status(commands::status::Args),
    /// List the browsers of the daemon.
    Browsers(commands::status::Args),
    /// List the open tabs and who holds them.
    Tabs(commands::status::Args),
    /// List the sessions of MCP clients.
    Sessions(commands::status::Args),
    /// Open a page in the shell's own session.
    Open(call::RawArgs),
    /// Print the current page as text.
    Snapshot(call::RawArgs),
    /// Click an element of the current page.
    Click(call::RawArgs),
    /// Fill a field of the current page.
    Fill(call::RawArgs),
    /// Save a screenshot of the current page.
    Screenshot(call::RawArgs),
    /// Run any tool, as an agent would.
    Call(call::RawArgs),
    /// End the shell's session and close its tabs.
    Close(commands::close::Args),
    /// Print the daemon's log.
    Logs(commands::logs::Args),
    /// Diagnose problems and suggest fixes.
    Doctor(commands::doctor::Args),
    /// Add tabmux to the configuration of MCP clients.
    Install(commands::install::Args),
    /// Remove tabmux from the configuration of MCP clients.
    Uninstall(commands::install::Target),
    /// Teach agents that prefer a command line to use tabmux from the shell.
    #[command(subcommand)]
    Skill(commands::skill::Args),
    /// Work in your own Chrome: install the browser extension, or show its state.
    #[command(subcommand)]
    Extension(commands::extension::Args),
    /// Set which sites agents may access.
    #[command(subcommand)]
    Policy(commands::policy::Args),
    /// List, show or delete the login states of `tabmux mcp --state NAME`.
    #[command(subcommand)]
    State(commands::state::Args),
    /// Check or show the config file, tabmux.toml.
    #[command(subcommand)]
    Config(commands::config::Args),
    /// Print a completion script for a shell.
    Completions(commands::completions::Args),
    /// Write the manual pages into a folder.
    #[command(name = "__man", hide = true)]
    Man(commands::manual::Args),
    /// Print the reference of all tools as Markdown.
    #[command(name = "__tools-md", hide = true)]
    ToolsMd,
}

fn main() -> ExitCode {
    let result = match command() {
        Command::Mcp(args) => commands::mcp::run(*args),
        Command::Serve(args) => commands::serve::run(*args),
        Command::Token(args) => commands::token::run(args),
        Command::Demo(args) => commands::demo::run(args),
        Command::Daemon(args) => commands::daemon::run(args),
        Command::Status(args) => commands::status::run(View::Status, args),
        Command::Browsers(args) => commands::status::run(View::Browsers, args),
        Command::Tabs(args) => commands::status::run(View::Tabs, args),
        Command::Sessions(args) => commands::status::run(View::Sessions, args),
        Command::Open(args) => call::run_verb(&call::OPEN, args),
        Command::Snapshot(args) => call::run_verb(&call::SNAPSHOT, args),
        Command::Click(args) => call::run_verb(&call::CLICK, args),
        Command::Fill(args) => call::run_verb(&call::FILL, args),
        Command::Screenshot(args) => call::run_verb(&call::SCREENSHOT, args),
        Command::Call(args) => call::run(args),
        Command::Close(args) => commands::close::run(args),
        Command::Logs(args) => commands::logs::run(args),
        Command::Doctor(args) => commands::doctor::run(args),
        Command::Extension(args) => commands::extension::run(args),
        Command::Install(args) => commands::install::run(args),
        Command::Policy(args) => commands::policy::run(args),
        Command::State(args) => commands::state::run(args),
        Command::Skill(args) => commands::skill::run(args),
        Command::Uninstall(args) => commands::install::remove(args),
        Command::Config(args) => commands::config::run(args),
        Command::Completions(args) => commands::completions::run(args),
        Command::Man(args) => commands::manual::run(args),
        Command::ToolsMd => commands::tools_md::run(),
    };
    tabmux_stdio_proxy::logging::finish();
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
        return Command::Mcp(Box::new(tabmux_stdio_proxy::Args::read(complete_mcp)));
    }
    let mut words: Vec<OsString> = std::env::args_os().collect();
    // `tabmux help call` is `tabmux call --help`, which knows more than clap.
    if words.len() == 3 && words[1] == "help" {
        words.remove(1);
        words.push("--help".into());
    }
    let configurable = [tabmux_config::SERVE, tabmux_config::DAEMON];
    let named = configurable.into_iter().find(|one| {
        words
            .iter()
            .skip(1)
            .zip(one.path)
            .filter(|(word, name)| *word == *name)
            .count()
            == one.path.len()
    });
    if let Some(one) = named {
        words = tabmux_config::complete(Cli::command, one, words, &[])
            .unwrap_or_else(|error| error.exit());
    }
    Cli::parse_from(words).command
}

/// The words of `tabmux mcp` with the settings of the config file.
fn complete_mcp(
    parser: fn() -> clap::Command,
    words: Vec<OsString>,
    off: &[&str],
) -> Result<Vec<OsString>, clap::Error> {
    tabmux_config::complete(parser, tabmux_config::MCP, words, off)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every command's help, in that many columns.
    fn helps(command: &clap::Command, columns: usize) -> Vec<(String, String)> {
        let name = command
            .get_bin_name()
            .unwrap_or_else(|| command.get_name())
            .to_owned();
        let help = command
            .clone()
            .term_width(columns)
            .render_long_help()
            .to_string();
        let below = command
            .get_subcommands()
            .flat_map(|below| helps(below, columns));
        std::iter::once((name, help)).chain(below).collect()
    }

    #[test]
    fn the_help_of_every_command_reads_well_in_40_columns() {
        let mut command = Cli::command();
        command.build();
        for (name, help) in helps(&command, 40) {
            for line in help.lines() {
                let indent = line.len() - line.trim_start().len();
                assert!(
                    indent <= 15,
                    "{name}: `{line}` begins too far right in\n{help}"
                );
                let is_one_word = !line.trim().contains(' ');
                let is_flag = line.trim_start().starts_with('-');
                let fits = line.chars().count() <= 40 || is_one_word || is_flag;
                assert!(
                    fits || line.starts_with("Usage:"),
                    "{name}: `{line}` is too long in\n{help}"
                );
            }
        }
    }
}
