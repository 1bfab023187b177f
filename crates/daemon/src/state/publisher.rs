//! Publishes the state: soon after a change, and only while it is watched.

use super::State;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// Where the main loop publishes the state.
#[derive(Debug)]
pub(crate) struct Publisher {
    state: watch::Sender<Arc<State>>,
    /// When it is published next, if it is watched.
    at: Option<Instant>,
}

impl Publisher {
    pub(crate) fn new(state: watch::Sender<Arc<State>>) -> Self {
        Self { state, at: None }
    }

    /// Something may have changed: schedules a publication, soon and together with further changes.
    pub(crate) fn note(&mut self) {
        let soon = Instant::now() + GATHERING;
        if self.is_watched() && self.at.is_none_or(|at| soon < at) {
            self.at = Some(soon);
        }
    }

    /// Resolves when it is time to publish.
    pub(crate) fn alarm(&self) -> impl Future<Output = ()> + use<> {
        let at = self.at;
        async move {
            match at {
                Some(at) => tokio::time::sleep_until(at).await,
                None => std::future::pending().await,
            }
        }
    }

    pub(crate) fn publish(&mut self, state: State) {
        self.at = self.is_watched().then(|| Instant::now() + LOOKING_AGAIN);
        self.state.send_replace(Arc::new(state));
    }

    pub(crate) fn watch(&self) -> watch::Receiver<Arc<State>> {
        self.state.subscribe()
    }

    fn is_watched(&self) -> bool {
        self.state.receiver_count() > 0
    }
}

/// Changes within this time are published together.
const GATHERING: Duration = Duration::from_millis(100);

/// How often to publish changes that cause no event.
const LOOKING_AGAIN: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_state_is_published_soon_and_only_while_it_is_watched() {
        let mut publisher = Publisher::new(watch::Sender::new(Arc::new(State::empty())));
        publisher.note();
        assert_eq!(publisher.at, None);
        let watching = publisher.watch();
        publisher.note();
        let at = publisher.at;
        assert_eq!(at, Some(Instant::now() + GATHERING));
        tokio::time::advance(GATHERING / 2).await;
        publisher.note();
        assert_eq!(publisher.at, at, "changes are gathered");
        publisher.publish(State::empty());
        assert!(watching.has_changed().unwrap());
        assert_eq!(publisher.at, Some(Instant::now() + LOOKING_AGAIN));
        drop(watching);
        publisher.publish(State::empty());
        assert_eq!(publisher.at, None);
    }
}
