//! What watches the server: whether it can serve, and numbers about it. What it knows of the daemon is asked for at
//! most once a second.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::Instant;

/// Asks the daemon for numbers in the text format of Prometheus, or why it cannot be asked.
#[derive(Clone)]
pub struct Probe(Arc<Asking>);

struct Asking {
    ask: Box<dyn Fn() -> Answering + Send + Sync>,
    last: Mutex<Option<(Instant, Found)>>,
}

type Answering = Pin<Box<dyn Future<Output = Found> + Send>>;
type Found = Result<String, String>;

impl Probe {
    /// One that asks like this.
    pub fn new<F: Future<Output = Found> + Send + 'static>(
        ask: impl Fn() -> F + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(Asking {
            ask: Box::new(move || Box::pin(ask())),
            last: Mutex::default(),
        }))
    }

    /// What the daemon said, not long ago.
    pub(crate) async fn look(&self) -> Found {
        let mut last = self.0.last.lock().await;
        if let Some((at, found)) = &*last
            && at.elapsed() < FRESH
        {
            return found.clone();
        }
        let asked = tokio::time::timeout(LIMIT, (self.0.ask)()).await;
        let found = asked.unwrap_or_else(|_| Err("the daemon does not answer".to_owned()));
        if let Err(error) = &found {
            tracing::warn!(%error, "no client can be served");
        }
        *last = Some((Instant::now(), found.clone()));
        found
    }
}

impl fmt::Debug for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Probe").finish_non_exhaustive()
    }
}

const FRESH: Duration = Duration::from_secs(1);
const LIMIT: Duration = Duration::from_secs(2);

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[tokio::test(start_paused = true)]
    async fn the_daemon_is_asked_once_a_second_and_given_up_if_it_does_not_answer() {
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        let probe = Probe::new(move || {
            let number = count.fetch_add(1, Ordering::Relaxed);
            async move {
                match number {
                    0 => Ok("fine".to_owned()),
                    _ => std::future::pending().await,
                }
            }
        });
        for _ in 0..3 {
            assert_eq!(probe.look().await.as_deref(), Ok("fine"));
        }
        tokio::time::advance(FRESH).await;
        assert_eq!(
            probe.look().await.unwrap_err(),
            "the daemon does not answer"
        );
        assert_eq!(asked.load(Ordering::Relaxed), 2);
    }
}
