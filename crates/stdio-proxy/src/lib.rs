//! The process of one MCP client: MCP on one side, the daemon's socket on the other.
//!
//! Every client has such a process, and most of what it weighs is code: the system brings it into
//! memory 64 kB at a time, however little of that is used. So all that such a process runs is made
//! here and in the crates below, away from what only the daemon needs; the linker puts into one
//! place what one crate has made, generic code included.

pub mod flags;
pub mod logging;

mod args;
mod start;

pub use args::Args;
pub use start::{log_beside, starter};

use anyhow::Context;
use std::future::Future;
use std::io::ErrorKind;
use std::time::Duration;
use tabmux_daemon_client::{Opening, RemoteSession, SocketPath};
use tabmux_mcp::ServeError;
use tabmux_protocol::session::{ClientInfo, SessionOptions};
use tokio::signal::unix::{SignalKind, signal};

/// What is seldom needed, and so is not here.
#[derive(Clone, Copy, Debug)]
pub struct Fallbacks {
    /// Serves the client without a daemon.
    pub serve_here: fn(SessionOptions) -> anyhow::Result<()>,
    /// The kinds of tools that there are.
    pub kinds: fn() -> Vec<flags::Kind>,
    /// Reads the origins in a flag. Fails, in words, on what is none.
    pub origins: flags::ReadOrigins,
}

/// `tabmux mcp`: serves the client at stdin and stdout until it goes or a signal comes.
///
/// # Errors
/// When flags contradict each other, nothing can be served, or a stream broke.
pub fn run(mut args: Args, elsewhere: Fallbacks) -> anyhow::Result<()> {
    logging::start(args.log_file.as_deref())?;
    tracing::warn!("{WARNING}");
    for note in &args.notes {
        tracing::warn!("{note}");
    }
    let place = SocketPath::choose(args.socket.take());
    let (no_daemon, port) = (args.no_daemon, args.port);
    let options = args.options(elsewhere.kinds, elsewhere.origins)?;
    if no_daemon {
        return (elsewhere.serve_here)(options);
    }
    serve_through_daemon(Opening {
        start: starter(&place, port)?,
        place,
        client: ClientInfo {
            name: parent_name(),
            pid: std::process::id(),
        },
        options,
        name: None,
    })
}

fn serve_through_daemon(opening: Opening) -> anyhow::Result<()> {
    // All that is done here is to pass messages on; one thread is smaller and faster.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("the runtime did not start")?;
    let served = runtime.block_on(until_signalled(async {
        tabmux_mcp::serve_stdio(RemoteSession::open(opening)).await
    }));
    // A read of a terminal blocks a thread for ever; nothing of ours waits for it.
    runtime.shutdown_timeout(Duration::ZERO);
    served
}

/// Serves until that ends, or a signal comes.
///
/// # Errors
/// Those of serving, except that the client is gone: it cannot be told anything.
pub async fn until_signalled(
    serving: impl Future<Output = Result<(), ServeError>>,
) -> anyhow::Result<()> {
    let mut terminate = signal(SignalKind::terminate()).context("signals cannot be handled")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("signals cannot be handled")?;
    let served = tokio::select! {
        served = serving => served,
        _ = terminate.recv() => Ok(()),
        _ = interrupt.recv() => Ok(()),
    };
    match served {
        Err(ServeError::Write {
            kind: ErrorKind::BrokenPipe,
        }) => Ok(()),
        served => Ok(served?),
    }
}

/// Who started us, as a first name for the session: the program of our parent process.
fn parent_name() -> String {
    let parent = std::os::unix::process::parent_id();
    let name = std::fs::read_to_string(format!("/proc/{parent}/comm")).unwrap_or_default();
    match name.trim() {
        "" => "an MCP client".to_owned(),
        name => name.to_owned(),
    }
}

/// Said at every start, to whoever reads the log of a client's servers.
const WARNING: &str = "the client and its agent can see and change everything in the browser that \
                       tabmux connects to; keep out of it what they should not know";
