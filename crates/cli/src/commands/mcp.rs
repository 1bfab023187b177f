//! `tabmux mcp`: serves one MCP client over stdin and stdout.

use crate::flags::BrowserFlags;
use crate::logging;
use anyhow::Context;
use clap::ValueEnum;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use tabmux_daemon::{Hub, SessionOptions};
use tabmux_mcp::ServeError;
use tokio::signal::unix::{SignalKind, signal};

/// Serve an MCP client over stdin and stdout. MCP clients start this.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    browser: BrowserFlags,

    /// Which tools are listed: `progressive` follows the state, from one tool to those of the focused tab.
    #[arg(long, value_enum, default_value_t = Tools::Progressive)]
    tools: Tools,

    /// Whether generic page actions (click, fill, take_snapshot, …) are listed while a tab is focused.
    #[arg(long = "pageActions", alias = "page-actions", value_enum, default_value_t = Switch::On)]
    page_actions: Switch,

    /// Do everything in this process instead of a shared daemon. The only way so far.
    #[arg(long = "no-daemon", alias = "noDaemon")]
    no_daemon: bool,

    /// Write the log to this file instead of standard error.
    #[arg(long = "logFile", alias = "log-file", value_name = "FILE")]
    log_file: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Tools {
    Progressive,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Switch {
    On,
    Off,
}

pub(crate) fn run(args: Args) -> anyhow::Result<ExitCode> {
    logging::start(args.log_file.as_deref())?;
    let options = SessionOptions {
        browser: args.browser.plan()?,
        page_actions: args.page_actions == Switch::On,
        folder: std::env::current_dir().ok(),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .context("the runtime did not start")?;
    let result = runtime.block_on(serve(options));
    // A read of a terminal blocks a thread for ever; nothing of ours waits for it.
    runtime.shutdown_timeout(Duration::ZERO);
    result
}

/// Serves until the client closes stdin or somebody ends us, then ends what we launched.
async fn serve(options: SessionOptions) -> anyhow::Result<ExitCode> {
    let hub = Hub::start();
    let session = hub.open(options).await;
    let mut terminate = signal(SignalKind::terminate()).context("signals cannot be handled")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("signals cannot be handled")?;
    let served = tokio::select! {
        served = tabmux_mcp::serve_stdio(session) => served,
        _ = terminate.recv() => Ok(()),
        _ = interrupt.recv() => Ok(()),
    };
    hub.shut_down().await;
    match served {
        // A client that died cannot be told anything.
        Ok(()) | Err(ServeError::Write { kind: std::io::ErrorKind::BrokenPipe }) => Ok(ExitCode::SUCCESS),
        Err(error) => Err(error.into()),
    }
}
