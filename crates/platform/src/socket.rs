//! Local stream sockets with a path.

use rustix::fs::Mode;
use rustix::process::umask;
use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;

/// One end of a connection.
pub use tokio::net::UnixStream as Stream;

/// What accepts connections.
pub use tokio::net::UnixListener as Listener;

/// The reading half of a connection.
pub use tokio::net::unix::OwnedReadHalf as ReadHalf;

/// The writing half of a connection.
pub use tokio::net::unix::OwnedWriteHalf as WriteHalf;

/// The process at the other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Its user.
    pub uid: u32,
    /// Its number, if the system tells.
    pub pid: Option<i32>,
}

/// Listens at a path. Only this user can open the socket, from the moment it is created. Changes the process's umask
/// for a moment, so call it while nothing else creates files.
///
/// # Errors
/// Those of the system; if something has that path, too.
pub fn listen(path: &Path) -> io::Result<Listener> {
    let before = umask(Mode::from_raw_mode(0o177));
    let listener = Listener::bind(path);
    umask(before);
    listener
}

/// The process at the other end, as the system reports it: `SO_PEERCRED` on Linux, `getpeereid` on macOS.
///
/// # Errors
/// Those of the system; then the other end is not known and must be refused.
pub fn peer(stream: &Stream) -> io::Result<Peer> {
    let cred = stream.peer_cred()?;
    Ok(Peer {
        uid: cred.uid(),
        pid: cred.pid(),
    })
}

/// Whether a program accepts connections there. Connects, and closes the connection again.
pub fn is_listened_at(path: &Path) -> bool {
    UnixStream::connect(path).is_ok()
}

/// The same for a name of Linux's abstract sockets, which have no file.
#[cfg(target_os = "linux")]
pub fn is_abstract_listened_at(name: &str) -> bool {
    use std::os::linux::net::SocketAddrExt;
    let address = std::os::unix::net::SocketAddr::from_abstract_name(name);
    address.is_ok_and(|address| UnixStream::connect_addr(&address).is_ok())
}

/// Other systems have no abstract sockets.
#[cfg(not(target_os = "linux"))]
pub fn is_abstract_listened_at(_: &str) -> bool {
    false
}

/// How long a path of a socket may be on every system: `sun_path` has 104 bytes on macOS and 108 on Linux.
pub const LONGEST_PATH: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::{is_private, is_socket};

    #[tokio::test]
    async fn a_socket_is_private_and_both_ends_know_each_other() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("s");
        assert!(!is_listened_at(&path));
        let listener = listen(&path).unwrap();
        let meta = std::fs::symlink_metadata(&path).unwrap();
        assert!(is_socket(&meta) && is_private(&meta));
        assert!(is_listened_at(&path));
        listener.accept().await.unwrap();
        let near = Stream::connect(&path).await.unwrap();
        let (far, _) = listener.accept().await.unwrap();
        for end in [&near, &far] {
            assert_eq!(peer(end).unwrap().uid, crate::user::own_uid());
        }
    }
}
