//! `tabmux __man`: writes the manual pages of all commands, for packages.

use super::completions::all_commands;
use anyhow::Context;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The folder.
    folder: PathBuf,
}

pub(crate) fn run(args: Args) -> anyhow::Result<ExitCode> {
    let failed = || format!("{} cannot be written", args.folder.display());
    clap_mangen::generate_to(all_commands(), &args.folder).with_context(failed)?;
    Ok(ExitCode::SUCCESS)
}
