//! Sending commands on one session.

use std::{fmt, time::Duration};

use bytes::Bytes;
use serde::Serialize;
use serde_json::value::RawValue;
use tokio::{
    sync::{mpsc, oneshot},
    time::timeout,
};

use crate::{
    connection::Connection,
    envelope::{Rejection, encode},
    error::CdpError,
    mux::{Accepted, Failure, Outcome},
    types::{Command, target::SessionId},
};

/// A session: a tab, a cross-site frame, a worker, or the browser itself. Cheap to clone.
#[derive(Clone)]
pub struct Session {
    connection: Connection,
    id: Option<SessionId>,
}

/// How long [`Session::send`] waits.
pub const DEFAULT_DEADLINE: Duration = Duration::from_secs(30);

impl Session {
    pub(crate) fn new(connection: Connection, id: Option<SessionId>) -> Self {
        Self { connection, id }
    }

    /// The session's id; `None` for the browser's own session.
    #[must_use]
    pub fn id(&self) -> Option<&SessionId> {
        self.id.as_ref()
    }

    /// The connection that the session is part of.
    #[must_use]
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Sends a command and waits for its response, at most [`DEFAULT_DEADLINE`].
    ///
    /// # Errors
    ///
    /// If the browser refuses, does not respond in time, or is gone.
    pub async fn send<C: Command>(&self, command: C) -> Result<C::Response, CdpError> {
        self.send_within(command, DEFAULT_DEADLINE).await
    }

    /// Sends a command and waits for its response, at most `limit`. Dropping the future drops the response.
    ///
    /// # Errors
    ///
    /// If the browser refuses, does not respond in time, or is gone.
    pub async fn send_within<C: Command>(
        &self,
        command: C,
        limit: Duration,
    ) -> Result<C::Response, CdpError> {
        let waiting = self.prepare(C::METHOD, &command)?;
        match waiting.outcome(C::METHOD, limit).await? {
            Some(result) => {
                let text = str::from_utf8(&result).map_err(|error| malformed(C::METHOD, &error))?;
                tabmux_text::decode(text).map_err(|error| malformed(C::METHOD, &error))
            }
            None => Ok(C::Response::default()),
        }
    }

    /// Sends a command of any name and returns the raw result.
    ///
    /// # Errors
    ///
    /// If the browser refuses, does not respond in time, or is gone.
    pub async fn send_raw(
        &self,
        method: &str,
        params: &(impl Serialize + Sync + ?Sized),
        limit: Duration,
    ) -> Result<Box<RawValue>, CdpError> {
        let result = self.prepare(method, params)?.outcome(method, limit).await?;
        match result {
            Some(result) => {
                serde_json::from_slice(&result).map_err(|error| malformed(method, &error))
            }
            None => Ok(RawValue::NULL.to_owned()),
        }
    }

    /// Sends a command and ignores its response. Commands that are sent later arrive later.
    pub fn post<C: Command>(&self, command: C) {
        let accepted = self.connection.mux().accept_unanswered(self.id());
        let Ok((id, writer)) = accepted else { return };
        match encode(id, self.id(), C::METHOD, &command) {
            Ok(frame) => {
                if writer.try_send(frame).is_err() {
                    tracing::warn!(
                        method = C::METHOD,
                        "dropped a command because the browser does not read"
                    );
                }
            }
            Err(error) => {
                tracing::warn!(method = C::METHOD, %error, "dropped a command that cannot be encoded as JSON")
            }
        }
    }

    /// Registers and encodes a command; the caller sends it and waits.
    fn prepare(
        &self,
        method: &str,
        params: &(impl Serialize + ?Sized),
    ) -> Result<Waiting<'_>, CdpError> {
        let accepted = self
            .connection
            .mux()
            .accept(self.id())
            .map_err(|failure| failed(method, failure))?;
        let Accepted { id, writer, answer } = accepted;
        let guard = Guard {
            connection: &self.connection,
            id,
        };
        let frame =
            encode(id, self.id(), method, params).map_err(|error| malformed(method, &error))?;
        Ok(Waiting {
            frame,
            writer,
            answer,
            _guard: guard,
        })
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

/// A command whose response the caller waits for.
struct Waiting<'a> {
    frame: String,
    writer: mpsc::Sender<String>,
    answer: oneshot::Receiver<Outcome>,
    _guard: Guard<'a>,
}

impl Waiting<'_> {
    async fn outcome(self, method: &str, limit: Duration) -> Result<Option<Bytes>, CdpError> {
        let Self {
            frame,
            writer,
            mut answer,
            _guard,
        } = self;
        let exchange = async {
            tokio::select! {
                biased;
                outcome = &mut answer => return outcome,
                // If the writer is gone, the mux fails the command, too.
                _ = writer.send(frame) => {}
            }
            // A closed connection keeps writing until the last sender is gone.
            drop(writer);
            answer.await
        };
        match timeout(limit, exchange).await {
            Ok(Ok(outcome)) => outcome.map_err(|failure| failed(method, failure)),
            Ok(Err(_)) => Err(failed(method, Failure::Disconnected)),
            Err(_) => Err(CdpError::TimedOut {
                method: method.to_owned(),
                limit,
            }),
        }
    }
}

/// Removes the command from the mux, however its future ends.
struct Guard<'a> {
    connection: &'a Connection,
    id: u64,
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.connection.mux().forget(self.id);
    }
}

fn failed(method: &str, failure: Failure) -> CdpError {
    let method = method.to_owned();
    match failure {
        Failure::Rejected(Rejection { code, message }) => CdpError::Rejected {
            method,
            code,
            message,
        },
        Failure::Disconnected => CdpError::Disconnected { method },
        Failure::Detached => CdpError::Detached { method },
        Failure::Overloaded => CdpError::Overloaded { method },
        Failure::TooLarge { bytes } => CdpError::TooLarge { method, bytes },
    }
}

fn malformed(method: &str, error: &impl fmt::Display) -> CdpError {
    CdpError::Malformed {
        method: method.to_owned(),
        detail: error.to_string(),
    }
}
