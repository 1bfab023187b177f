//! When several clients have lost their daemon, only one starts the next.

use crate::socket_path::SocketPath;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use tabmux_platform::files::{Refused, SafeOptions};

/// The right to start the daemon of a socket. It ends when this value is dropped or the process ends.
#[derive(Debug)]
pub(crate) struct Turn {
    _lock: Option<File>,
}

impl Turn {
    /// Takes the right, unless another client has it. If the lock file cannot be opened, every client gets the
    /// right, and the daemon reports what is wrong with the folder.
    pub(crate) fn take(socket_path: &SocketPath) -> Option<Self> {
        let Ok(lock) = open(socket_path) else {
            return Some(Self { _lock: None });
        };
        match lock.try_lock() {
            Err(TryLockError::WouldBlock) => None,
            Ok(()) | Err(TryLockError::Error(_)) => Some(Self { _lock: Some(lock) }),
        }
    }
}

fn open(socket_path: &SocketPath) -> io::Result<File> {
    socket_path.prepare().map_err(io::Error::other)?;
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .private()
        .refusing(Refused::Links)
        .open(socket_path.sibling("starting"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_client_at_a_time_starts_a_daemon_and_the_next_one_may_once_it_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let socket_path = SocketPath::choose(Some(folder.path().join("run/d.sock")));
        let first = Turn::take(&socket_path).unwrap();
        assert!(Turn::take(&socket_path).is_none());
        let other = SocketPath::choose(Some(folder.path().join("run/e.sock")));
        assert!(Turn::take(&other).is_some(), "another daemon's socket");
        drop(first);
        assert!(Turn::take(&socket_path).is_some());
    }

    #[test]
    fn without_a_lock_file_every_client_may_start_a_daemon() {
        let socket_path = SocketPath::choose(Some("/proc/nowhere/d.sock".into()));
        assert!(Turn::take(&socket_path).is_some() && Turn::take(&socket_path).is_some());
    }
}
