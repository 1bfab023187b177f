//! Asks the daemon, if there is one.

use anyhow::{Context, bail};
use std::fs;
use std::io;
use tabmux_daemon_client::{SocketPath, ask};
use tabmux_platform::files::is_socket;
use tabmux_protocol::wire::{FromClient, FromDaemon};

/// The daemon's answer, or `None` if no daemon is running.
pub(crate) async fn ask_daemon(
    socket_path: &SocketPath,
    question: &FromClient,
) -> anyhow::Result<Option<FromDaemon>> {
    match ask(socket_path, question).await {
        Ok(answer) => Ok(Some(answer)),
        Err(error) if means_no_daemon(&error) && is_not_a_socket(socket_path) => bail!(
            "{} is not a socket. Remove it, or choose another path with --socket.",
            socket_path.socket().display()
        ),
        Err(error) if means_no_daemon(&error) => Ok(None),
        Err(error) => Err(error).context("the daemon could not be asked"),
    }
}

/// Whether an error means that no daemon is running.
fn means_no_daemon(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused
    )
}

/// Whether something other than a socket is at the path.
pub(crate) fn is_not_a_socket(socket_path: &SocketPath) -> bool {
    fs::symlink_metadata(socket_path.socket()).is_ok_and(|meta| !is_socket(&meta))
}
