//! Waits for an extension that may be reconnecting, with progress messages.

use super::{Extensions, PeerName};
use std::time::Duration;
use tabmux_browser::ChannelTransport;
use tokio::time::{Instant, interval_at};

impl Extensions {
    /// A connection to the browser of that name, or to the one that connected last. The caller gets progress messages
    /// while it waits.
    pub(crate) async fn reach_with_progress(
        &self,
        name: Option<&str>,
        limit: Duration,
        say: impl Fn(String),
    ) -> Option<(PeerName, ChannelTransport)> {
        let reached = self.reach(name, limit);
        tokio::pin!(reached);
        let begun = Instant::now();
        let mut pulse = interval_at(begun + FIRST_PROGRESS, PROGRESS_INTERVAL);
        loop {
            tokio::select! {
                reached = &mut reached => return reached,
                _ = pulse.tick() => say(progress(begun.elapsed(), limit)),
            }
        }
    }
}

fn progress(waited: Duration, limit: Duration) -> String {
    format!(
        "Waiting for the tabmux extension: {} of at most {} s. It reconnects within 30 s if its browser is running.",
        waited.as_secs(),
        limit.as_secs()
    )
}

/// A connected extension answers within this time.
const FIRST_PROGRESS: Duration = Duration::from_secs(1);
const PROGRESS_INTERVAL: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    /// Spec: decisions 24.
    #[tokio::test(start_paused = true)]
    async fn waiting_for_an_extension_reports_progress_and_times_out() {
        let extensions = Extensions::default();
        let (begun, said) = (Instant::now(), Mutex::new(Vec::new()));
        let limit = Duration::from_secs(35);
        let say = |words| said.lock().unwrap().push(words);
        assert!(
            extensions
                .reach_with_progress(None, limit, say)
                .await
                .is_none()
        );
        assert_eq!(begun.elapsed().as_secs(), 35);
        let said = said.into_inner().unwrap();
        assert_eq!(said.len(), 7);
        assert_eq!(
            said[1],
            "Waiting for the tabmux extension: 6 of at most 35 s. It reconnects within 30 s if its browser \
             is running."
        );
    }
}
