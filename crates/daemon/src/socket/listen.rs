//! Becomes the daemon: at most one per socket, however many are started at once.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::PathBuf;
use std::time::Duration;
use tabmux_daemon_client::{SocketPath, SocketPathError};
use tabmux_platform::files::{Refused, SafeOptions, is_socket};
use tabmux_platform::socket::{Listener, Stream, is_listened_at, listen, peer};
use tabmux_platform::user::own_uid;
use tokio::time::Instant;

/// The socket of a running daemon. Removed when this is dropped.
#[derive(Debug)]
pub struct Listening {
    listener: Listener,
    socket: SocketFile,
    held: Held,
}

/// The lock of a daemon that is running or shutting down. No other process becomes the daemon before this is dropped:
/// two daemons would use the same profile and write the same files.
#[derive(Debug)]
#[must_use = "the next daemon starts when it is dropped"]
pub struct Held {
    _lock: File,
}

/// The socket file; removed when this is dropped.
#[derive(Debug)]
struct SocketFile(PathBuf);

/// Why this process cannot become the daemon.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// Another process is the daemon.
    #[error("A daemon is already running at {0}. Stop it with `tabmux daemon stop`.")]
    Taken(String),
    /// The socket's folder cannot be trusted.
    #[error(transparent)]
    SocketPath(#[from] SocketPathError),
    /// Something other than a stale socket of ours has that path.
    #[error(
        "{0} is not a daemon's socket, so the daemon cannot listen there. Remove it, or name another path with --socket."
    )]
    InTheWay(String),
    /// A system error.
    #[error("The daemon cannot listen at {path}: {error}.")]
    Io {
        /// The socket.
        path: String,
        /// The system's error.
        error: io::Error,
    },
}

impl Listening {
    /// Becomes the daemon at that path, if there is none.
    pub fn start(place: &SocketPath) -> Result<Self, ListenError> {
        place.prepare()?;
        let path = place.socket().display().to_string();
        let io = |error| ListenError::Io {
            path: path.clone(),
            error,
        };
        let lock = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .private()
            .refusing(Refused::Links)
            .open(place.lock())
            .map_err(io)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(ListenError::Taken(path)),
            Err(TryLockError::Error(error)) => return Err(io(error)),
        }
        clear(place)?;
        // A daemon that is just starting makes no other files meanwhile.
        let listener = listen(place.socket()).map_err(io)?;
        Ok(Self {
            listener,
            socket: SocketFile(place.socket().to_owned()),
            held: Held { _lock: lock },
        })
    }

    /// The same, but waits for a daemon that is shutting down.
    pub async fn start_after_another(place: &SocketPath) -> Result<Self, ListenError> {
        let give_up = Instant::now() + LONGEST_END + LOOKING_AGAIN;
        loop {
            match Self::start(place) {
                Err(ListenError::Taken(_))
                    if !is_listened_at(place.socket()) && Instant::now() < give_up => {}
                result => return result,
            }
            // Waiting for the lock would block a thread; polling is short.
            tokio::time::sleep(LOOKING_AGAIN).await;
        }
    }

    /// Stops listening: clients that connect from here on find no socket and start a new daemon.
    pub(super) fn close(self) -> Held {
        drop((self.listener, self.socket));
        self.held
    }

    /// The next connection from a process of this user. Refuses others and logs it.
    pub(super) async fn accept(&self) -> io::Result<Stream> {
        loop {
            let (stream, _) = self.listener.accept().await?;
            match peer(&stream) {
                Ok(peer) if peer.uid == own_uid() => return Ok(stream),
                Ok(peer) => {
                    tracing::warn!(uid = peer.uid, pid = peer.pid, "refused another user")
                }
                Err(error) => tracing::warn!(%error, "refused a peer that cannot be identified"),
            }
        }
    }
}

impl Held {
    /// Holds the lock until the shutdown has finished, with a timeout.
    pub async fn until(self, end: impl Future<Output = ()>) {
        if tokio::time::timeout(LONGEST_END, end).await.is_err() {
            tracing::warn!("shutdown took too long and was aborted");
        }
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Removes the socket of a daemon that died. Keeps anything else.
fn clear(place: &SocketPath) -> Result<(), ListenError> {
    let path = place.socket();
    let shown = || path.display().to_string();
    let Ok(meta) = fs::symlink_metadata(path) else {
        return Ok(());
    };
    if !is_socket(&meta) {
        return Err(ListenError::InTheWay(shown()));
    }
    // We hold the lock, so no tabmux daemon can be listening; another program could.
    if is_listened_at(path) {
        return Err(ListenError::Taken(shown()));
    }
    fs::remove_file(path).map_err(|error| ListenError::Io {
        path: shown(),
        error,
    })
}

/// The timeout for shutdown: less than a client waits for the next daemon.
const LONGEST_END: Duration = Duration::from_secs(6);
const LOOKING_AGAIN: Duration = Duration::from_millis(20);
