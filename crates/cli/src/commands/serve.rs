//! `tabmux serve`: serves MCP clients over HTTP.

mod observing;

use super::token::token_file;
use crate::say::say;
use anyhow::{Context, bail};
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tabmux_daemon_client::{Opening, RemoteSession, SocketPath};
use tabmux_http_server::{Hosts, ServeOptions, Tls, host_name, origin, serve};
use tabmux_mcp::http::{OpenSession, Principal, TokenLimits};
use tabmux_platform::signals::EndSignals;
use tabmux_protocol::session::{ClientInfo, SessionOptions, ToolMode};
use tabmux_stdio_proxy::{log_path, logging, starter};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// Serve MCP clients over streamable HTTP, at /mcp. Each client needs a token of `tabmux token add`. The other flags
/// are those of `tabmux mcp`, and apply to every client.
#[derive(Debug, clap::Args)]
// The flags of `tabmux mcp` have a group of this name.
#[group(skip)]
pub(crate) struct Args {
    /// Listen at this address. An address that other machines reach needs --tlsCert and --tlsKey, or --tlsByProxy.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8766", help_heading = SERVER)]
    listen: SocketAddr,

    /// Speak TLS with the certificate in this PEM file, and those between it and its authority.
    #[arg(long = "tlsCert", alias = "tls-cert", value_name = "FILE", requires = "tls_key", help_heading = SERVER)]
    tls_cert: Option<PathBuf>,

    /// The PEM file with the key of that certificate.
    #[arg(long = "tlsKey", alias = "tls-key", value_name = "FILE", requires = "tls_cert", help_heading = SERVER)]
    tls_key: Option<PathBuf>,

    /// A proxy in front of this server speaks TLS with its clients, and nobody else reaches --listen.
    #[arg(long = "tlsByProxy", alias = "tls-by-proxy", conflicts_with = "tls_cert", help_heading = SERVER)]
    tls_by_proxy: bool,

    /// A host name under which clients, or a reverse proxy, reach the server; may be repeated.
    #[arg(long = "host", value_name = "NAME", value_parser = host_name, help_heading = SERVER)]
    hosts: Vec<String>,

    /// Let pages of this origin use the server with a token; may be repeated.
    #[arg(long = "allowOrigin", alias = "allow-origin", value_name = "ORIGIN", value_parser = origin, help_heading = SERVER)]
    allow_origin: Vec<String>,

    /// End a session that its client has not used for this many minutes.
    #[arg(long = "idleMinutes", alias = "idle-minutes", value_name = "MINUTES", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..), help_heading = SERVER)]
    idle_minutes: u64,

    #[command(flatten)]
    mcp: tabmux_stdio_proxy::Args,
}

pub(crate) fn run(args: Args) -> anyhow::Result<ExitCode> {
    let tls = match (&args.tls_cert, &args.tls_key) {
        (Some(certificate), Some(key)) => Some(Tls::read(certificate, key)?),
        _ => None,
    };
    if !args.listen.ip().is_loopback() && tls.is_none() && !args.tls_by_proxy {
        bail!(
            "--listen {} is an address that other machines reach, where tokens need TLS: name a certificate with \
             --tlsCert and --tlsKey, or say with --tlsByProxy that a proxy in front of it speaks TLS",
            args.listen
        );
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .context("the runtime did not start")?;
    let served = runtime.block_on(serve_until_signalled(args, tls));
    runtime.shutdown_timeout(Duration::from_secs(1));
    served
}

async fn serve_until_signalled(args: Args, tls: Option<Tls>) -> anyhow::Result<ExitCode> {
    let socket_path = SocketPath::choose(args.mcp.socket());
    let daemons = log_path(socket_path.socket());
    logging::start(args.mcp.log_file(), Some(daemons))?;
    tabmux_platform::limits::raise();
    let tokens = token_file();
    let known = tokens.read()?.tokens.len();
    let start = {
        let (port, config) = (args.mcp.port(), args.mcp.config());
        let socket_path = socket_path.clone();
        move || starter(&socket_path, port, config.clone())
    };
    // What is wrong is said now, and not to the first client.
    drop(start()?);
    let options = args
        .mcp
        .options(super::mcp::kinds, super::mcp::origins)
        .map(of_remote_client)?;
    let listener = TcpListener::bind(args.listen).await.with_context(|| {
        format!(
            "{} cannot be listened at; choose another address with --listen",
            args.listen
        )
    })?;
    let address = listener.local_addr()?;
    say(greeting(address, tls.is_some(), known))?;
    let stop = CancellationToken::new();
    let mut signals = EndSignals::new().context("signals cannot be handled")?;
    let ending = stop.clone();
    tokio::spawn(async move {
        signals.next().await;
        ending.cancel();
    });
    let probe = observing::probe(socket_path.clone());
    let opener = Opener {
        socket_path,
        options,
        start: Arc::new(start),
    };
    let mut names = args.hosts;
    // Those of this machine are known, with their port.
    if !address.ip().is_unspecified() && !address.ip().is_loopback() {
        names.push(match address.ip() {
            IpAddr::V4(ip) => ip.to_string(),
            IpAddr::V6(ip) => format!("[{ip}]"),
        });
    }
    let hosts = Hosts::new(address.port(), names, args.allow_origin);
    let options = ServeOptions {
        hosts: match tls.is_some() {
            true => hosts.over_tls(),
            false => hosts,
        },
        tls,
        probe: Some(probe),
        tokens,
        idle: Duration::from_secs(args.idle_minutes.saturating_mul(60)),
    };
    serve(listener, opener, options, stop).await;
    Ok(ExitCode::SUCCESS)
}

/// Opens a session at the daemon for each session of a client.
struct Opener {
    socket_path: SocketPath,
    options: SessionOptions,
    start: Arc<dyn Fn() -> anyhow::Result<tabmux_daemon_client::StartDaemon> + Send + Sync>,
}

impl OpenSession for Opener {
    type Backend = RemoteSession;

    fn open(&self, principal: &Principal) -> Result<RemoteSession, String> {
        Ok(RemoteSession::open(Opening {
            socket_path: self.socket_path.clone(),
            client: ClientInfo {
                name: principal.name.to_string(),
                pid: std::process::id(),
            },
            options: SessionOptions {
                limits: TokenLimits::clone(&principal.limits),
                ..self.options.clone()
            },
            name: None,
            start: (self.start)().map_err(|error| format!("{error:#}"))?,
        }))
    }
}

/// The options of a client whose folders are on another machine, and whose list must not change by itself.
fn of_remote_client(options: SessionOptions) -> SessionOptions {
    SessionOptions {
        tools: ToolMode::Static,
        remote: true,
        folder: None,
        ..options
    }
}

fn greeting(address: SocketAddr, has_tls: bool, tokens: usize) -> String {
    let scheme = if has_tls { "https" } else { "http" };
    let next = match tokens {
        0 => "No client can connect yet: `tabmux token add NAME` makes a token.",
        _ => {
            "Clients connect with `Authorization: Bearer TOKEN`; `tabmux token list` shows the tokens."
        }
    };
    format!("MCP is served at {scheme}://{address}/mcp\n{next}")
}

const SERVER: &str = "Server";
