//! Detects that a browser hangs: one that is connected but does not respond counts as gone.

use std::time::Duration;
use tabmux_cdp::types::browser;
use tabmux_cdp::{CdpError, Session};

/// How often a browser is probed, and how long it may take to respond.
#[derive(Clone, Copy, Debug)]
pub struct Heartbeat {
    /// From a response to the next probe.
    pub every: Duration,
    /// From a probe to its response.
    pub within: Duration,
}

impl Default for Heartbeat {
    fn default() -> Self {
        Self {
            every: Duration::from_secs(15),
            // A machine that swaps or compiles can be slow; the deadline of a call is even later.
            within: Duration::from_secs(20),
        }
    }
}

impl Heartbeat {
    /// For a browser of a grid, whose socket stays open when the browser is gone: only an unanswered command tells.
    /// The commands also keep the grid's session alive, which may end after 20 idle seconds.
    pub(super) fn of_grids() -> Self {
        Self {
            every: Duration::from_secs(8),
            within: Duration::from_secs(10),
        }
    }

    /// Resolves when the browser no longer responds. Never resolves if the connection ends: that is reported
    /// separately.
    pub(super) async fn stops(self, session: Session) {
        loop {
            tokio::time::sleep(self.every).await;
            let question = browser::GetVersion::default();
            match session.send_within(question, self.within).await {
                Err(CdpError::TimedOut { .. }) => return,
                Err(_) => return std::future::pending().await,
                Ok(_) => {}
            }
        }
    }
}
