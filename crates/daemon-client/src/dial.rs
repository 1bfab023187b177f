//! A connection to the daemon's socket, before there is a session.

use crate::lines::{self, LineReader, LineWriter};
use crate::socket_path::SocketPath;
use std::io;
use std::time::Duration;
use tabmux_platform::socket::{Stream, peer};
use tabmux_platform::user::own_uid;
use tabmux_protocol::wire::{FromClient, FromDaemon};
use tokio::time::timeout;

/// Connects, and checks that the process at the other end belongs to our user before sending anything.
pub(crate) async fn dial(socket_path: &SocketPath) -> io::Result<(LineReader, LineWriter)> {
    let stream = Stream::connect(socket_path.socket()).await?;
    if peer(&stream)?.uid != own_uid() {
        let whose = format!(
            "the socket {} belongs to another user",
            socket_path.socket().display()
        );
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, whose));
    }
    Ok(lines::split(stream))
}

/// Stops an idle daemon of another version, so that one of ours can start. A daemon with sessions stays. If it speaks
/// another protocol, it refuses to register us, and says why.
pub(crate) async fn replace_if_outdated(
    reader: &mut LineReader,
    writer: &mut LineWriter,
) -> io::Result<()> {
    let id = || "hello".to_owned();
    writer.send(&FromClient::Ping { id: id() }).await?;
    let FromDaemon::Pong {
        version: theirs, ..
    } = answer(reader).await?
    else {
        return Err(io::Error::other(NO_DAEMON));
    };
    let ours = env!("CARGO_PKG_VERSION");
    if theirs == ours {
        return Ok(());
    }
    writer.send(&FromClient::Status { id: id() }).await?;
    let FromDaemon::StatusOk {
        active_sessions, ..
    } = answer(reader).await?
    else {
        return Err(io::Error::other(NO_DAEMON));
    };
    if active_sessions > 0 {
        tracing::warn!(
            daemon = theirs,
            client = ours,
            "the daemon has another version and is in use; it is replaced when it is idle"
        );
        return Ok(());
    }
    tracing::info!(
        daemon = theirs,
        client = ours,
        "replacing an idle daemon of another version"
    );
    writer.send(&FromClient::Stop { id: id() }).await?;
    let hangs_up = async { while reader.next().await.is_some() {} };
    // If it does not end, starting the next daemon fails with the reason.
    let _ = timeout(ANSWER_LIMIT, hangs_up).await;
    Err(io::ErrorKind::ConnectionRefused.into())
}

/// The daemon's next message.
pub(crate) async fn answer(reader: &mut LineReader) -> io::Result<FromDaemon> {
    match timeout(ANSWER_LIMIT, reader.next()).await {
        Ok(Some(Ok(line))) => FromDaemon::parse(&line).map_err(|_| io::Error::other(NO_DAEMON)),
        Ok(Some(Err(why))) => Err(io::Error::other(why)),
        // A daemon that is just ending closes the connection.
        Ok(None) => Err(io::ErrorKind::ConnectionRefused.into()),
        Err(_) => Err(io::Error::other("the daemon does not answer")),
    }
}

/// Whether an error means that no daemon is running, rather than that one refuses us.
pub(crate) fn means_no_daemon(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionRefused, ConnectionReset, NotFound};
    matches!(
        error.kind(),
        ConnectionRefused | ConnectionReset | BrokenPipe | NotFound
    )
}

pub(crate) const NO_DAEMON: &str =
    "the process at the daemon's socket is not a daemon of this version";
const ANSWER_LIMIT: Duration = Duration::from_secs(10);
