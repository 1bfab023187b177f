//! `tabmux daemon`: runs and stops the process that MCP clients share.

mod ending;

use super::ask::ask_daemon;
use super::common_flags::Socket;
use crate::say::say;
use anyhow::{Context, bail};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tabmux_daemon::extension::secret_file;
use tabmux_daemon::listener::{self, Bound, ListenerAccess, PageOrigins};
use tabmux_daemon::policy::{self, PageOrigin};
use tabmux_daemon::socket::{Listening, ServeOptions, serve};
use tabmux_daemon::{Hub, StateFiles};
use tabmux_daemon_client::SocketPath;
use tabmux_protocol::wire::{FromClient, FromDaemon};
use tabmux_stdio_proxy::logging;
use tokio_util::sync::CancellationToken;

/// Run or stop the daemon. `tabmux mcp` starts it by itself.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Args {
    /// Run the daemon in the foreground.
    Run(Run),
    /// Stop the daemon and the browsers it launched.
    Stop(Stop),
}

#[derive(Debug, clap::Args)]
pub(crate) struct Run {
    /// Listen at this socket.
    #[arg(long, value_name = "PATH", env = "TABMUX_SOCKET")]
    socket: Option<PathBuf>,

    /// End after this many seconds without a session; 0 means never.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    idle: u64,

    /// Sessions of a daemon that died have this many seconds to come back before their tabs are
    /// closed.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    grace: u64,

    /// The loopback port for pages; 0 means any free port.
    #[arg(long, value_name = "PORT", default_value_t = DEFAULT_PORT, env = "TABMUX_PORT")]
    port: u16,

    /// Let pages of this origin offer tools, such as `https://example.com`, as long as this daemon runs; may
    /// be repeated. `tabmux policy page-origins` allows it permanently. Pages of this machine always may.
    #[arg(
        long = "allowPageOrigin",
        alias = "allow-page-origin",
        value_name = "ORIGIN"
    )]
    allow_page_origin: Vec<PageOrigin>,

    /// Let browsers of other users of this machine connect to the port. Needed only where your browser runs as
    /// another user than the daemon.
    #[arg(
        long = "allowOtherUsers",
        alias = "allow-other-users",
        env = "TABMUX_ALLOW_OTHER_USERS"
    )]
    allow_other_users: bool,

    /// Read settings from this file instead of the usual tabmux.toml. See `tabmux config`.
    #[arg(long, value_name = "FILE", env = "TABMUX_CONFIG")]
    config: Option<PathBuf>,

    /// Write the log to this file instead of standard error.
    #[arg(long = "logFile", alias = "log-file", value_name = "FILE")]
    log_file: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Stop {
    #[command(flatten)]
    socket: Socket,
}

pub(crate) fn run(args: Args) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .context("the runtime did not start")?;
    let result = match args {
        Args::Run(args) => runtime.block_on(run_daemon(args)),
        Args::Stop(args) => runtime.block_on(stop(args)),
    };
    // Tasks that still hang are dropped with the process.
    runtime.shutdown_timeout(LAST_WAIT);
    result
}

async fn run_daemon(args: Run) -> anyhow::Result<ExitCode> {
    let socket_path = SocketPath::choose(args.socket);
    // The log may be in the folder of the socket, which may not exist yet.
    socket_path.prepare()?;
    logging::start(args.log_file.as_deref(), None)?;
    tabmux_platform::limits::raise();
    let listening = Listening::start_after_another(&socket_path).await;
    let listening = listening.inspect_err(|error| tracing::warn!(%error, "not the daemon"))?;
    let stop = CancellationToken::new();
    ending::watch(stop.clone())?;
    let hub = Arc::new(Hub::start_shared(StateFiles {
        audit: socket_path.sibling("audit.jsonl"),
        memory: socket_path.sibling("sessions.json"),
        policy: policy::usual_place(),
        grace: Duration::from_secs(args.grace),
    }));
    hub.is_build(env!("TABMUX_VERSION"));
    if super::extension::Folder::of_user().is_installed() {
        hub.expect_extension();
    }
    let access = ListenerAccess {
        origins: PageOrigins::of(args.allow_page_origin).and_in_file(policy::usual_place()),
        secret: secret_file(),
        other_users: args.allow_other_users,
    };
    // The listener stops last: sessions that end with the daemon still close tabs through the extension.
    let listener_stop = CancellationToken::new();
    let page_listener = match Bound::take(args.port).await {
        Ok(bound) => {
            hub.listens_at(bound.port());
            tracing::info!(port = bound.port(), "pages and extensions can connect");
            let serving = listener::serve(bound, Arc::clone(&hub), access, listener_stop.clone());
            Some(tokio::spawn(serving))
        }
        // Everything else works without the listener.
        Err(error) => {
            tracing::warn!(%error, "no listener for pages and extensions");
            None
        }
    };
    let idle = (args.idle > 0).then(|| Duration::from_secs(args.idle));
    tracing::info!(socket = %socket_path.socket().display(), "the daemon is up");
    let held = serve(listening, Arc::clone(&hub), ServeOptions { idle }, stop).await;
    let end = async {
        hub.shut_down().await;
        listener_stop.cancel();
        // Free the port for the next daemon.
        if let Some(page_listener) = page_listener {
            let _ = page_listener.await;
        }
    };
    held.until(end).await;
    Ok(ExitCode::SUCCESS)
}

async fn stop(args: Stop) -> anyhow::Result<ExitCode> {
    let socket_path = args.socket.path();
    match ask_daemon(&socket_path, &FromClient::Stop { id: "stop".into() }).await? {
        Some(FromDaemon::Stopping { .. }) => say("The daemon is stopping.")?,
        Some(_) => bail!(
            "the process listening at {} is not a tabmux daemon; run `tabmux doctor`",
            socket_path.socket().display()
        ),
        None => say("No daemon is running.")?,
    }
    Ok(ExitCode::SUCCESS)
}

const LAST_WAIT: Duration = Duration::from_secs(1);

/// The port at which pages expect the daemon.
pub(crate) const DEFAULT_PORT: u16 = 8765;
