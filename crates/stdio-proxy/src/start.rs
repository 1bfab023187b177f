//! Starts a daemon when none is running.

use anyhow::Context;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tabmux_daemon_client::{SocketPath, StartDaemon, Started};
use tabmux_platform::process::own_group;

/// Starts the daemon when none is running: this program again, detached, with this config file if it is not the usual
/// one.
///
/// # Errors
/// When the path of this program cannot be determined.
pub fn starter(
    socket_path: &SocketPath,
    port: Option<u16>,
    config: Option<PathBuf>,
) -> anyhow::Result<StartDaemon> {
    // The daemon runs in another folder.
    let config = config.map(std::path::absolute).transpose()?;
    let program =
        std::env::current_exe().context("the path of this program cannot be determined")?;
    let socket = socket_path.socket().to_owned();
    Ok(Box::new(move || {
        let mut command = Command::new(&program);
        command.args(["daemon", "run", "--socket"]).arg(&socket);
        command.arg("--logFile").arg(log_path(&socket));
        if let Some(port) = port {
            command.arg("--port").arg(port.to_string());
        }
        if let Some(config) = &config {
            command.arg("--config").arg(config);
        }
        // A process group of its own, so that a signal to the client's group does not end the daemon.
        own_group(command.current_dir("/"));
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        // The runtime reaps the process when it ends, so that no zombie stays.
        let mut daemon = tokio::process::Command::from(command).spawn()?;
        let ended = async move { drop(daemon.wait().await) };
        Ok(Box::pin(ended) as Started)
    }))
}

/// The log of a daemon that a client started, next to its socket.
pub fn log_path(socket: &Path) -> PathBuf {
    socket.with_extension("log")
}
