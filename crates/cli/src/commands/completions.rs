//! `tabmux completions`: prints a completion script for a shell.

use super::call::Flags;
use crate::Cli;
use clap::{Args as _, CommandFactory};
use clap_complete::Shell;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The shell. For bash: `source <(tabmux completions bash)`.
    shell: Shell,
}

pub(crate) fn run(args: Args) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut all_commands(), "tabmux", &mut script);
    crate::say::print(script)?;
    Ok(ExitCode::SUCCESS)
}

/// All commands with all their flags.
pub(super) fn all_commands() -> clap::Command {
    // These commands take the tool's own arguments too, which are not known here.
    let mut command = Cli::command();
    for name in ["call", "open", "snapshot", "click", "fill", "screenshot"] {
        command = command.mut_subcommand(name, Flags::augment_args);
    }
    command
}
