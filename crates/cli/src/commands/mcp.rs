//! `tabmux mcp`: serves one MCP client over stdin and stdout.

use super::daemon;
use crate::flags::{BrowserFlags, CategoryFlags};
use crate::logging;
use anyhow::{Context, anyhow, bail};
use clap::ValueEnum;
use std::future::Future;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tabmux_daemon::DirectSession;
use tabmux_daemon::socket::{Opening, Place, RemoteSession};
use tabmux_mcp::ServeError;
use tabmux_protocol::session::{ClientInfo, OnSessionEnd, SessionOptions, TabPolicy, ToolMode};
use tokio::signal::unix::{SignalKind, signal};

/// Serve an MCP client over stdin and stdout. MCP clients start this.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    browser: BrowserFlags,

    /// Which tools are listed: `progressive` follows the state, from one tool to those of the focused
    /// tab; `static` is one list that stands; `auto` takes what suits the client.
    #[arg(long, value_enum, default_value_t = Tools::Auto)]
    tools: Tools,

    /// What becomes of the tabs that this client opened when it goes.
    #[arg(long = "onSessionEnd", alias = "on-session-end", value_enum, default_value_t = AtEnd::Close)]
    on_session_end: AtEnd,

    /// Who may use the tabs that this client holds: whoever names one (and is told so), nobody else,
    /// or everybody.
    #[arg(long = "tabPolicy", alias = "tab-policy", value_enum, default_value_t = Policy::Respect)]
    tab_policy: Policy,

    /// Whether generic page actions (click, fill, take_snapshot, …) are listed while a tab is focused.
    #[arg(long = "pageActions", alias = "page-actions", value_enum, default_value_t = Switch::On)]
    page_actions: Switch,

    /// How many tools are generated from a page at most, or `off`.
    #[arg(long = "generatedTools", alias = "generated-tools", value_name = "N|off", value_parser = generated_tools, default_value = "30")]
    generated_tools: u16,

    #[command(flatten)]
    categories: CategoryFlags,

    /// Do everything in this process instead of the shared daemon.
    #[arg(long = "no-daemon", alias = "noDaemon")]
    no_daemon: bool,

    /// The daemon's socket.
    #[arg(
        long,
        value_name = "PATH",
        env = "TABMUX_SOCKET",
        conflicts_with = "no_daemon"
    )]
    socket: Option<PathBuf>,

    /// The loopback port for pages of a daemon that is started; 0 takes any that is free.
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,

    /// How calls of pages' own tools find their tab: `smart` takes one that has the tool, the one in
    /// front first; `hybrid` always takes the one in front.
    #[arg(long, value_enum, default_value_t = Route::Smart)]
    routing: Route,

    /// Write the log to this file instead of standard error.
    #[arg(long = "logFile", alias = "log-file", value_name = "FILE")]
    log_file: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Tools {
    Auto,
    Progressive,
    Static,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum AtEnd {
    Close,
    Keep,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Policy {
    Respect,
    Exclusive,
    Shared,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Route {
    Smart,
    Hybrid,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Switch {
    On,
    Off,
}

fn generated_tools(text: &str) -> Result<u16, String> {
    let number = match text {
        "off" => Some(0),
        number => number.parse().ok(),
    };
    number
        .filter(|number| *number <= MOST_GENERATED)
        .ok_or_else(|| format!("write `off` or a number up to {MOST_GENERATED}"))
}

pub(crate) fn run(args: Args) -> anyhow::Result<ExitCode> {
    logging::start(args.log_file.as_deref())?;
    tracing::warn!("{WARNING}");
    let browser = args.browser.options()?;
    if args.no_daemon && browser.extension {
        bail!(
            "--extension needs the daemon, which the extension connects to; leave --no-daemon out"
        );
    }
    let options = SessionOptions {
        browser,
        tools: match args.tools {
            Tools::Auto => ToolMode::Auto,
            Tools::Progressive => ToolMode::Progressive,
            Tools::Static => ToolMode::Static,
        },
        on_session_end: match args.on_session_end {
            AtEnd::Close => OnSessionEnd::Close,
            AtEnd::Keep => OnSessionEnd::Keep,
        },
        tab_policy: match args.tab_policy {
            Policy::Respect => TabPolicy::Respect,
            Policy::Exclusive => TabPolicy::Exclusive,
            Policy::Shared => TabPolicy::Shared,
        },
        page_actions: args.page_actions == Switch::On,
        generated_tools: Some(args.generated_tools),
        categories: args.categories.chosen()?,
        hybrid_routing: args.routing == Route::Hybrid,
        folder: std::env::current_dir().ok(),
    };
    // All that is done here for a daemon is to pass messages on; one thread is smaller and faster.
    let mut builder = match args.no_daemon {
        true => tokio::runtime::Builder::new_multi_thread(),
        false => tokio::runtime::Builder::new_current_thread(),
    };
    let runtime = builder
        .worker_threads(2)
        .enable_all()
        .build()
        .context("the runtime did not start")?;
    let result = if args.no_daemon {
        runtime.block_on(serve_here(options))
    } else {
        runtime.block_on(serve_through_daemon(
            options,
            Place::choose(args.socket),
            args.port,
        ))
    };
    // A read of a terminal blocks a thread for ever; nothing of ours waits for it.
    runtime.shutdown_timeout(Duration::ZERO);
    result
}

/// Serves from this process, then ends what it launched.
async fn serve_here(options: SessionOptions) -> anyhow::Result<ExitCode> {
    let session = Arc::new(DirectSession::new(options).map_err(|why| anyhow!(why))?);
    let served = until_signalled(tabmux_mcp::serve_stdio::<DirectSession>(Arc::clone(
        &session,
    )))
    .await;
    session.shut_down().await;
    ended(served?)
}

/// Serves from the daemon, which is started if there is none.
async fn serve_through_daemon(
    options: SessionOptions,
    place: Place,
    port: Option<u16>,
) -> anyhow::Result<ExitCode> {
    let client = ClientInfo {
        name: parent_name(),
        pid: std::process::id(),
    };
    let start = daemon::starter(&place, port)?;
    let session = RemoteSession::open(Opening {
        place,
        client,
        options,
        name: None,
        start,
    });
    ended(until_signalled(tabmux_mcp::serve_stdio(session)).await?)
}

async fn until_signalled(
    serving: impl Future<Output = Result<(), ServeError>>,
) -> anyhow::Result<Result<(), ServeError>> {
    let mut terminate = signal(SignalKind::terminate()).context("signals cannot be handled")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("signals cannot be handled")?;
    Ok(tokio::select! {
        served = serving => served,
        _ = terminate.recv() => Ok(()),
        _ = interrupt.recv() => Ok(()),
    })
}

fn ended(served: Result<(), ServeError>) -> anyhow::Result<ExitCode> {
    match served {
        // A client that died cannot be told anything.
        Ok(())
        | Err(ServeError::Write {
            kind: std::io::ErrorKind::BrokenPipe,
        }) => Ok(ExitCode::SUCCESS),
        Err(error) => Err(error.into()),
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

/// A tab offers no more tools than this, whoever found them.
const MOST_GENERATED: u16 = 60;
