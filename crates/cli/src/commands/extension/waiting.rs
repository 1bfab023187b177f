//! Waits until the extension is connected, and says that it does.

use crate::commands::ask::ask_daemon;
use anyhow::{Context, bail};
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};
use tabmux_daemon_client::SocketPath;
use tabmux_protocol::wire::{FromClient, FromDaemon};
use tabmux_stdio_proxy::starter;

/// Whether an extension is connected; none if there is no daemon.
pub(super) async fn is_connected(place: &SocketPath) -> anyhow::Result<Option<bool>> {
    let question = FromClient::Status {
        id: "extension".into(),
    };
    match ask_daemon(place, &question).await? {
        Some(FromDaemon::StatusOk {
            extension_connected,
            ..
        }) => Ok(Some(extension_connected)),
        Some(_) => bail!("what answers at {} is no daemon", place.socket().display()),
        None => Ok(None),
    }
}

/// Whether an extension connects within `limit`. Runs a daemon for it to connect to.
pub(super) async fn until_connected(
    place: &SocketPath,
    port: u16,
    limit: Duration,
) -> anyhow::Result<bool> {
    let (start, begun) = (starter(place, Some(port))?, Instant::now());
    let mut line = Line::default();
    let mut started = false;
    loop {
        match is_connected(place).await? {
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

/// One line that changes, on a terminal; elsewhere it is said once.
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
