//! The trait through which `mcp` reaches the daemon.

use crate::{
    CallFailure, CallReply, CallRequest, Progress, RequestId, ResourceQuery, ResourceRequest,
    ToolInfo,
};
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

    /// What the client should tell its model about the whole server. `None`: nothing.
    fn instructions(&self, client: Option<&ClientFacts>) -> Option<String> {
        let _ = client;
        None
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

    /// Answers a request about resources. Dropping the future does not cancel a running request.
    fn resources(
        &self,
        request: ResourceRequest,
    ) -> impl Future<Output = Result<CallReply, CallFailure>> + Send {
        std::future::ready(match request.query {
            ResourceQuery::List | ResourceQuery::Templates => Ok(CallReply::default()),
            ResourceQuery::Read { uri } => Err(CallFailure::UnknownResource { uri }),
        })
    }

    /// The addresses of all resources whose changes the client wants to know, again whenever that changes. At most
    /// [`MOST_WATCHED`](crate::limits::MOST_WATCHED) count.
    fn watch(&self, uris: Vec<String>) -> impl Future<Output = ()> + Send {
        drop(uris);
        std::future::ready(())
    }

    /// Cancels a call, or a request about resources. Its `call` future then resolves to [`CallFailure::Cancelled`], unless the answer was
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
    /// A resource that the client watches changed.
    ResourceChanged(String),
    /// The progress of a call.
    Progress(Progress),
}
