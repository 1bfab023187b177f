//! Asks the daemon, if there is one.

use anyhow::{Context, bail};
use std::fs;
use std::io;
use std::os::unix::fs::FileTypeExt;
use tabmux_daemon_client::{SocketPath, ask};
use tabmux_protocol::wire::{FromClient, FromDaemon};

/// What the daemon answers, or `None` if no daemon is there.
pub(crate) async fn ask_daemon(
    place: &SocketPath,
    question: &FromClient,
) -> anyhow::Result<Option<FromDaemon>> {
    match ask(place, question).await {
        Ok(answer) => Ok(Some(answer)),
        Err(error) if is_nobody(&error) && is_in_the_way(place) => bail!(
            "{} is in the way: it is not a socket. Remove it, or name another place with --socket.",
            place.socket().display()
        ),
        Err(error) if is_nobody(&error) => Ok(None),
        Err(error) => Err(error).context("the daemon could not be asked"),
    }
}

/// Whether an error means that no daemon is there.
fn is_nobody(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused
    )
}

/// Whether what is at the socket's place is something else.
pub(crate) fn is_in_the_way(place: &SocketPath) -> bool {
    fs::symlink_metadata(place.socket()).is_ok_and(|meta| !meta.file_type().is_socket())
}
