//! Sessions of processes that cannot start a daemon, or whose daemons die.

use crate::server::Server;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tabmux_daemon_client::{Opening, RemoteSession, SocketPath, StartDaemon};
use tabmux_protocol::Backend as _;
use tabmux_protocol::session::{ClientInfo, SessionOptions};
use tokio::sync::mpsc;

/// A daemon may be killed before a client has reached it. The waiting client starts another one.
#[tokio::test]
async fn a_daemon_that_ends_at_once_is_followed_by_another_one() {
    let folder = tempfile::tempdir().unwrap();
    let place = SocketPath::choose(Some(folder.path().join("d.sock")));
    let (start, mut starts) = mpsc::unbounded_channel();
    let session = open_with(
        place.clone(),
        Box::new(move || {
            start.send(()).map_err(std::io::Error::other)?;
            Ok(Box::pin(std::future::ready(())))
        }),
    );
    let tools = tokio::spawn(async move { session.tools().await });
    for _ in 0..2 {
        starts.recv().await.unwrap();
    }
    let _server = Server::at(place);
    assert!(!tools.await.unwrap().unwrap().is_empty());
}

/// A session at this socket, and how often it tried to start a daemon there.
pub(crate) fn open(place: SocketPath) -> (RemoteSession, Arc<AtomicUsize>) {
    let tries = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&tries);
    let session = open_with(
        place,
        Box::new(move || {
            counted.fetch_add(1, Ordering::Relaxed);
            Err(std::io::Error::other(
                "there is no program to start in this test",
            ))
        }),
    );
    (session, tries)
}

/// A session at a running daemon.
pub(crate) fn open_as(place: SocketPath, options: SessionOptions) -> RemoteSession {
    let start = || Err(std::io::Error::other("there is no program to start"));
    opened(place, options, Box::new(start))
}

fn open_with(place: SocketPath, start: StartDaemon) -> RemoteSession {
    opened(place, SessionOptions::default(), start)
}

fn opened(place: SocketPath, options: SessionOptions, start: StartDaemon) -> RemoteSession {
    RemoteSession::open(Opening {
        socket_path: place,
        client: ClientInfo::default(),
        options,
        name: None,
        start,
    })
}
