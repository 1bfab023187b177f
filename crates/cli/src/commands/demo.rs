//! `tabmux demo`: an agent books a bed in a mountain hut, with a real server and a real browser.

mod client;
mod printer;
mod processes;
mod runner;
mod site;
mod snapshot;
mod story;

use super::common_flags::Executable;
use printer::Printer;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

/// Watch an agent work in a real browser: a real MCP client, a real page. Saves a screenshot.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The file for the screenshot.
    #[arg(long, value_name = "FILE", default_value = "tabmux-demo.png")]
    out: PathBuf,

    #[command(flatten)]
    browser: Executable,
}

pub(crate) fn run(args: Args) -> anyhow::Result<ExitCode> {
    let mut printer = Printer::on_stdout();
    match story::play(&args, &mut printer) {
        // The reader has closed the pipe.
        Err(error) if is_closed_pipe(&error) => Ok(ExitCode::SUCCESS),
        result => result.map(|()| ExitCode::SUCCESS),
    }
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let kinds = error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<printer::WriteError>());
    kinds
        .into_iter()
        .any(|error| error.0.kind() == io::ErrorKind::BrokenPipe)
}
