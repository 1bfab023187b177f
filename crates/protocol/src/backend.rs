//! The trait that `mcp` speaks to, whoever is behind it.

use crate::{CallFailure, CallReply, CallRequest, Progress, RequestId, ToolInfo};
use std::future::Future;
use std::path::PathBuf;

/// One session's view of the system: the in-process main loop, or (later) a socket to the daemon.
///
/// A value is one session. Dropping it ends the session.
pub trait Backend: Send + Sync + 'static {
    /// The client says who it is, before anything else. One that never does has no handshake.
    fn introduce(&self, client: ClientFacts) -> impl Future<Output = ()> + Send {
        drop(client);
        std::future::ready(())
    }

    /// The client says in which folders it works, all of them; again whenever they change. There are at
    /// most [`MOST_ROOTS`](crate::session::MOST_ROOTS).
    fn works_in(&self, roots: Vec<PathBuf>) -> impl Future<Output = ()> + Send {
        drop(roots);
        std::future::ready(())
    }

    /// The session's tool list as it is now, in the order it is published.
    fn tools(&self) -> impl Future<Output = Result<Vec<ToolInfo>, CallFailure>> + Send;

    /// Runs a tool. Resolves exactly once; dropping the future does not cancel a call that is at work.
    ///
    /// Calls are taken in the order in which their futures are first polled.
    fn call(
        &self,
        request: CallRequest,
    ) -> impl Future<Output = Result<CallReply, CallFailure>> + Send;

    /// Cancels a call. Its `call` future then resolves to [`CallFailure::Cancelled`], unless the
    /// answer was already on its way.
    fn cancel(&self, request: &RequestId);

    /// The next thing the session should be told, or `None` when the backend is gone.
    /// One caller at a time.
    ///
    /// What happened before a call was answered is ready here before that call's future resolves,
    /// so that it can be told before the answer.
    fn next_event(&self) -> impl Future<Output = Option<BackendEvent>> + Send;
}

/// What a client said in its handshake.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientFacts {
    /// The name of its program.
    pub name: String,
}

/// What a backend tells a session without being asked.
#[derive(Clone, Debug, PartialEq)]
pub enum BackendEvent {
    /// The tool list changed, or now means another tab: fetch it again.
    ToolsChanged,
    /// A call has come further.
    Progress(Progress),
}
