//! Why a page is not heard, in sentences for the people who wrote it.

use thiserror::Error;

/// What a page offered and was not taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PageRefusal {
    /// Too many workers.
    #[error(
        "{limit} workers of the page library are connected already. Close some of their tabs, then reload."
    )]
    TooManyConnections {
        /// How many there may be.
        limit: usize,
    },
    /// Too many tabs behind one worker.
    #[error("This worker has {limit} tabs already. Close some of them, then reload this one.")]
    TooManyPages {
        /// How many it may have.
        limit: usize,
    },
    /// A tab's own name cannot be used.
    #[error(
        "A tab id has 1 to 64 of the characters A-Z a-z 0-9 _ - and is not a number. Make a new one."
    )]
    InvalidId,
    /// A tab's own name is that of another tab: one of another origin, or one that came later.
    #[error("Another tab has this id already. Make a new one.")]
    IdTaken,
    /// Too many tools in one tab.
    #[error(
        "This tab offers {limit} tools already. Unregister some, then register this one again."
    )]
    TooManyToolsInTab {
        /// How many it may offer.
        limit: usize,
    },
    /// Too many tools in all tabs together.
    #[error(
        "All tabs together offer {limit} tools already. Close some tabs, then register this one again."
    )]
    TooManyTools {
        /// How many there may be.
        limit: usize,
    },
    /// Too many different names.
    #[error(
        "All tabs together offer tools of {limit} different names already. Close some tabs, then register this one again."
    )]
    TooManyNames {
        /// How many there may be.
        limit: usize,
    },
}

impl PageRefusal {
    /// Whether a tab would be taken in under another name.
    pub fn is_about_the_name(self) -> bool {
        matches!(self, Self::InvalidId | Self::IdTaken)
    }
}
