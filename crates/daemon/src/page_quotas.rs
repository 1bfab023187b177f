//! Quotas for the messages of page workers: how many bytes may be queued for the main loop and how many are kept, for
//! each connection, for each origin, and in total.
//!
//! When a connection has used up a quota, the daemon stops reading it, so further messages wait on the sender's side.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tabmux_browser::pace::Pace;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The quotas of all workers.
#[derive(Debug)]
pub(crate) struct PageQuotas {
    queued: Shares,
    kept: Shares,
    paces: Paces,
}

/// The quotas of one connection.
#[derive(Debug)]
pub(crate) struct ConnectionShares {
    /// For messages that are queued for the main loop.
    pub(crate) queued: Share,
    /// For what the main loop keeps.
    pub(crate) kept: Share,
    /// For the rate at which messages are read.
    pub(crate) paces: ConnectionPaces,
}

/// The read rates of a connection, its origin and all connections.
#[derive(Clone, Debug)]
pub(crate) struct ConnectionPaces([Arc<Mutex<Pace>>; 3]);

/// A byte quota of one connection, together with those of its origin and of all.
#[derive(Debug)]
pub(crate) struct Share {
    connection: Arc<Semaphore>,
    origin: Arc<Semaphore>,
    all: Arc<Semaphore>,
    bounds: Bounds,
}

/// Bytes that are reserved until this is dropped.
#[derive(Debug, Default)]
pub(crate) struct Held {
    _permits: [Option<OwnedSemaphorePermit>; 3],
}

/// Which quota is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UsedUp {
    Connection,
    Origin,
    All,
}

/// Limits in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub(crate) connection: usize,
    pub(crate) origin: usize,
    pub(crate) all: usize,
    /// The minimum that any item counts.
    pub(crate) least: usize,
}

#[derive(Debug)]
struct Shares {
    bounds: Bounds,
    origins: Mutex<HashMap<Arc<str>, Weak<Semaphore>>>,
    all: Arc<Semaphore>,
}

impl Default for PageQuotas {
    fn default() -> Self {
        Self {
            queued: Shares::new(QUEUED),
            kept: Shares::new(KEPT),
            paces: Paces::default(),
        }
    }
}

impl PageQuotas {
    /// The quotas of a new connection.
    pub(crate) fn connect(&self, origin: &Arc<str>) -> ConnectionShares {
        ConnectionShares {
            queued: self.queued.connect(origin),
            kept: self.kept.connect(origin),
            paces: self.paces.connect(origin),
        }
    }
}

#[derive(Debug)]
struct Paces {
    origins: Mutex<HashMap<Arc<str>, Weak<Mutex<Pace>>>>,
    all: Arc<Mutex<Pace>>,
}

impl Default for Paces {
    fn default() -> Self {
        Self {
            origins: Mutex::default(),
            all: new_pace(READ.all),
        }
    }
}

impl Paces {
    fn connect(&self, origin: &Arc<str>) -> ConnectionPaces {
        let shared = of_origin(&self.origins, origin, || new_pace(READ.origin));
        ConnectionPaces([new_pace(READ.connection), shared, Arc::clone(&self.all)])
    }
}

impl ConnectionPaces {
    /// Resolves when so many bytes more may be read. A connection that is too fast waits for its own rate first, then
    /// for its origin's; it uses nothing of the shared rates meanwhile.
    pub(crate) async fn next(&self, bytes: usize) {
        for pace in &self.0 {
            let free_at = {
                let mut pace = pace.lock().unwrap_or_else(PoisonError::into_inner);
                pace.spend(bytes);
                pace.free_at()
            };
            tokio::time::sleep_until(free_at).await;
        }
    }
}

fn new_pace(per_second: u32) -> Arc<Mutex<Pace>> {
    let burst = per_second.saturating_mul(READ_AT_ONCE);
    Arc::new(Mutex::new(Pace::new(per_second, burst)))
}

/// The value that all connections of one origin share, as long as there are any.
fn of_origin<T>(
    origins: &Mutex<HashMap<Arc<str>, Weak<T>>>,
    origin: &Arc<str>,
    new: impl FnOnce() -> Arc<T>,
) -> Arc<T> {
    let mut origins = origins.lock().unwrap_or_else(PoisonError::into_inner);
    origins.retain(|_, shared| shared.strong_count() > 0);
    let known = origins.get(origin).and_then(Weak::upgrade);
    known.unwrap_or_else(|| {
        let shared = new();
        origins.insert(Arc::clone(origin), Arc::downgrade(&shared));
        shared
    })
}

impl Shares {
    fn new(bounds: Bounds) -> Self {
        Self {
            bounds,
            origins: Mutex::default(),
            all: Arc::new(Semaphore::new(bounds.all)),
        }
    }

    fn connect(&self, origin: &Arc<str>) -> Share {
        let shared = of_origin(&self.origins, origin, || {
            Arc::new(Semaphore::new(self.bounds.origin))
        });
        Share {
            connection: Arc::new(Semaphore::new(self.bounds.connection)),
            origin: shared,
            all: Arc::clone(&self.all),
            bounds: self.bounds,
        }
    }
}

