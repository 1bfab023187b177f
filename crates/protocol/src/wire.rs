//! The messages on the daemon's socket: one JSON object per line, each with a `type`.
//!
//! `STATUS`, `STATUS_OK` and the keys `sessionId`, `requestId`, `action` and `params` are fixed. Other keys may
//! be added, so unknown keys are ignored.

use crate::session::{ClientInfo, SessionOptions};
use crate::{Asking, CallFailure, CallReply, Progress, RequestId, ResourceRequest, ToolInfo};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The version of this protocol. A daemon refuses a client of another version: it would ignore options that it does not
/// know, such as the limits of a token. Versions 1 to 3 were never released.
pub const PROTOCOL: u32 = 4;

/// The maximum length of a line. Larger data goes into files.
pub const LONGEST_LINE: usize = 16 * 1024 * 1024;

/// The maximum length of an answer: with its envelope, it has to fit into a line.
pub const LONGEST_REPLY: usize = LONGEST_LINE - 64 * 1024;

/// The maximum length of a call's arguments, which are in memory several times until they reach the page.
pub const LONGEST_ARGUMENTS: usize = 4 * 1024 * 1024;

/// The length of a message as JSON, in bytes. A control character needs six.
pub fn encoded_length(message: &impl Serialize) -> usize {
    struct Count(usize);
    impl std::io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    match serde_json::to_writer(&mut count, message) {
        Ok(()) => count.0,
        // A message that cannot be encoded never fits.
        Err(_) => usize::MAX,
    }
}

/// A message from a client.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "SCREAMING_SNAKE_CASE",
    rename_all_fields = "camelCase"
)]
pub enum FromClient {
    /// Opens a session on this connection, or resumes one that lost its connection.
    Register {
        /// Repeated in the answer.
        id: String,
        /// The protocol this client speaks.
        protocol: u32,
        /// The version of its program.
        version: String,
        /// Who it is.
        client: ClientInfo,
        /// The session's options.
        options: Box<SessionOptions>,
        /// The session to resume.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        resume: Option<Resume>,
        /// The name of the session. A named session outlives its connection, and the next client with this name
        /// continues it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// The environment variables of the user's display, for browsers that the daemon launches.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        screen: BTreeMap<String, String>,
    },
    /// Asks for the session's tool list.
    Tools {
        /// Repeated in the answer.
        id: String,
        /// The session.
        session_id: SessionId,
    },
    /// Calls a tool.
    Request(Request),
    /// Asks about resources. The answer is a `RESPONSE`.
    Resource {
        /// The session.
        session_id: SessionId,
        /// What is asked.
        #[serde(flatten)]
        request: ResourceRequest,
    },
    /// Names all resources whose changes the client wants to know. Has no answer.
    Watch {
        /// The session.
        session_id: SessionId,
        /// Their addresses.
        uris: Vec<String>,
    },
    /// Cancels a call.
    Cancel {
        /// The session.
        session_id: SessionId,
        /// The call.
        request_id: RequestId,
    },
    /// Sets all folders in which the client works. Has no answer.
    Roots {
        /// The session.
        session_id: SessionId,
        /// The folders.
        roots: Vec<PathBuf>,
    },
    /// Asks for the daemon's status. Needs no session.
    Status {
        /// Repeated in the answer.
        id: String,
    },
    /// Asks for the daemon's state, for people. Needs no session.
    Overview {
        /// Repeated in the answer.
        id: String,
    },
    /// Checks that the daemon responds. Needs no session.
    Ping {
        /// Repeated in the answer.
        id: String,
    },
    /// Ends a named session. Needs no session.
    End {
        /// Repeated in the answer.
        id: String,
        /// Its name.
        name: String,
    },
    /// Stops the daemon. Needs no session.
    Stop {
        /// Repeated in the answer.
        id: String,
    },
    /// Ends the session.
    Disconnect {
        /// The session.
        session_id: SessionId,
    },
}

