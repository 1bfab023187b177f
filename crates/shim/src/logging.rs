//! Where the log goes: standard error, or a file. Never standard output, which carries MCP.

use anyhow::Context;
use std::fs::OpenOptions;
use std::io::IsTerminal;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::str::FromStr;
use std::sync::Mutex;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Starts logging. `TABMUX_LOG` chooses what, such as `debug` or `tabmux_browser=trace`.
///
/// # Errors
/// When the file cannot be opened, or the choice cannot be read.
pub fn start(file: Option<&Path>) -> anyhow::Result<()> {
    let fallback = if file.is_some() {
        "info,rmcp=error"
    } else {
        "warn,rmcp=error"
    };
    let filter = std::env::var("TABMUX_LOG").unwrap_or_else(|_| fallback.to_owned());
    let filter = Targets::from_str(&filter).context("TABMUX_LOG is not a log filter")?;
    let log = tracing_subscriber::fmt::layer().with_target(false);
    let all = tracing_subscriber::registry().with(filter);
    match file {
        None => {
            let ansi = std::io::stderr().is_terminal();
            all.with(log.with_writer(std::io::stderr).with_ansi(ansi))
                .init();
        }
        Some(path) => {
            let file = OpenOptions::new()
                .create(true)
                .append(true)
                .mode(0o600)
                .open(path);
            let file =
                file.with_context(|| format!("the log file {} cannot be opened", path.display()))?;
            all.with(log.with_writer(Mutex::new(file)).with_ansi(false))
                .init();
        }
    }
    Ok(())
}
