//! Why tabmux refuses something from a page, in sentences for the page's developer.

use thiserror::Error;

/// A connection, tab or tool of a page that was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PageRefusal {
    /// The limit of workers is reached.
    #[error(
        "{limit} workers of the page library are already connected. Close some of their tabs, then reload."
    )]
    TooManyConnections {
        /// The limit.
        limit: usize,
    },
    /// This worker has reached its limit of tabs.
    #[error("This worker already has {limit} tabs. Close some of them, then reload this one.")]
    TooManyPages {
        /// The limit.
        limit: usize,
    },
    /// The id that a tab chose is not valid.
    #[error(
        "A tab id has 1 to 64 of the characters A-Z a-z 0-9 _ - and is not a number. Make a new one."
    )]
    InvalidId,
    /// Another tab has this id: one of another origin, or a newer one.
    #[error("Another tab already has this id. Make a new one.")]
    IdTaken,
    /// The tab has reached its limit of tools.
    #[error(
        "This tab already offers {limit} tools. Unregister some, then register this one again."
    )]
    TooManyToolsInTab {
        /// The limit.
        limit: usize,
    },
    /// All tabs together have reached the limit of tools.
    #[error(
        "All tabs together already offer {limit} tools. Close some tabs, then register this one again."
    )]
    TooManyTools {
        /// The limit.
        limit: usize,
    },
    /// All tabs together have reached the limit of different tool names.
    #[error(
        "All tabs together already offer tools with {limit} different names. Close some tabs, then register \
         this one again."
    )]
    TooManyNames {
        /// The limit.
        limit: usize,
    },
}

impl PageRefusal {
    /// Whether the tab would be accepted with another id.
    pub fn is_about_the_name(self) -> bool {
        matches!(self, Self::InvalidId | Self::IdTaken)
    }
}