/// A message from the daemon.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "SCREAMING_SNAKE_CASE",
    rename_all_fields = "camelCase"
)]
pub enum FromDaemon {
    /// The session is open.
    Registered {
        /// The id of the request.
        id: String,
        /// The session's public id.
        session_id: SessionId,
        /// The secret with which the client can resume the session.
        secret: String,
        /// The daemon's version.
        version: String,
        /// Whether an earlier session was resumed.
        resumed: bool,
    },
    /// The session's tool list.
    ToolsOk {
        /// The id of the request.
        id: String,
        /// The list, in published order.
        tools: Vec<ToolInfo>,
    },
    /// The answer to a `REQUEST`.
    Response(Response),
    /// The progress of a call.
    Progress(Progress),
    /// A resource changed.
    ResourceChanged {
        /// Its address.
        uri: String,
    },
    /// An event for the session.
    Event {
        /// The event.
        event: EventKind,
    },
    /// The daemon's status.
    StatusOk {
        /// The id of the request.
        id: String,
        /// Whether an extension is connected.
        extension_connected: bool,
        /// How many sessions are open.
        active_sessions: usize,
    },
    /// The daemon's state, for people.
    OverviewOk {
        /// The id of the request.
        id: String,
        /// The state.
        overview: crate::overview::Overview,
    },
    /// Answers a `PING`.
    Pong {
        /// The id of the request.
        id: String,
        /// The daemon's version.
        version: String,
    },
    /// A named session ended.
    Ended {
        /// The id of the request.
        id: String,
        /// Whether there was a session with this name.
        was_open: bool,
    },
    /// The daemon is stopping.
    Stopping {
        /// The id of the request.
        id: String,
    },
    /// A request was refused.
    Error {
        /// The id of the request, if it had one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        /// The id of the call, if it was a `REQUEST`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        request_id: Option<RequestId>,
        /// Why.
        error: String,
    },
}

/// A call of a tool.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Request {
    /// The session.
    pub session_id: SessionId,
    /// The caller's id of the call.
    pub request_id: RequestId,
    /// The tool.
    pub action: String,
    /// Its arguments.
    pub params: Box<RawValue>,
    /// Whether the caller wants progress.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub progress: bool,
    /// Whether the caller can ask its user for confirmation, and the user's answer.
    #[serde(default, skip_serializing_if = "Asking::is_nothing")]
    pub asking: Asking,
}

/// The answer to a call: a reply, or why there is none.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    /// The call.
    pub request_id: RequestId,
    /// The tool's answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<CallReply>,
    /// Why there is no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<CallFailure>,
}

impl FromClient {
    /// Parses a line. Keeps arguments as raw JSON, which serde cannot do in a tagged enum.
    pub fn parse(line: &str) -> serde_json::Result<Self> {
        match kind(line)?.as_str() {
            "REQUEST" => serde_json::from_str(line).map(Self::Request),
            _ => serde_json::from_str(line),
        }
    }
}

impl FromDaemon {
    /// Parses a line. Keeps answers as raw JSON.
    pub fn parse(line: &str) -> serde_json::Result<Self> {
        match kind(line)?.as_str() {
            "RESPONSE" => serde_json::from_str(line).map(Self::Response),
            _ => serde_json::from_str(line),
        }
    }
}

/// The part of a `REGISTER` that every version of the protocol has, so that a daemon can say which version it expects
/// even if it cannot read the rest.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Hello {
    /// Repeated in the answer.
    pub id: String,
    /// The protocol this client speaks.
    pub protocol: u32,
    /// The version of its program.
    pub version: String,
}

impl Hello {
    /// Parses a line, if it is a `REGISTER`.
    pub fn parse(line: &str) -> Option<Self> {
        let is_register = kind(line).ok()? == "REGISTER";
        is_register.then(|| serde_json::from_str(line).ok())?
    }
}

fn kind(line: &str) -> serde_json::Result<String> {
    #[derive(Deserialize)]
    struct Head {
        r#type: String,
    }
    serde_json::from_str(line).map(|head: Head| head.r#type)
}

/// The kind of an event for a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum EventKind {
    /// The tool list changed, or now refers to another tab.
    ToolsChanged,
    /// The daemon is stopping on request.
    Stopping,
}

/// A session's public id: `sess_` and 32 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SessionId(pub String);

/// The proof that a client had a session before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Resume {
    /// The session.
    pub session_id: SessionId,
    /// The secret from `REGISTERED`.
    pub secret: String,
    /// Whether its unanswered calls failed with the message that the daemon was gone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub told: bool,
}
