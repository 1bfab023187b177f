//! `tabmux extension`: writes the paired extension to a folder that Chrome can load, and shows its state.

mod folder;
mod pairing;
mod waiting;

pub(crate) use folder::Folder;
pub(crate) use pairing::{REINSTALL, Unpaired, paired};

use super::common_flags::Socket;
use crate::say::say;
use anyhow::bail;
use std::process::ExitCode;
use std::time::Duration;
use tabmux_daemon::extension::{Secret, secret_file};
use tabmux_daemon_client::SocketPath;

/// Work in your own Chrome, through an extension that only tabmux on this machine can control.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Args {
    /// Write the extension to a folder, explain how to load it in Chrome, and wait until it connects.
    Install(Install),
    /// Show whether the extension is installed and connected.
    Status(Status),
    /// Replace the pairing secret; the old one becomes invalid.
    Rotate,
    /// Remove the extension's folder and the secret.
    Uninstall,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Install {
    /// A name for this browser, for `tabmux mcp --extension --browser NAME`. Kept until you give another; an empty
    /// name removes it.
    #[arg(long)]
    name: Option<String>,

    /// The daemon's loopback port, 8765 by default. Kept until you give another.
    #[arg(long, value_name = "PORT", env = "TABMUX_PORT")]
    port: Option<u16>,

    /// Wait this many seconds for the extension to connect; 0 does not wait.
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    wait: u64,

    #[command(flatten)]
    socket: Socket,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Status {
    /// Print JSON instead of sentences.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    socket: Socket,
}

pub(crate) fn run(args: Args) -> anyhow::Result<ExitCode> {
    match args {
        Args::Install(args) => install(args),
        Args::Status(args) => status(args),
        Args::Rotate => rotate(),
        Args::Uninstall => uninstall(),
    }
}

fn install(args: Install) -> anyhow::Result<ExitCode> {
    let folder = Folder::of_user();
    let secret = Secret::load_or_make(&secret_file())?;
    let port = folder.write(&secret, args.port, args.name.as_deref())?;
    say(format!(
        "The extension is in {}\n\nLoad it in Chrome, once:\n  1. Open chrome://extensions and switch on \
         \"Developer mode\", at the top right.\n  2. Click \"Load unpacked\" and choose that folder.\n",
        folder.path().display()
    ))?;
    if args.name.is_some() {
        say(
            "A browser takes the name when it loads the extension. A browser that has already loaded it keeps its old \
             name until you click the extension's reload arrow there.\n",
        )?;
    }
    if args.wait == 0 {
        return Ok(ExitCode::SUCCESS);
    }
    let socket_path = args.socket.path();
    let limit = Duration::from_secs(args.wait);
    let runtime = runtime()?;
    match runtime.block_on(waiting::until_connected(&socket_path, port, limit))? {
        true => {
            say("The extension is connected. Agents reach it with `tabmux mcp --extension`.")?;
            Ok(ExitCode::SUCCESS)
        }
        false => {
            say(
                "It is not connected yet. Once loaded, it connects by itself; check with `tabmux extension status`.",
            )?;
            Ok(ExitCode::from(NOT_CONNECTED))
        }
    }
}

fn status(args: Status) -> anyhow::Result<ExitCode> {
    let folder = Folder::of_user();
    let socket_path = args.socket.path();
    let connected = runtime()?.block_on(waiting::is_connected(&socket_path))?;
    let pairing = paired(&folder, Secret::load(&secret_file()));
    if args.json {
        let facts = serde_json::json!({
            "installed": folder.is_installed(), "upToDate": folder.is_up_to_date(),
            "folder": folder.path(), "paired": pairing.is_ok(), "daemon": connected.is_some(),
            "connected": connected == Some(true),
        });
        say(format!("{facts:#}"))?;
    } else {
        let installed = match (folder.is_installed(), folder.is_up_to_date()) {
            (false, _) => "It is not installed. Run `tabmux extension install`.",
            (true, false) => {
                "It is another version than tabmux. Run `tabmux extension install`, then reload it in chrome://extensions."
            }
            (true, true) => "It is installed.",
        };
        let state = match connected {
            Some(true) => "It is connected.",
            Some(false) => AWAY,
            None => {
                "No daemon is running, so it cannot be connected. An MCP client starts one with `tabmux mcp`."
            }
        };
        say(installed)?;
        if folder.is_installed() || connected == Some(true) {
            say(state)?;
            if let Err(Unpaired { finding, advice }) = pairing {
                say(format!("It is not paired. {finding} {advice}"))?;
            }
        }
    }
    Ok(match connected {
        Some(true) => ExitCode::SUCCESS,
        _ => ExitCode::from(NOT_CONNECTED),
    })
}

/// Advice for an extension that is not connected. Chrome restarts it by itself, unless Chrome has disabled it after a
/// crash.
pub(crate) const AWAY: &str = "It is not connected. Open the browser in which it is loaded. If it is still not \
                               connected after a minute, click the reload arrow of \"tabmux Browser Tools\" \
                               in chrome://extensions.";

fn rotate() -> anyhow::Result<ExitCode> {
    let folder = Folder::of_user();
    if !folder.is_installed() && !secret_file().exists() {
        bail!("no extension is paired; run `tabmux extension install`");
    }
    let secret = Secret::rotate(&secret_file())?;
    if !folder.is_installed() {
        say(
            "The pairing secret was replaced. The extension is not installed; run `tabmux extension install`.",
        )?;
        return Ok(ExitCode::SUCCESS);
    }
    folder.replace_secret(&secret)?;
    say(
        "The pairing secret was replaced. Connections that used the old one are closed; the extension picks up \
         the new one by itself.",
    )?;
    Ok(ExitCode::SUCCESS)
}

fn uninstall() -> anyhow::Result<ExitCode> {
    let folder = Folder::of_user();
    if !folder.path().exists() && !secret_file().exists() {
        say("The extension is not installed, so nothing was removed.")?;
        return Ok(ExitCode::SUCCESS);
    }
    folder.remove()?;
    match std::fs::remove_file(secret_file()) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
        _ => {}
    }
    say(format!(
        "Removed {} and the pairing secret. Remove \"tabmux Browser Tools\" in chrome://extensions, too.",
        folder.path().display()
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// Whether an extension is connected to the daemon at that socket.
pub(crate) async fn is_connected(socket_path: &SocketPath) -> bool {
    matches!(waiting::is_connected(socket_path).await, Ok(Some(true)))
}

fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
}

const NOT_CONNECTED: u8 = 3;
