//! The process of one MCP client: MCP on one side, the daemon's socket on the other.
//!
//! Every client has such a process, and most of its memory is code: the system loads code in pieces
//! of 64 kB, however little of a piece is used. So everything that such a process runs is in this
//! crate and the crates below it, apart from code that only the daemon needs; the linker keeps the
//! code of one crate together, generic code included.

pub mod flags;
pub mod logging;

mod args;
mod start;

pub use args::{Args, Complete};
pub use start::{log_path, starter};

use anyhow::Context;
use std::future::Future;
use std::io::ErrorKind;
use std::time::Duration;
use tabmux_daemon_client::{Opening, RemoteSession, SocketPath};
use tabmux_mcp::ServeError;
use tabmux_platform::process;
use tabmux_platform::signals::EndSignals;
use tabmux_protocol::session::{ClientInfo, SessionOptions};

/// Functions of the `tabmux` binary for rare cases, whose code is kept out of this crate.
#[derive(Clone, Copy, Debug)]
pub struct Fallbacks {
    /// Serves the client without a daemon.
    pub serve_here: fn(SessionOptions) -> anyhow::Result<()>,
    /// The existing categories of tools.
    pub kinds: fn() -> Vec<flags::Kind>,
    /// Parses the origins in a flag. The error is a sentence.
    pub origins: flags::ReadOrigins,
}

/// `tabmux mcp`: serves the client at stdin and stdout until it disconnects or a signal comes.
///
/// # Errors
/// When flags contradict each other, nothing can be served, or a stream broke.
pub fn run(mut args: Args, fallbacks: Fallbacks) -> anyhow::Result<()> {
    let socket_path = SocketPath::choose(args.socket.take());
    let daemons = log_path(socket_path.socket());
    logging::start(args.log_file.as_deref(), Some(daemons))?;
    tracing::warn!("{WARNING}");
    for note in &args.notes {
        tracing::warn!("{note}");
    }
    let (no_daemon, port) = (args.no_daemon, args.port);
    let config = args.config.take();
    let options = args.options(fallbacks.kinds, fallbacks.origins)?;
    if no_daemon {
        return (fallbacks.serve_here)(options);
    }
    serve_through_daemon(Opening {
        start: starter(&socket_path, port, config)?,
        socket_path,
        client: ClientInfo {
            name: parent_name(),
            pid: std::process::id(),
        },
        options,
        name: None,
    })
}

fn serve_through_daemon(opening: Opening) -> anyhow::Result<()> {
    // This process only passes messages on; one thread is smaller and faster.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("the runtime did not start")?;
    let served = runtime.block_on(until_signalled(async {
        tabmux_mcp::serve_stdio(RemoteSession::open(opening)).await
    }));
    // A blocked read from a terminal never returns; do not wait for its thread.
    runtime.shutdown_timeout(Duration::ZERO);
    served
}

/// Serves until `serving` ends or a signal comes.
///
/// # Errors
/// Those of `serving`, except that the client has closed its pipe.
pub async fn until_signalled(
    serving: impl Future<Output = Result<(), ServeError>>,
) -> anyhow::Result<()> {
    let mut signals = EndSignals::new().context("signals cannot be handled")?;
    let served = tokio::select! {
        served = serving => served,
        () = signals.next() => Ok(()),
    };
    match served {
        Err(ServeError::Write {
            kind: ErrorKind::BrokenPipe,
        }) => Ok(()),
        served => Ok(served?),
    }
}

/// The program of our parent process: the name of the session until the handshake.
fn parent_name() -> String {
    let name = process::name(process::own_parent()).filter(|name| !name.is_empty());
    name.unwrap_or_else(|| "an MCP client".to_owned())
}

/// Logged at every start, for users who read the log of their client's servers.
const WARNING: &str = "the client and its agent can see and change everything in the browser that \
                       tabmux connects to; do not use that browser for anything they should not see";
