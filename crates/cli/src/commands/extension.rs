//! `tabmux extension`: puts the extension where Chrome can load it, paired, and tells how it is.

mod folder;
mod pairing;
mod waiting;

pub(crate) use folder::Folder;
pub(crate) use pairing::{AGAIN, Unpaired, paired};

use super::common_flags::Socket;
use crate::say::say;
use anyhow::bail;
use std::process::ExitCode;
use std::time::Duration;
use tabmux_daemon::extension::{Secret, secret_file};
use tabmux_daemon_client::SocketPath;

/// Work in your own Chrome, through an extension that only this machine's tabmux can speak to.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Args {
    /// Write the extension to a folder, tell how Chrome loads it, and wait until it is connected.
    Install(Install),
    /// Tell whether the extension is installed and connected.
    Status(Status),
    /// Make another pairing secret; the old one is worth nothing from then on.
    Rotate,
    /// Remove the extension's folder and the secret.
    Uninstall,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Install {
    /// What you call this browser, for `tabmux mcp --extension --browser NAME`. It stays until another is given;
    /// an empty one takes it away.
    #[arg(long)]
    name: Option<String>,

    /// The daemon's loopback port, 8765 at first. It stays until another is given.
    #[arg(long, value_name = "PORT", env = "TABMUX_PORT")]
    port: Option<u16>,

    /// Wait this many seconds for the extension to connect; 0 means not at all.
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
            "A browser takes the name when it loads the extension. One that has loaded it already keeps its own \
             until you click the extension's reload arrow there.\n",
        )?;
    }
    if args.wait == 0 {
        return Ok(ExitCode::SUCCESS);
    }
    let place = args.socket.place();
    let limit = Duration::from_secs(args.wait);
    let runtime = runtime()?;
    match runtime.block_on(waiting::until_connected(&place, port, limit))? {
        true => {
            say("The extension is connected. Agents reach it with `tabmux mcp --extension`.")?;
            Ok(ExitCode::SUCCESS)
        }
        false => {
            say(
                "It is not connected yet. Once it is loaded it connects by itself; `tabmux extension status` tells.",
            )?;
            Ok(ExitCode::from(NOT_CONNECTED))
        }
    }
}

fn status(args: Status) -> anyhow::Result<ExitCode> {
    let folder = Folder::of_user();
    let place = args.socket.place();
    let connected = runtime()?.block_on(waiting::is_connected(&place))?;
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
                "It is of another version. Run `tabmux extension install`, then reload it in chrome://extensions."
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

/// What to do about an extension that is not connected. Chrome starts it again by itself, unless it has put it out of
/// use after a crash.
pub(crate) const AWAY: &str = "It is not connected. Open the browser that it is loaded in. If that is open, and \
                               this is still so after a minute, click the reload arrow of \"tabmux Browser Tools\" \
                               in chrome://extensions.";

fn rotate() -> anyhow::Result<ExitCode> {
    let folder = Folder::of_user();
    if !folder.is_installed() && !secret_file().exists() {
        bail!("nothing is paired, so there is nothing to change; run `tabmux extension install`");
    }
    let secret = Secret::rotate(&secret_file())?;
    if !folder.is_installed() {
        say(
            "The pairing secret is a new one. The extension is not installed; `tabmux extension install` does it.",
        )?;
        return Ok(ExitCode::SUCCESS);
    }
    folder.pair_anew(&secret)?;
    say(
        "The pairing secret is a new one. Connections that proved the old one are closed; the extension takes \
         up the new one by itself.",
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

/// Whether an extension is connected to the daemon there.
pub(crate) async fn is_connected(place: &SocketPath) -> bool {
    matches!(waiting::is_connected(place).await, Ok(Some(true)))
}

fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
}

const NOT_CONNECTED: u8 = 3;
