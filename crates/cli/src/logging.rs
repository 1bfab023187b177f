//! Where the log goes: standard error, or a file. Never standard output, which carries MCP.

use anyhow::Context;
use std::fs::OpenOptions;
use std::io::IsTerminal;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Mutex;
use tracing_subscriber::EnvFilter;

/// Starts logging. `TABMUX_LOG` chooses what, such as `debug` or `tabmux_browser=trace`.
pub(crate) fn start(file: Option<&Path>) -> anyhow::Result<()> {
    let fallback = if file.is_some() {
        "info,rmcp=error"
    } else {
        "warn,rmcp=error"
    };
    let filter = std::env::var("TABMUX_LOG").unwrap_or_else(|_| fallback.to_owned());
    let filter = EnvFilter::try_new(&filter).context("TABMUX_LOG is not a log filter")?;
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_target(false);
    match file {
        None => log
            .with_writer(std::io::stderr)
            .with_ansi(std::io::stderr().is_terminal())
            .init(),
        Some(path) => {
            let file = OpenOptions::new()
                .create(true)
                .append(true)
                .mode(0o600)
                .open(path);
            let file =
                file.with_context(|| format!("the log file {} cannot be opened", path.display()))?;
            log.with_writer(Mutex::new(file)).with_ansi(false).init();
        }
    }
    Ok(())
}
