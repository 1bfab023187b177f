//! Of all clients that miss their daemon, one starts the next.

use crate::socket_path::SocketPath;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt;

/// The right to start the daemon of a place. It goes with this value, and with this process however that ends.
#[derive(Debug)]
pub(crate) struct Turn {
    _lock: Option<File>,
}

impl Turn {
    /// Takes the right, unless another client has it. Where there can be no lock everybody has it, and the
    /// daemon says what is wrong with the place.
    pub(crate) fn take(place: &SocketPath) -> Option<Self> {
        let Ok(lock) = open(place) else {
            return Some(Self { _lock: None });
        };
        match lock.try_lock() {
            Err(TryLockError::WouldBlock) => None,
            Ok(()) | Err(TryLockError::Error(_)) => Some(Self { _lock: Some(lock) }),
        }
    }
}

fn open(place: &SocketPath) -> io::Result<File> {
    place.prepare().map_err(io::Error::other)?;
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW)
        .open(place.beside("starting"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_client_at_a_time_starts_a_daemon_and_the_next_one_may_once_it_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let place = SocketPath::choose(Some(folder.path().join("run/d.sock")));
        let first = Turn::take(&place).unwrap();
        assert!(Turn::take(&place).is_none());
        let other = SocketPath::choose(Some(folder.path().join("run/e.sock")));
        assert!(Turn::take(&other).is_some(), "another daemon's place");
        drop(first);
        assert!(Turn::take(&place).is_some());
    }

    #[test]
    fn where_there_can_be_no_lock_everybody_may_start_a_daemon() {
        let place = SocketPath::choose(Some("/proc/nowhere/d.sock".into()));
        assert!(Turn::take(&place).is_some() && Turn::take(&place).is_some());
    }
}
