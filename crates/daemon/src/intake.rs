//! How much of what pages' workers say may be on its way to the main loop, and how much of it is kept: in bytes,
//! for each connection, for each origin, and in all.
//!
//! Whoever has used up a share waits, and stops reading meanwhile: what it says more waits on its own side.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tabmux_browser::pace::Pace;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// What all workers share.
#[derive(Debug)]
pub(crate) struct Intake {
    on_its_way: Shares,
    kept: Shares,
    paces: Paces,
}

/// One connection's shares.
#[derive(Debug)]
pub(crate) struct ConnectionShares {
    /// Of what is on its way to the main loop.
    pub(crate) on_its_way: Share,
    /// Of what the main loop keeps.
    pub(crate) kept: Share,
    /// Of what is read.
    pub(crate) paces: ConnectionPaces,
}

/// How fast a connection, its origin and all may speak.
#[derive(Clone, Debug)]
pub(crate) struct ConnectionPaces([Arc<Mutex<Pace>>; 3]);

/// What one connection may use of something, beside what its origin and all may.
#[derive(Debug)]
pub(crate) struct Share {
    connection: Arc<Semaphore>,
    origin: Arc<Semaphore>,
    all: Arc<Semaphore>,
    bounds: Bounds,
}

/// Bytes that are used until this is dropped.
#[derive(Debug, Default)]
pub(crate) struct Held {
    _permits: [Option<OwnedSemaphorePermit>; 3],
}

/// Whose share is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UsedUp {
    Connection,
    Origin,
    All,
}

/// In bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub(crate) connection: usize,
    pub(crate) origin: usize,
    pub(crate) all: usize,
    /// What the smallest thing counts.
    pub(crate) least: usize,
}

#[derive(Debug)]
struct Shares {
    bounds: Bounds,
    origins: Mutex<HashMap<Arc<str>, Weak<Semaphore>>>,
    all: Arc<Semaphore>,
}

impl Default for Intake {
    fn default() -> Self {
        Self {
            on_its_way: Shares::new(ON_ITS_WAY),
            kept: Shares::new(KEPT),
            paces: Paces::default(),
        }
    }
}

impl Intake {
    /// The shares of a new connection.
    pub(crate) fn connect(&self, origin: &Arc<str>) -> ConnectionShares {
        ConnectionShares {
            on_its_way: self.on_its_way.connect(origin),
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
    /// Resolves when so many bytes more may be read. Whoever is too fast waits for its own share first, then
    /// for its origin's: it takes nothing from the others meanwhile.
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

/// What those of one origin share, as long as there are some.
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
    /// Waits until there is room for so many bytes. What is larger than the share goes alone.
    pub(crate) async fn take(&self, bytes: usize) -> Held {
        let bytes = self.counted(bytes);
        // They are never closed.
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

    /// Takes room for so many bytes if there is some, else says whose is used up.
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
    /// Why a tool is not taken in, for the page's developer.
    pub(crate) fn refuses_tools(self) -> String {
        let mib = |bytes: usize| bytes / (1_024 * 1_024);
        let (whose, most) = match self {
            Self::Connection => ("The tools of one application", mib(KEPT.connection)),
            Self::Origin => ("The tools of one origin", mib(KEPT.origin)),
            Self::All => ("The tools of all pages", mib(KEPT.all)),
        };
        format!(
            "{whose} may have {most} MiB of names, descriptions and schemas, and have them already. Unregister some, or \
             shorten them."
        )
    }
}

/// How many bytes are read in a second: they are decoded, cleaned and checked, which takes a tenth of a
/// second of one processor for each MiB.
const READ: ReadBounds = ReadBounds {
    connection: 1_024 * 1_024,
    origin: 2 * 1_024 * 1_024,
    all: 4 * 1_024 * 1_024,
};
/// So many seconds' worth may be read at once, after a quiet time: a reconnect.
const READ_AT_ONCE: u32 = 4;

struct ReadBounds {
    connection: u32,
    origin: u32,
    all: u32,
}

/// What is on its way to the main loop. Its queue has room for 1,024 events, and half of it stays free for
/// everybody else: 2 MiB are 512 of the smallest.
pub(crate) const ON_ITS_WAY: Bounds = Bounds {
    connection: 256 * 1_024,
    origin: 1_024 * 1_024,
    all: 2 * 1_024 * 1_024,
    least: 4 * 1_024,
};

/// What is kept of tools: texts that tabs of one application have in common count once, names in each tab.
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
        // The smallest thing counts as well.
        let _third = other.try_take(0).unwrap();
        let _fourth = other.try_take(50).unwrap();
        assert_eq!(other.try_take(10).unwrap_err(), UsedUp::All);
        drop(first);
        assert!(one.try_take(90).is_ok());
        // What was refused has kept nothing.
        assert_eq!(shares.all.available_permits(), 200 - 50 - 10 - 50);
    }

    #[tokio::test]
    async fn who_has_used_up_a_share_waits_and_others_do_not() {
        let shares = Shares::new(SMALL);
        let (loud, quiet) = (share(&shares, "a"), share(&shares, "b"));
        // More than there is goes alone.
        let held = loud.take(1_000_000).await;
        let mut more = Box::pin(loud.take(10));
        assert!(futures_util::poll!(&mut more).is_pending());
        quiet.take(60).await;
        drop(held);
        more.await;
    }

    #[test]
    fn origins_that_nobody_comes_from_are_forgotten() {
        let shares = Shares::new(SMALL);
        for number in 0..100 {
            drop(share(&shares, &format!("http://{number}.test")));
        }
        assert_eq!(shares.origins.lock().unwrap().len(), 1);
    }
}
