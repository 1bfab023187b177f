//! Waits until the extension is connected, and shows progress.

use crate::commands::ask::ask_daemon;
use anyhow::{Context, bail};
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};
use tabmux_daemon_client::SocketPath;
use tabmux_protocol::wire::{FromClient, FromDaemon};
use tabmux_stdio_proxy::starter;

/// Whether an extension is connected; `None` if no daemon is running.
pub(super) async fn is_connected(socket_path: &SocketPath) -> anyhow::Result<Option<bool>> {
    let question = FromClient::Status {
        id: "extension".into(),
    };
    match ask_daemon(socket_path, &question).await? {
        Some(FromDaemon::StatusOk {
            extension_connected,
            ..
        }) => Ok(Some(extension_connected)),
        Some(_) => bail!(
            "the process listening at {} is not a tabmux daemon; run `tabmux doctor`",
            socket_path.socket().display()
        ),
        None => Ok(None),
    }
}

/// Whether an extension connects within `limit`. Starts a daemon if none is running.
pub(super) async fn until_connected(
    socket_path: &SocketPath,
    port: u16,
    limit: Duration,
) -> anyhow::Result<bool> {
    let (start, begun) = (starter(socket_path, Some(port), None)?, Instant::now());
    let mut line = Line::default();
    let mut started = false;
    loop {
        match is_connected(socket_path).await? {
            Some(true) => {
                line.clear();
                return Ok(true);
            }
            None if !started => {
                drop(start().context("the daemon could not be started")?);
                started = true;
            }
            None => {}
            Some(false) => started = false,
        }
        if begun.elapsed() >= limit {
            line.clear();
            return Ok(false);
        }
        line.say(&format!(
            "Waiting for the extension … {} s",
            begun.elapsed().as_secs()
        ));
        tokio::time::sleep(PAUSE).await;
    }
}

/// A progress line. On a terminal it is rewritten in place; otherwise it is printed once.
#[derive(Default)]
struct Line {
    said: bool,
}

impl Line {
    fn say(&mut self, text: &str) {
        let mut out = std::io::stderr();
        let _ = match (out.is_terminal(), self.said) {
            (true, _) => write!(out, "\r{text}").and_then(|()| out.flush()),
            (false, false) => writeln!(out, "{text}"),
            (false, true) => Ok(()),
        };
        self.said = true;
    }

    fn clear(&mut self) {
        let mut out = std::io::stderr();
        if self.said && out.is_terminal() {
            let _ = write!(out, "\r\u{1b}[K");
        }
    }
}

const PAUSE: Duration = Duration::from_millis(250);
