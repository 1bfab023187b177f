//! `tabmux mcp`: serves one MCP client over stdin and stdout.

use anyhow::{Context, anyhow};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tabmux_browser::{OriginPattern, tools};
use tabmux_daemon::DirectSession;
use tabmux_protocol::session::SessionOptions;
use tabmux_stdio_proxy::flags::Kind;
use tabmux_stdio_proxy::{Args, Fallbacks, until_signalled};

pub(crate) fn run(args: Args) -> anyhow::Result<ExitCode> {
    let fallbacks = Fallbacks {
        serve_here,
        kinds,
        origins,
    };
    tabmux_stdio_proxy::run(args, fallbacks)?;
    Ok(ExitCode::SUCCESS)
}

/// Serves the client without a daemon, then closes the browsers that were launched.
fn serve_here(options: SessionOptions) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .context("the runtime did not start")?;
    let served = runtime.block_on(async {
        let session = Arc::new(DirectSession::new(options).map_err(|why| anyhow!(why))?);
        let serving = tabmux_mcp::serve_stdio::<DirectSession>(Arc::clone(&session));
        let served = until_signalled(serving).await;
        session.shut_down().await;
        served
    });
    // A blocked read from a terminal never returns; do not wait for its thread.
    runtime.shutdown_timeout(Duration::ZERO);
    served
}

pub(super) fn kinds() -> Vec<Kind> {
    let kind = |tool: &tools::ToolSpec| Kind {
        name: tool.category.name(),
        opt_in: tool.opt_in,
    };
    tools::all().iter().map(kind).collect()
}

/// The origins in a flag, parsed as the daemon does.
pub(super) fn origins(text: &str) -> Result<Vec<String>, String> {
    let patterns = OriginPattern::parse_all(text).map_err(|error| error.to_string())?;
    Ok(patterns.iter().map(ToString::to_string).collect())
}
