//! The progress of one call: values from the backend, and heartbeats while there are none. Clients give up on a
//! call that sends no progress.

use rmcp::{
    Peer, RoleServer,
    model::{ProgressNotificationParam, ProgressToken},
};
use std::time::Duration;
use tabmux_protocol::Progress;
use tokio::time::Instant;

/// Sends the progress of one call.
#[derive(Debug)]
pub(crate) struct ProgressSink {
    client: Peer<RoleServer>,
    token: ProgressToken,
    /// The last message of the backend.
    message: String,
    last: f64,
    /// How much our heartbeats have added to the backend's values.
    added: f64,
    started: Instant,
    due: Instant,
}

impl ProgressSink {
    pub(crate) fn new(client: Peer<RoleServer>, token: ProgressToken, tool: &str) -> Self {
        let started = Instant::now();
        Self {
            client,
            token,
            message: format!("Running {tool}"),
            last: f64::NEG_INFINITY,
            added: 0.0,
            started,
            due: started + HEARTBEAT,
        }
    }

    /// When the next heartbeat is due.
    pub(crate) fn due(&self) -> Instant {
        self.due
    }

    /// Progress from the backend. MCP requires values to rise with every notification; others are dropped.
    pub(crate) fn advance(
        &mut self,
        progress: Progress,
    ) -> Option<(Peer<RoleServer>, ProgressNotificationParam)> {
        let value = progress.value + self.added;
        if !value.is_finite() || value <= self.last {
            return None;
        }
        if let Some(message) = &progress.message {
            self.message = message.trim_end_matches('.').to_owned();
        }
        let total = progress.total.map(|total| total + self.added);
        self.due = Instant::now() + HEARTBEAT;
        Some(self.notification(value, total, progress.message))
    }

    /// A notification without news: the call still runs.
    pub(crate) fn heartbeat(
        &mut self,
        now: Instant,
    ) -> (Peer<RoleServer>, ProgressNotificationParam) {
        let seconds = now.duration_since(self.started).as_secs();
        let message = format!("{} ({seconds} s)", self.message);
        self.added += 1.0;
        self.due = now + HEARTBEAT;
        let value = if self.last.is_finite() {
            self.last
        } else {
            0.0
        } + 1.0;
        self.notification(value, None, Some(message))
    }

    fn notification(
        &mut self,
        value: f64,
        total: Option<f64>,
        message: Option<String>,
    ) -> (Peer<RoleServer>, ProgressNotificationParam) {
        self.last = value;
        let mut params = ProgressNotificationParam::new(self.token.clone(), value);
        params.total = total;
        params.message = message;
        (self.client.clone(), params)
    }
}

/// The longest pause between progress notifications.
const HEARTBEAT: Duration = Duration::from_secs(1);
