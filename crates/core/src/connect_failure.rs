//! Why a browser could not be connected, and what to do about it.

/// Why there is no connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConnectFailure {
    /// No browser is running, and none may be launched.
    NotFound,
    /// There was something to connect to, but it did not work.
    Failed {
        /// What happened.
        error: String,
        /// What to do next.
        instructions: String,
    },
    /// Whoever leads to it is away, and was waited for: to try again is to wait again.
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
