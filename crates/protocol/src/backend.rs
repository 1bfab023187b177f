//! The trait through which `mcp` reaches the daemon.

use crate::{CallFailure, CallReply, CallRequest, Progress, RequestId, ToolInfo};
use std::future::Future;
use std::path::PathBuf;

/// One session: in the main loop of this process, or over a socket to the daemon. Dropping it ends the session.
pub trait Backend: Send + Sync + 'static {
    /// Tells the backend which client it serves, before any other call. Not called for clients without a
    /// handshake.
    fn introduce(&self, client: ClientFacts) -> impl Future<Output = ()> + Send {
        drop(client);
        std::future::ready(())
    }

    /// Sets all folders in which the client works, again whenever they change. There are at most
    /// [`MOST_ROOTS`](crate::session::MOST_ROOTS).
    fn works_in(&self, roots: Vec<PathBuf>) -> impl Future<Output = ()> + Send {
        drop(roots);
        std::future::ready(())
    }

    /// The session's current tool list, in published order.
    fn tools(&self) -> impl Future<Output = Result<Vec<ToolInfo>, CallFailure>> + Send;

    /// Runs a tool. Dropping the future does not cancel a running call.
    ///
    /// Calls are accepted in the order in which their futures are first polled.
    fn call(
        &self,
        request: CallRequest,
    ) -> impl Future<Output = Result<CallReply, CallFailure>> + Send;

    /// Cancels a call. Its `call` future then resolves to [`CallFailure::Cancelled`], unless the answer was
    /// already sent.
    fn cancel(&self, request: &RequestId);

    /// The next event for the session, or `None` when the backend is gone. One caller at a time.
    ///
    /// Events that happened before a call was answered are ready here before that call's future resolves, so
    /// that they can be sent before the answer.
    fn next_event(&self) -> impl Future<Output = Option<BackendEvent>> + Send;
}

/// What a client sent in its handshake.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientFacts {
    /// The name of its program.
    pub name: String,
}

/// An event from the backend.
#[derive(Clone, Debug, PartialEq)]
pub enum BackendEvent {
    /// The tool list changed, or now refers to another tab: fetch it again.
    ToolsChanged,
    /// The progress of a call.
    Progress(Progress),
}
