//! Runs file operations on separate threads, each with a deadline: a file system that hangs affects only the session
//! that uses it.

use std::fmt;
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The file operations of one session. Clones share its limit.
#[derive(Clone, Debug)]
pub(crate) struct FileThreads {
    own: Arc<Semaphore>,
    all: Arc<Semaphore>,
}

/// Why an operation has no result. It may still run, and then occupies its thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stuck {
    /// It did not finish in time.
    Slow,
    /// Too many others have not finished.
    Crowded,
}

impl FileThreads {
    pub(crate) fn new() -> Self {
        Self {
            own: Arc::new(Semaphore::new(MOST_PER_SESSION)),
            all: Arc::clone(&ALL),
        }
    }

    /// Runs `work` on a thread that may block, and waits for it at most [`LIMIT`].
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Stuck> {
        self.run_within(LIMIT, work).await
    }

    /// The same, for work that takes longer, such as reading a large file.
    pub(crate) async fn run_within<T: Send + 'static>(
        &self,
        limit: Duration,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Stuck> {
        let places = tokio::time::timeout(limit, self.places()).await;
        let places = places.map_err(|_| Stuck::Crowded)??;
        let working = tokio::task::spawn_blocking(move || {
            let done = work();
            // Only now: work whose caller has given up still occupies its thread.
            drop(places);
            done
        });
        let done = tokio::time::timeout(limit, working).await;
        done.map_err(|_| Stuck::Slow)?.map_err(|_| Stuck::Slow)
    }

    async fn places(&self) -> Result<[OwnedSemaphorePermit; 2], Stuck> {
        let place = async |of: &Arc<Semaphore>| {
            let place = Arc::clone(of).acquire_owned().await;
            place.map_err(|_| Stuck::Crowded)
        };
        // The session's own first: a session that waits for it takes nothing from others.
        Ok([place(&self.own).await?, place(&self.all).await?])
    }
}

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Slow => write!(
                f,
                "the file system did not answer in time. Use a path on another one."
            ),
            Self::Crowded => write!(
                f,
                "earlier file operations have not finished, because a file system does not respond. Wait until it \
                 does, and try again."
            ),
        }
    }
}

static ALL: LazyLock<Arc<Semaphore>> =
    LazyLock::new(|| Arc::new(Semaphore::new(MOST_OF_ALL_SESSIONS)));

/// How long a file operation may take. Local disks need milliseconds; a network file system that has not responded by
/// then most likely never will.
pub(crate) const LIMIT: Duration = Duration::from_secs(10);

/// How many operations of one session may run. A call needs one at a time.
const MOST_PER_SESSION: usize = 4;

/// How many of all sessions may run: far fewer than the runtime's 512 threads for blocking work, and enough that
/// sixteen sessions have to hang before others are refused.
const MOST_OF_ALL_SESSIONS: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    fn own(all: &Arc<Semaphore>) -> FileThreads {
        FileThreads {
            own: Arc::new(Semaphore::new(MOST_PER_SESSION)),
            all: Arc::clone(all),
        }
    }

    #[tokio::test]
    async fn hanging_operations_time_out_and_are_limited_and_others_continue() {
        let all = Arc::new(Semaphore::new(MOST_OF_ALL_SESSIONS));
        let (hanging, other) = (own(&all), own(&all));
        let short = Duration::from_millis(20);
        let mut ends = Vec::new();
        for _ in 0..MOST_PER_SESSION {
            let (end, ended) = mpsc::channel::<()>();
            ends.push(end);
            let stuck = hanging.run_within(short, move || ended.recv()).await;
            assert_eq!(stuck.err(), Some(Stuck::Slow));
        }
        let refused = hanging.run_within(short, || ()).await;
        assert_eq!(refused, Err(Stuck::Crowded));
        assert_eq!(other.run(|| 1).await, Ok(1));
        assert_eq!(
            all.available_permits(),
            MOST_OF_ALL_SESSIONS - MOST_PER_SESSION
        );
        // An operation that finishes late frees its slot.
        ends.clear();
        assert_eq!(hanging.run(|| 2).await, Ok(2));
    }
}
