//! Waits for an extension that may be on its way, and says now and then that it does.

use super::{Extensions, PeerName};
use std::time::Duration;
use tabmux_browser::ChannelTransport;
use tokio::time::{Instant, interval_at};

impl Extensions {
    /// A connection to the browser of that name, or to the one that came last. Whoever waits hears of it.
    pub(crate) async fn reach_patiently(
        &self,
        name: Option<&str>,
        limit: Duration,
        say: impl Fn(String),
    ) -> Option<(PeerName, ChannelTransport)> {
        let reached = self.reach(name, limit);
        tokio::pin!(reached);
        let begun = Instant::now();
        let mut pulse = interval_at(begun + FIRST_WORD, NEXT_WORD);
        loop {
            tokio::select! {
                reached = &mut reached => return reached,
                _ = pulse.tick() => say(words(begun.elapsed(), limit)),
            }
        }
    }
}

fn words(waited: Duration, limit: Duration) -> String {
    format!(
        "Waiting for the tabmux extension: {} of at most {} s. It comes by itself within 30 s if its browser runs.",
        waited.as_secs(),
        limit.as_secs()
    )
}

/// One that is there is reached sooner.
const FIRST_WORD: Duration = Duration::from_secs(1);
const NEXT_WORD: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    /// Spec: decisions 24.
    #[tokio::test(start_paused = true)]
    async fn who_waits_for_an_extension_in_vain_has_heard_of_it_and_not_for_ever() {
        let extensions = Extensions::default();
        let (begun, said) = (Instant::now(), Mutex::new(Vec::new()));
        let limit = Duration::from_secs(35);
        let say = |words| said.lock().unwrap().push(words);
        assert!(extensions.reach_patiently(None, limit, say).await.is_none());
        assert_eq!(begun.elapsed().as_secs(), 35);
        let said = said.into_inner().unwrap();
        assert_eq!(said.len(), 7);
        assert_eq!(
            said[1],
            "Waiting for the tabmux extension: 6 of at most 35 s. It comes by itself within 30 s if its browser \
             runs."
        );
    }
}
