//! Notices that a browser hangs: one that is reached but answers nothing is as good as gone.

use std::time::Duration;
use tabmux_cdp::types::browser;
use tabmux_cdp::{CdpError, Session};

/// How often a browser is asked for a sign of life, and how long it may take for one.
#[derive(Clone, Copy, Debug)]
pub struct Pulse {
    /// From one sign to the next question.
    pub every: Duration,
    /// From the question to the sign.
    pub within: Duration,
}

impl Default for Pulse {
    fn default() -> Self {
        Self {
            every: Duration::from_secs(15),
            // Whoever swaps or compiles takes its time; a call's own deadline is later still.
            within: Duration::from_secs(20),
        }
    }
}

impl Pulse {
    /// Resolves when the browser gives no sign of life any more. Never for one whose connection ends:
    /// that tells by itself.
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
