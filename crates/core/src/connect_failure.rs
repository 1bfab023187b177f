//! Why connecting to a browser failed, and what to do about it.

/// Why connecting to a browser failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConnectFailure {
    /// No browser is running, and none may be launched.
    NotFound,
    /// A browser was found or launched, but connecting to it failed.
    Failed {
        /// What happened.
        error: String,
        /// What to do next.
        instructions: String,
    },
    /// The extension is not connected, although tabmux waited for it. A retry only waits again.
    Away {
        /// What happened.
        error: String,
        /// What to do next.
        instructions: String,
    },
}

impl ConnectFailure {
    /// What happened.
    pub fn error(&self) -> &str {
        match self {
            Self::NotFound => "No browser found",
            Self::Failed { error, .. } | Self::Away { error, .. } => error,
        }
    }

    /// What to do next.
    pub fn instructions(&self) -> &str {
        match self {
            Self::NotFound => {
                "Please open Chrome with the Browser Tools extension enabled, or call with launch=true"
            }
            Self::Failed { instructions, .. } | Self::Away { instructions, .. } => instructions,
        }
    }
}
