//! How a daemon is started when there is none.

use anyhow::Context;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tabmux_daemon_client::{SocketPath, StartDaemon, Started};

/// How a session starts the daemon when there is none: this program again, detached.
///
/// # Errors
/// When this program cannot find itself.
pub fn starter(place: &SocketPath, port: Option<u16>) -> anyhow::Result<StartDaemon> {
    let program = std::env::current_exe().context("this program cannot find itself")?;
    let socket = place.socket().to_owned();
    Ok(Box::new(move || {
        let mut command = Command::new(&program);
        command.args(["daemon", "run", "--socket"]).arg(&socket);
        command.arg("--logFile").arg(log_beside(&socket));
        if let Some(port) = port {
            command.arg("--port").arg(port.to_string());
        }
        // A group of its own, so that what ends the client does not end the daemon.
        command.process_group(0).current_dir("/");
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        // Whichever way that process ends, the runtime takes note, so that no zombie stays.
        let mut daemon = tokio::process::Command::from(command).spawn()?;
        let ended = async move { drop(daemon.wait().await) };
        Ok(Box::pin(ended) as Started)
    }))
}

/// A daemon that a client started writes its log beside its socket.
pub fn log_beside(socket: &Path) -> PathBuf {
    socket.with_extension("log")
}