impl Share {
    /// Waits until so many bytes are free. An item that is larger than the quota takes all of it.
    pub(crate) async fn take(&self, bytes: usize) -> Held {
        let bytes = self.counted(bytes);
        // The semaphores are never closed.
        let take = async |semaphore: &Arc<Semaphore>| {
            Arc::clone(semaphore).acquire_many_owned(bytes).await.ok()
        };
        Held {
            _permits: [
                take(&self.connection).await,
                take(&self.origin).await,
                take(&self.all).await,
            ],
        }
    }

    /// Reserves so many bytes if they are free, else says which quota is used up.
    pub(crate) fn try_take(&self, bytes: usize) -> Result<Held, UsedUp> {
        let bytes = self.counted(bytes);
        let take = |semaphore: &Arc<Semaphore>, whose| {
            let permit = Arc::clone(semaphore).try_acquire_many_owned(bytes);
            permit.map(Some).map_err(|_| whose)
        };
        Ok(Held {
            _permits: [
                take(&self.connection, UsedUp::Connection)?,
                take(&self.origin, UsedUp::Origin)?,
                take(&self.all, UsedUp::All)?,
            ],
        })
    }

    fn counted(&self, bytes: usize) -> u32 {
        let Bounds {
            connection, least, ..
        } = self.bounds;
        u32::try_from(bytes.clamp(least, connection)).unwrap_or(u32::MAX)
    }
}

impl UsedUp {
    /// Why a tool is rejected, for the page's developer.
    pub(crate) fn refuses_tools(self) -> String {
        let mib = |bytes: usize| bytes / (1_024 * 1_024);
        let (whose, most) = match self {
            Self::Connection => ("The tools of one application", mib(KEPT.connection)),
            Self::Origin => ("The tools of one origin", mib(KEPT.origin)),
            Self::All => ("The tools of all pages", mib(KEPT.all)),
        };
        format!(
            "{whose} may have {most} MiB of names, descriptions and schemas, and use all of it already. Unregister some, or \
             shorten them."
        )
    }
}

/// Bytes read per second. Decoding, cleaning and checking take a tenth of a second of one processor for each MiB.
const READ: ReadBounds = ReadBounds {
    connection: 1_024 * 1_024,
    origin: 2 * 1_024 * 1_024,
    all: 4 * 1_024 * 1_024,
};
/// The burst after a quiet time, in seconds of the rate: a reconnect.
const READ_AT_ONCE: u32 = 4;

struct ReadBounds {
    connection: u32,
    origin: u32,
    all: u32,
}

/// Limits for messages that are queued for the main loop. Its queue has 1,024 entries, and half of them stay free for
/// other events: 2 MiB are 512 of the smallest.
pub(crate) const QUEUED: Bounds = Bounds {
    connection: 256 * 1_024,
    origin: 1_024 * 1_024,
    all: 2 * 1_024 * 1_024,
    least: 4 * 1_024,
};

/// Limits for the tools that are kept. A text that tabs of one application share counts once, names count in each
/// tab.
pub(crate) const KEPT: Bounds = Bounds {
    connection: 4 * 1_024 * 1_024,
    origin: 8 * 1_024 * 1_024,
    all: 16 * 1_024 * 1_024,
    least: 1,
};

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: Bounds = Bounds {
        connection: 100,
        origin: 150,
        all: 200,
        least: 10,
    };

    fn share(shares: &Shares, origin: &str) -> Share {
        shares.connect(&origin.into())
    }

    #[test]
    fn a_connection_an_origin_and_all_have_their_bounds_and_bytes_come_back() {
        let shares = Shares::new(SMALL);
        let (one, two) = (share(&shares, "a"), share(&shares, "a"));
        let other = share(&shares, "b");
        let first = one.try_take(90).unwrap();
        assert_eq!(one.try_take(20).unwrap_err(), UsedUp::Connection);
        let _second = two.try_take(50).unwrap();
        assert_eq!(two.try_take(50).unwrap_err(), UsedUp::Origin);
        // Even an empty item counts.
        let _third = other.try_take(0).unwrap();
        let _fourth = other.try_take(50).unwrap();
        assert_eq!(other.try_take(10).unwrap_err(), UsedUp::All);
        drop(first);
        assert!(one.try_take(90).is_ok());
        // A refused request reserved nothing.
        assert_eq!(shares.all.available_permits(), 200 - 50 - 10 - 50);
    }

    #[tokio::test]
    async fn a_used_up_quota_delays_only_its_owner() {
        let shares = Shares::new(SMALL);
        let (loud, quiet) = (share(&shares, "a"), share(&shares, "b"));
        // More than the quota takes all of it.
        let held = loud.take(1_000_000).await;
        let mut more = Box::pin(loud.take(10));
        assert!(futures_util::poll!(&mut more).is_pending());
        quiet.take(60).await;
        drop(held);
        more.await;
    }

    #[test]
    fn origins_without_connections_are_forgotten() {
        let shares = Shares::new(SMALL);
        for number in 0..100 {
            drop(share(&shares, &format!("http://{number}.test")));
        }
        assert_eq!(shares.origins.lock().unwrap().len(), 1);
    }
}
