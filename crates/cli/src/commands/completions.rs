//! `tabmux completions`: what a shell needs to complete commands and flags.

use crate::Cli;
use clap::CommandFactory;
use clap_complete::Shell;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The shell. For bash: `source <(tabmux completions bash)`.
    shell: Shell,
}

pub(crate) fn run(args: Args) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "tabmux", &mut script);
    crate::say::print(script)?;
    Ok(ExitCode::SUCCESS)
}
