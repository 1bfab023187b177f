//! A browser that a grid hands out: Selenium Grid, Selenoid, or a plain chromedriver. The grid decides where it runs
//! and who waits; we keep the session alive and give it back. There is never another browser instead.

mod hub;
mod lease;
mod lease_files;
mod masking;

pub(crate) use lease::GridLease;
pub use lease_files::release_orphans;

use super::{Acquired, ConnectError, Lease, Ownership, Say, websocket};
use crate::dial::{self, RemoteAddress};
use crate::endpoint;
use hub::{Hub, State};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;
use tabmux_cdp::Connection;

/// A grid, and the place that its browser has with us.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Its address, `grid+http://…`. The query has the capabilities.
    pub address: RemoteAddress,
    /// Where its browser waits while we are not connected to it.
    pub place: GridPlace,
}

/// The place of one browser of a grid. Clones are the same place: who connects again through it finds the same
/// browser, if it lives. Dropping the last one gives the browser back.
#[derive(Clone)]
pub struct GridPlace(Arc<Inner>);

struct Inner {
    number: u64,
    /// Whether it has had a browser.
    used: AtomicBool,
    lease: Mutex<Option<Box<GridLease>>>,
}

impl Default for GridPlace {
    fn default() -> Self {
        static PLACES: AtomicU64 = AtomicU64::new(1);
        let number = PLACES.fetch_add(1, Ordering::Relaxed);
        Self(Arc::new(Inner {
            number,
            used: AtomicBool::new(false),
            lease: Mutex::new(None),
        }))
    }
}

impl GridPlace {
    /// Different for each place of this process.
    pub fn number(&self) -> u64 {
        self.0.number
    }

    /// Whether it has had a browser before. From now on it has.
    fn has_had_one(&self) -> bool {
        self.0.used.swap(true, Ordering::Relaxed)
    }

    fn take(&self) -> Option<Box<GridLease>> {
        let mut lease = self.0.lease.lock().unwrap_or_else(PoisonError::into_inner);
        lease.take()
    }

    /// For the browser itself, which must not keep its own place.
    fn downgrade(&self) -> WeakPlace {
        WeakPlace(Arc::downgrade(&self.0))
    }

    fn put(&self, lease: Box<GridLease>) {
        let mut place = self.0.lease.lock().unwrap_or_else(PoisonError::into_inner);
        *place = Some(lease);
    }
}

/// A place that may be given up meanwhile.
struct WeakPlace(Weak<Inner>);

impl WeakPlace {
    fn get(&self) -> Option<GridPlace> {
        self.0.upgrade().map(GridPlace)
    }
}

impl PartialEq for GridPlace {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for GridPlace {}

impl fmt::Debug for GridPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GridPlace")
    }
}

/// Finds the browser that the place has, or has the grid hand out a new one.
pub(super) async fn acquire(grid: &Grid, say: Say<'_>) -> Result<Acquired, ConnectError> {
    let hub = Hub::of(&grid.address)?;
    // Those of a daemon that was killed may have what we are about to ask for.
    tokio::spawn(lease_files::release_orphans_of(hub.clone()));
    if let Some(acquired) = again(grid).await? {
        return Ok(acquired);
    }
    let lease = Box::new(hand_out(&hub, grid, say).await?);
    match websocket::connect(lease.socket(), dial::NAMED_LIMIT).await {
        Ok(transport) => Ok(Acquired {
            replaces: grid.place.has_had_one(),
            ..with(transport, lease)
        }),
        Err(error) => {
            lease.release().await;
            Err(error)
        }
    }
}

/// Connects again to the browser that the place has, if there is one: a dead socket is not a dead browser. Only what the
/// grid says is gone, or lives where nothing answers, is given back.
async fn again(grid: &Grid) -> Result<Option<Acquired>, ConnectError> {
    let Some(lease) = grid.place.take() else {
        return Ok(None);
    };
    let taken = Taken {
        lease: Some(lease),
        place: &grid.place,
    };
    let mut state = State::Unknown;
    let mut pause = FIRST_PAUSE;
    for _ in 0..MOST_REDIALS {
        let Some(lease) = &taken.lease else { break };
        match websocket::connect(lease.socket(), REDIAL_LIMIT).await {
            Ok(transport) => return Ok(taken.keep().map(|lease| with(transport, lease))),
            Err(error) => tracing::info!(%error, "a browser of a grid is not reached again yet"),
        }
        state = lease.state().await;
        if let State::Gone(_) = state {
            break;
        }
        tokio::time::sleep(pause).await;
        pause *= 2;
    }
    if state == State::Unknown {
        return Err(ConnectError::Refused(format!(
            "The grid at {} does not answer, so it is not known whether the browser that it handed out still runs. Check \
             that the grid runs, and call again.",
            endpoint::shown(&grid.address.url)
        )));
    }
    if let Some(lease) = taken.keep() {
        lease.release().await;
    }
    Ok(None)
}

/// A lease that was taken out of its place to connect again. It goes back there if nobody waits for that any more.
struct Taken<'a> {
    lease: Option<Box<GridLease>>,
    place: &'a GridPlace,
}

impl Taken<'_> {
    fn keep(mut self) -> Option<Box<GridLease>> {
        self.lease.take()
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        if let Some(lease) = self.lease.take() {
            self.place.put(lease);
        }
    }
}

/// Asks for a browser, and says so until there is an answer.
async fn hand_out(hub: &Hub, grid: &Grid, say: Say<'_>) -> Result<GridLease, ConnectError> {
    let shown = endpoint::shown(&grid.address.url);
    let asking = async {
        let since = tokio::time::Instant::now();
        loop {
            let waited = since.elapsed().as_secs();
            say(format!(
                "Waiting for a browser of {shown}, {waited} s so far"
            ));
            tokio::time::sleep(SAY_EVERY).await;
        }
    };
    tokio::select! {
        handed_out = GridLease::ask_for(hub, grid) => handed_out,
        () = asking => Err(ConnectError::GivenUp),
    }
}

fn with(transport: tabmux_cdp::WebSocketTransport, lease: Box<GridLease>) -> Acquired {
    let (session, events) = Connection::start(transport);
    Acquired {
        session,
        events,
        ownership: Ownership::Ours(Lease::Grid(lease)),
        replaces: false,
    }
}

const SAY_EVERY: Duration = Duration::from_secs(2);
const REDIAL_LIMIT: Duration = Duration::from_secs(10);
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// About 16 s of pauses.
const MOST_REDIALS: u32 = 6;

#[cfg(test)]
mod tests;
