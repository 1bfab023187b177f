//! `tabmux completions`: what a shell needs to complete commands and flags.

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
    // What these take besides is up to a tool.
    let mut command = Cli::command();
    for name in ["call", "open", "snapshot", "click", "fill", "screenshot"] {
        command = command.mut_subcommand(name, Flags::augment_args);
    }
    clap_complete::generate(args.shell, &mut command, "tabmux", &mut script);
    crate::say::print(script)?;
    Ok(ExitCode::SUCCESS)
}
