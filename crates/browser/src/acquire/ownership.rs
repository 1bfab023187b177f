//! Who owns a browser, and what we have to give back.

use super::grid::GridLease;
use super::launch::BrowserProcess;
use std::time::Duration;

/// Who owns a browser.
#[derive(Debug)]
pub(crate) enum Ownership {
    /// We do: its settings are ours to change, and it ends with our connection.
    Ours(Lease),
    /// Another program or the user started it. We disconnect from it, and leave its settings alone.
    Theirs,
    /// A person uses it now: we touch only the tabs that calls name, and the person can end our CDP sessions.
    Person,
}

/// What has to be kept alive while a browser of ours is used, and given back afterwards. Dropping it gives it back
/// without waiting.
#[derive(Debug)]
pub(crate) enum Lease {
    /// A child process.
    Process(Box<BrowserProcess>),
    /// A session of a grid.
    Grid(Box<GridLease>),
}

/// What became of a browser whose connection ended.
#[derive(Debug)]
pub(crate) enum Loss {
    /// It is gone, or not ours to know.
    Gone,
    /// The grid that handed it out says that it lives: the next connection finds its tabs.
    Disconnected(String),
    /// The grid says that it is gone, and why.
    Ended(String),
}

impl Ownership {
    /// Whether we launched it.
    pub(crate) fn is_launched(&self) -> bool {
        matches!(self, Self::Ours(Lease::Process(_)))
    }

    /// Whether a grid handed it out.
    pub(crate) fn is_of_grid(&self) -> bool {
        matches!(self, Self::Ours(Lease::Grid(_)))
    }

    pub(crate) fn is_person(&self) -> bool {
        matches!(self, Self::Person)
    }

    /// Resolves when the lease has ended by itself; never if there is none.
    pub(crate) async fn ended(&mut self) {
        match self {
            Self::Ours(lease) => lease.ended().await,
            Self::Theirs | Self::Person => std::future::pending().await,
        }
    }

    /// The connection has ended. Gives back the lease, unless we did not want the end and the browser lives.
    pub(crate) async fn end(self, wanted: bool, grace: Duration) -> Loss {
        match self {
            Self::Ours(Lease::Grid(lease)) if !wanted => lease.lost().await,
            other => {
                other.release(grace).await;
                Loss::Gone
            }
        }
    }

    /// Gives back the lease, if there is one.
    pub(crate) async fn release(self, grace: Duration) {
        match self {
            Self::Ours(lease) => lease.release(grace).await,
            Self::Theirs | Self::Person => {}
        }
    }
}

impl Lease {
    async fn ended(&mut self) {
        match self {
            Self::Process(process) => process.exited().await,
            // A grid does not say so: it is asked when the browser does not answer.
            Self::Grid(_) => std::future::pending().await,
        }
    }

    /// Waits up to `grace` until the browser has ended by itself, then ends it.
    async fn release(self, grace: Duration) {
        match self {
            Self::Process(process) => process.end(grace).await,
            Self::Grid(lease) => lease.release().await,
        }
    }
}
