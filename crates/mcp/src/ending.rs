//! When and why serving ends.

use std::{
    io,
    sync::{Arc, OnceLock},
};
use tokio_util::sync::CancellationToken;

/// Why a client could not be served any longer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ServeError {
    /// The client's messages could not be read.
    #[error("cannot read from the MCP client ({kind}); restart the client")]
    Read {
        /// What the system said.
        kind: io::ErrorKind,
    },
    /// The client no longer reads answers.
    #[error("cannot write to the MCP client ({kind}); restart the client")]
    Write {
        /// What the system said.
        kind: io::ErrorKind,
    },
    /// The backend has stopped.
    #[error("the part of tabmux that runs the calls has stopped; restart the MCP server")]
    BackendGone,
    /// rmcp failed.
    #[error("the MCP connection failed ({detail}); restart the MCP server")]
    Protocol {
        /// The error of rmcp.
        detail: String,
    },
}

/// Ends everything that belongs to a client, and keeps the first reason.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ending {
    token: CancellationToken,
    error: Arc<OnceLock<ServeError>>,
}

impl Ending {
    /// The client closed its input.
    pub(crate) fn end(&self) {
        self.token.cancel();
    }

    pub(crate) fn end_with(&self, error: ServeError) {
        if !self.token.is_cancelled() {
            let _ = self.error.set(error);
        }
        self.token.cancel();
    }

    pub(crate) async fn ended(&self) {
        self.token.cancelled().await;
    }

    pub(crate) fn result(&self) -> Result<(), ServeError> {
        self.error.get().cloned().map_or(Ok(()), Err)
    }
}
