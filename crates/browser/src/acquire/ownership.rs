//! Who owns a browser, and what we have to give back.

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
}

impl Ownership {
    pub(crate) fn is_ours(&self) -> bool {
        matches!(self, Self::Ours(_))
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
        }
    }

    /// Waits up to `grace` until the browser has ended by itself, then ends it.
    async fn release(self, grace: Duration) {
        match self {
            Self::Process(process) => process.end(grace).await,
        }
    }
}
