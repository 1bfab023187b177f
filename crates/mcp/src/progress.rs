//! The progress of one call: what the backend tells of it, and that it goes on where nothing is told. Clients
//! give a call up that they hear nothing of.

use rmcp::{
    Peer, RoleServer,
    model::{ProgressNotificationParam, ProgressToken},
};
use std::time::Duration;
use tabmux_protocol::Progress;
use tokio::time::Instant;

/// Where the progress of one call goes.
#[derive(Debug)]
pub(crate) struct ProgressSink {
    client: Peer<RoleServer>,
    token: ProgressToken,
    /// What is happening, as far as the backend has said.
    message: String,
    last: f64,
    /// What our own notifications have added to the backend's values.
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
            due: started + SILENCE,
        }
    }

    /// When the client has heard nothing for too long.
    pub(crate) fn due(&self) -> Instant {
        self.due
    }

    /// What the backend tells. MCP wants progress to rise with every notification; what does not is kept back.
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
        self.due = Instant::now() + SILENCE;
        Some(self.notification(value, total, progress.message))
    }

    /// Nothing new, but it goes on.
    pub(crate) fn go_on(&mut self, now: Instant) -> (Peer<RoleServer>, ProgressNotificationParam) {
        let seconds = now.duration_since(self.started).as_secs();
        let message = format!("{} ({seconds} s)", self.message);
        self.added += 1.0;
        self.due = now + SILENCE;
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

/// How long a client that asked for progress hears nothing.
const SILENCE: Duration = Duration::from_secs(1);
