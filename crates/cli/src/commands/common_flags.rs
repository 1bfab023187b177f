//! Flags that several commands have.

use std::path::PathBuf;
use tabmux_daemon_client::SocketPath;

// No doc comment here: clap would use it as the help of the command.
#[derive(Debug, clap::Args)]
pub(crate) struct Socket {
    /// The daemon's socket.
    #[arg(long, value_name = "PATH", env = "TABMUX_SOCKET")]
    socket: Option<PathBuf>,
}

impl Socket {
    pub(crate) fn path(self) -> SocketPath {
        SocketPath::choose(self.socket)
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct Executable {
    /// Use this browser instead of searching for one.
    #[arg(
        long = "executablePath",
        alias = "executable-path",
        short = 'e',
        value_name = "PATH"
    )]
    pub(crate) executable_path: Option<PathBuf>,
}
