//! Where the log goes: standard error, or a file. Never standard output, which carries MCP.

mod masked;
mod panics;
mod queue;

use anyhow::Context;
use masked::Masked;
use queue::{Flusher, Queue};
use std::fs::{self, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Mutex, OnceLock};
use std::time::Duration;
use tabmux_daemon_client::RotatedFile;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Starts logging. `TABMUX_LOG` chooses what, such as `debug` or `tabmux_browser=trace`. Panics are always logged, also
/// in the daemon's log if the path of that is given: it is what `tabmux logs` prints.
///
/// # Errors
/// When the file cannot be opened, or the choice cannot be read.
pub fn start(file: Option<&Path>, daemons: Option<PathBuf>) -> anyhow::Result<()> {
    let fallback = if file.is_some() {
        "info,rmcp=error"
    } else {
        "warn,rmcp=error"
    };
    let filter = std::env::var("TABMUX_LOG").unwrap_or_else(|_| fallback.to_owned());
    let filter = Targets::from_str(&filter).context("TABMUX_LOG is not a log filter")?;
    let filter = filter.with_target(panics::TARGET, LevelFilter::ERROR);
    let log = tracing_subscriber::fmt::layer().with_target(false);
    let all = tracing_subscriber::registry().with(filter);
    match file {
        None => {
            let ansi = io::stderr().is_terminal();
            let log = log.with_writer(|| Masked(io::stderr()));
            all.with(log.with_ansi(ansi)).init();
        }
        Some(path) => {
            let file = open(path)
                .with_context(|| format!("the log file {} cannot be opened", path.display()))?;
            let queue = Queue::start(file).context("the log did not start")?;
            let _ = FLUSHER.set(queue.flusher());
            all.with(log.with_writer(Mutex::new(Masked(queue))).with_ansi(false))
                .init();
        }
    }
    panics::log_panics(daemons);
    Ok(())
}

/// Waits at the end of the process until the log is written, but not for a disk that hangs.
pub fn finish() {
    if let Some(flusher) = FLUSHER.get() {
        flusher.flush(LAST_WAIT);
    }
}

/// Opens a regular file with rotation, because pages can cause log lines without end. Anything else, such as
/// `/dev/stderr`, must not be renamed and is opened as it is.
fn open(path: &Path) -> io::Result<Box<dyn Write + Send>> {
    let is_special = fs::symlink_metadata(path).is_ok_and(|it| !it.is_file());
    Ok(match is_special {
        true => Box::new(OpenOptions::new().append(true).open(path)?),
        false => Box::new(RotatedFile::open(path)?),
    })
}

static FLUSHER: OnceLock<Flusher> = OnceLock::new();
const LAST_WAIT: Duration = Duration::from_millis(500);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_may_go_to_a_device() {
        for path in ["/dev/null", "/dev/fd/2"] {
            open(Path::new(path)).unwrap().write_all(b"\n").unwrap();
        }
        assert!(open(Path::new("/no/such/folder/log")).is_err());
    }
}
