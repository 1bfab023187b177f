//! A daemon in this process, with its own socket.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use tabmux_daemon::Hub;
use tabmux_daemon::socket::{Held, Listening, ServeOptions, serve};
use tabmux_daemon_client::SocketPath;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// A running daemon. Its socket is removed with it.
pub(crate) struct Server {
    pub(crate) place: SocketPath,
    pub(crate) stop: CancellationToken,
    pub(crate) task: JoinHandle<Held>,
    folder: tempfile::TempDir,
}

impl Server {
    /// Starts a daemon that runs until it is stopped.
    pub(crate) fn start() -> Self {
        Self::start_with(ServeOptions { idle: None })
    }

    pub(crate) fn start_with(options: ServeOptions) -> Self {
        Self::around(Arc::new(Hub::start()), options)
    }

    /// The same with a given main loop.
    pub(crate) fn around(hub: Arc<Hub>, options: ServeOptions) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = SocketPath::choose(Some(folder.path().join("d.sock")));
        Self::run(hub, options, place, folder)
    }

    /// A daemon at this socket.
    pub(crate) fn at(place: SocketPath) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let hub = Arc::new(Hub::start());
        Self::run(hub, ServeOptions { idle: None }, place, folder)
    }

    fn run(
        hub: Arc<Hub>,
        options: ServeOptions,
        place: SocketPath,
        folder: tempfile::TempDir,
    ) -> Self {
        let listening = Listening::start(&place).unwrap();
        let stop = CancellationToken::new();
        let task = tokio::spawn(serve(listening, hub, options, stop.clone()));
        Self {
            place,
            stop,
            task,
            folder,
        }
    }

    pub(crate) fn socket(&self) -> &Path {
        self.place.socket()
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.folder.path().to_owned()
    }
}
