//! Reads the policy file on a separate thread, for all callers: a file system that hangs delays only callers, and if
//! it hangs for long, nothing is permitted.

use super::{PersonRules, Stamp, Unreadable, read, stamp};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, SyncSender};
use std::time::Duration;
use tokio::sync::watch;

/// A thread that reads one file.
#[derive(Clone, Debug)]
pub(crate) struct PolicyReader(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    ask: SyncSender<()>,
    asked: Arc<AtomicU64>,
    /// The last contents, and the number of the last request that they answer.
    seen: watch::Receiver<(u64, Seen)>,
    /// Whether the file system has timed out and has not answered since.
    hung: Arc<AtomicBool>,
}

/// The rules, or why they cannot be read.
pub(crate) type Seen = Arc<Result<PersonRules, Unreadable>>;

impl PolicyReader {
    /// Starts the thread, and waits briefly for the first result.
    pub(crate) fn start(path: PathBuf) -> Self {
        let mut known: Option<(Option<Stamp>, Seen)> = None;
        Self::with(FIRST_LIMIT, move || {
            let now = stamp(&path);
            let same = known.take().filter(|(stamp, _)| *stamp == now);
            let (_, seen) = known.insert(same.unwrap_or_else(|| (now, Arc::new(read(&path)))));
            Arc::clone(seen)
        })
    }

    fn with(limit: Duration, mut look: impl FnMut() -> Seen + Send + 'static) -> Self {
        let (ask, asks) = mpsc::sync_channel(1);
        let (first, answered) = mpsc::sync_channel(1);
        let nothing = Arc::new(Ok(PersonRules::default()));
        let (tell, seen) = watch::channel((0, nothing));
        let (asked, hung) = (Arc::<AtomicU64>::default(), Arc::<AtomicBool>::default());
        let looking = {
            let (asked, hung) = (Arc::clone(&asked), Arc::clone(&hung));
            move || {
                loop {
                    // Requests from here on may need another read.
                    let number = asked.load(Ordering::SeqCst);
                    let news = look();
                    tell.send_replace((number, news));
                    hung.store(false, Ordering::SeqCst);
                    let _ = first.try_send(());
                    if asks.recv().is_err() {
                        return;
                    }
                }
            }
        };
        // Without a thread there is no result, so nothing is permitted.
        let thread = std::thread::Builder::new().name("policy".into());
        drop(thread.spawn(looking));
        if answered.recv_timeout(limit).is_err() {
            hung.store(true, Ordering::SeqCst);
        }
        Self(Arc::new(Inner {
            ask,
            asked,
            seen,
            hung,
        }))
    }

    /// Reads the file again. A file system that hangs is waited for once, and not again until it answers.
    pub(crate) async fn reread(&self) {
        let Inner {
            ask,
            asked,
            seen,
            hung,
        } = &*self.0;
        let number = asked.fetch_add(1, Ordering::SeqCst) + 1;
        // If the queue is full, the thread has not started the previous read yet.
        let _ = ask.try_send(());
        if hung.load(Ordering::SeqCst) {
            return;
        }
        let mut seen = seen.clone();
        let looked = seen.wait_for(|(known, _)| *known >= number);
        if !matches!(tokio::time::timeout(LIMIT, looked).await, Ok(Ok(_))) {
            hung.store(true, Ordering::SeqCst);
        }
    }

    /// The last contents; `None` while the file system hangs.
    pub(crate) fn seen(&self) -> Option<Seen> {
        let hung = self.0.hung.load(Ordering::SeqCst);
        (!hung).then(|| Arc::clone(&self.0.seen.borrow().1))
    }
}

/// How long the old contents stay valid: a disk that wakes up takes a few seconds.
const LIMIT: Duration = Duration::from_secs(5);
/// The limit at the start of the daemon.
const FIRST_LIMIT: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[tokio::test(start_paused = true)]
    async fn a_file_system_that_hangs_delays_only_callers_and_permits_nothing() {
        let (go_on, wait) = channel();
        go_on.send(()).unwrap();
        let policy_reader = PolicyReader::with(Duration::from_secs(60), move || {
            let _ = wait.recv();
            Arc::new(Ok(PersonRules::default()))
        });
        assert!(policy_reader.seen().is_some());
        let begun = tokio::time::Instant::now();
        let mut asking = Box::pin(policy_reader.reread());
        assert!(futures_util::poll!(&mut asking).is_pending());
        // The old contents are still valid.
        assert!(policy_reader.seen().is_some());
        asking.await;
        assert_eq!(begun.elapsed(), LIMIT);
        assert!(policy_reader.seen().is_none());
        policy_reader.reread().await;
        assert_eq!(begun.elapsed(), LIMIT);
        // It answers again, the oldest request first.
        drop(go_on);
        while policy_reader.seen().is_none() {
            tokio::task::yield_now().await;
        }
        tokio::time::resume();
        policy_reader.reread().await;
        assert!(policy_reader.seen().is_some());
    }
}
