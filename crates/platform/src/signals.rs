//! The request to end this process.

use std::io;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Receives the signals that ask this process to end: SIGTERM and SIGINT. From its creation on they do not end the
/// process by themselves.
#[derive(Debug)]
pub struct EndSignals {
    terminate: Signal,
    interrupt: Signal,
    /// Received and ignored.
    hangup: Option<Signal>,
}

impl EndSignals {
    /// # Errors
    /// When signals cannot be handled.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: None,
        })
    }

    /// For a process that outlives its terminal: SIGHUP is ignored.
    ///
    /// # Errors
    /// When signals cannot be handled.
    pub fn without_terminal() -> io::Result<Self> {
        Ok(Self {
            hangup: Some(signal(SignalKind::hangup())?),
            ..Self::new()?
        })
    }

    /// Waits for the next one.
    pub async fn next(&mut self) {
        loop {
            tokio::select! {
                _ = self.terminate.recv() => return,
                _ = self.interrupt.recv() => return,
                () = received(&mut self.hangup) => {}
            }
        }
    }
}

async fn received(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => drop(signal.recv().await),
        None => std::future::pending().await,
    }
}
