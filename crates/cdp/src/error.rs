//! Why a command failed.

use std::time::Duration;

use thiserror::Error;

/// Why a command failed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CdpError {
    /// The browser answered with an error.
    #[error("the browser refused {method}: {message}")]
    Rejected {
        /// The command.
        method: String,
        /// The browser's code for the error.
        code: i64,
        /// The browser's message.
        message: String,
    },
    /// The connection ended first. It is unknown whether the browser ran the command.
    #[error("the connection to the browser ended before {method} was answered; connect again")]
    Disconnected {
        /// The command.
        method: String,
    },
    /// The session ended first, because its tab, frame or worker is gone.
    #[error("the tab or frame was gone before {method} was answered; look at the tabs again")]
    Detached {
        /// The command.
        method: String,
    },
    /// The browser did not respond in time.
    #[error(
        "the browser did not answer {method} within {limit:?}; the page may be busy, try again later"
    )]
    TimedOut {
        /// The command.
        method: String,
        /// How long we waited.
        limit: Duration,
    },
    /// Too many commands are pending, so this one was not sent.
    #[error("{method} was not sent because too many commands wait for answers; try again later")]
    Overloaded {
        /// The command.
        method: String,
    },
    /// The response was too large. The browser has run the command.
    #[error(
        "the browser's answer to {method} has {bytes} bytes, which exceeds the limit; ask for less"
    )]
    TooLarge {
        /// The command.
        method: String,
        /// How large the response was.
        bytes: u64,
    },
    /// The parameters could not be encoded, or the response could not be parsed.
    #[error("{method} or its response could not be parsed: {detail}")]
    Malformed {
        /// The command.
        method: String,
        /// What was wrong.
        detail: String,
    },
}

impl CdpError {
    /// The command that failed.
    #[must_use]
    pub fn method(&self) -> &str {
        match self {
            Self::Rejected { method, .. }
            | Self::Disconnected { method }
            | Self::Detached { method }
            | Self::TimedOut { method, .. }
            | Self::Overloaded { method }
            | Self::TooLarge { method, .. }
            | Self::Malformed { method, .. } => method,
        }
    }
}
