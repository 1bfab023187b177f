//! Becoming the daemon: at most one per socket, however many are started at once.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::os::unix::net::UnixStream as StdUnixStream;
use std::path::PathBuf;
use std::time::Duration;
use tabmux_browser::user::own_uid;
use tabmux_daemon_client::{SocketPath, SocketPathError};
use tokio::net::{UnixListener, UnixStream};
use tokio::time::Instant;

/// The socket of a daemon that is up. Gone with this value.
#[derive(Debug)]
pub struct Listening {
    listener: UnixListener,
    socket: SocketFile,
    held: Held,
}

/// The place of a daemon that is up, or no longer listens and is not at its end yet. Nobody else becomes the
/// daemon before this value is gone: two would use the same profile and write the same files.
#[derive(Debug)]
#[must_use = "the next daemon starts when it is dropped"]
pub struct Held {
    _lock: File,
}

/// Removed with this value.
#[derive(Debug)]
struct SocketFile(PathBuf);

/// Why this process is not the daemon.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// Another one is.
    #[error("A daemon is already running at {0}. Stop it with `tabmux daemon stop`.")]
    Taken(String),
    /// The place cannot be trusted.
    #[error(transparent)]
    SocketPath(#[from] SocketPathError),
    /// Something that is not a dead socket of ours is in the way.
    #[error(
        "{0} is in the way of the daemon's socket. Remove it, or name another place with --socket."
    )]
    InTheWay(String),
    /// The system said no.
    #[error("The daemon cannot listen at {path}: {error}.")]
    Io {
        /// The socket.
        path: String,
        /// What the system said.
        error: io::Error,
    },
}

impl Listening {
    /// Becomes the daemon of that place, if nobody is.
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
            .mode(0o600)
            .custom_flags(libc::O_NOFOLLOW)
            .open(place.lock())
            .map_err(io)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(ListenError::Taken(path)),
            Err(TryLockError::Error(error)) => return Err(io(error)),
        }
        clear(place)?;
        let listener = bind(place).map_err(io)?;
        Ok(Self {
            listener,
            socket: SocketFile(place.socket().to_owned()),
            held: Held { _lock: lock },
        })
    }

    /// The same, after a daemon that no longer listens has come to its end.
    pub async fn start_after_another(place: &SocketPath) -> Result<Self, ListenError> {
        let give_up = Instant::now() + LONGEST_END + LOOKING_AGAIN;
        loop {
            match Self::start(place) {
                Err(ListenError::Taken(_))
                    if StdUnixStream::connect(place.socket()).is_err()
                        && Instant::now() < give_up => {}
                result => return result,
            }
            // To wait for a lock is to block a thread; this does not last.
            tokio::time::sleep(LOOKING_AGAIN).await;
        }
    }

    /// Listens no longer: from here on whoever connects finds no socket and starts a daemon.
    pub(super) fn close(self) -> Held {
        drop((self.listener, self.socket));
        self.held
    }

    /// The next connection of a process of ours. Others are turned away with a line in the log.
    pub(super) async fn accept(&self) -> io::Result<UnixStream> {
        loop {
            let (stream, _) = self.listener.accept().await?;
            match stream.peer_cred() {
                Ok(peer) if peer.uid() == own_uid() => return Ok(stream),
                Ok(peer) => {
                    tracing::warn!(uid = peer.uid(), pid = peer.pid(), "refused another user")
                }
                Err(error) => tracing::warn!(%error, "refused a peer that cannot be identified"),
            }
        }
    }
}

impl Held {
    /// Holds the place until the daemon has come to its end, but not if that hangs.
    pub async fn until(self, end: impl Future<Output = ()>) {
        if tokio::time::timeout(LONGEST_END, end).await.is_err() {
            tracing::warn!("the end took too long and was cut short");
        }
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Removes the socket of a daemon that died. Whatever else is there stays.
fn clear(place: &SocketPath) -> Result<(), ListenError> {
    let path = place.socket();
    let shown = || path.display().to_string();
    let Ok(meta) = fs::symlink_metadata(path) else {
        return Ok(());
    };
    if !meta.file_type().is_socket() {
        return Err(ListenError::InTheWay(shown()));
    }
    // We hold the lock, so no daemon of ours can be behind it; somebody else's could.
    if StdUnixStream::connect(path).is_ok() {
        return Err(ListenError::Taken(shown()));
    }
    fs::remove_file(path).map_err(|error| ListenError::Io {
        path: shown(),
        error,
    })
}

/// The socket is ours alone from its first moment, not only after a chmod.
fn bind(place: &SocketPath) -> io::Result<UnixListener> {
    let before = umask(0o177);
    let listener = UnixListener::bind(place.socket());
    umask(before);
    listener
}

fn umask(mask: libc::mode_t) -> libc::mode_t {
    // SAFETY: umask cannot fail. It is the process's, but it is set back at once, and a daemon that
    // is just starting makes no other files meanwhile.
    #[expect(unsafe_code, reason = "std cannot set the umask")]
    unsafe {
        libc::umask(mask)
    }
}

/// How long a daemon may take to its end: less than a client waits for the next one.
const LONGEST_END: Duration = Duration::from_secs(6);
const LOOKING_AGAIN: Duration = Duration::from_millis(20);
