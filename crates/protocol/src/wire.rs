//! What passes over the daemon's socket: one JSON object per line, each with a `type`.
//!
//! `STATUS`, `STATUS_OK` and the keys `sessionId`, `requestId`, `action` and `params` are fixed;
//! everything around them may grow, so unknown keys are ignored.

use crate::session::{ClientInfo, SessionOptions};
use crate::{Asking, CallFailure, CallReply, Progress, RequestId, ToolInfo};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The version of this protocol. Sides with different numbers do not talk to each other.
pub const PROTOCOL: u32 = 1;

/// The longest line either side takes. Larger data goes by file.
pub const LONGEST_LINE: usize = 16 * 1024 * 1024;

/// The longest answer to a call: with what is around it, it has to fit into a line.
pub const LONGEST_REPLY: usize = LONGEST_LINE - 64 * 1024;

/// The longest arguments of a call: on its way to a page a call is held several times.
pub const LONGEST_ARGUMENTS: usize = 4 * 1024 * 1024;

/// How many bytes a message has as JSON: a control character has six of them.
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
        // What cannot be written fits nowhere.
        Err(_) => usize::MAX,
    }
}

/// What a client of the daemon says.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "SCREAMING_SNAKE_CASE",
    rename_all_fields = "camelCase"
)]
pub enum FromClient {
    /// Opens a session on this connection, or takes up one that lost its connection.
    Register {
        /// Comes back in the answer.
        id: String,
        /// The protocol this client speaks.
        protocol: u32,
        /// The version of its program.
        version: String,
        /// Who it is.
        client: ClientInfo,
        /// What it wants.
        options: Box<SessionOptions>,
        /// The session to take up again.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        resume: Option<Resume>,
        /// What people call the session. One with a name outlives its connection, and whoever names
        /// it next goes on with it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// What its environment says about the user's screen, for browsers that the daemon launches.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        screen: BTreeMap<String, String>,
    },
    /// Asks for the session's tool list.
    Tools {
        /// Comes back in the answer.
        id: String,
        /// The session.
        session_id: SessionId,
    },
    /// Calls a tool.
    Request(Request),
    /// Takes a call back.
    Cancel {
        /// The session.
        session_id: SessionId,
        /// The call.
        request_id: RequestId,
    },
    /// Says in which folders the client works, all of them. Has no answer.
    Roots {
        /// The session.
        session_id: SessionId,
        /// The folders.
        roots: Vec<PathBuf>,
    },
    /// Asks whether the daemon is well. Needs no session.
    Status {
        /// Comes back in the answer.
        id: String,
    },
    /// Asks for everything the daemon knows, for people. Needs no session.
    Overview {
        /// Comes back in the answer.
        id: String,
    },
    /// Asks for a sign of life. Needs no session.
    Ping {
        /// Comes back in the answer.
        id: String,
    },
    /// Ends a session that has a name. Needs no session.
    End {
        /// Comes back in the answer.
        id: String,
        /// What people call it.
        name: String,
    },
    /// Ends the daemon. Needs no session.
    Stop {
        /// Comes back in the answer.
        id: String,
    },
    /// Ends the session for good.
    Disconnect {
        /// The session.
        session_id: SessionId,
    },
}

/// What the daemon says.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "SCREAMING_SNAKE_CASE",
    rename_all_fields = "camelCase"
)]
pub enum FromDaemon {
    /// The session is open.
    Registered {
        /// Of the request.
        id: String,
        /// The session's public name.
        session_id: SessionId,
        /// What proves later that the client is the same.
        secret: String,
        /// The daemon's version.
        version: String,
        /// Whether an earlier session was taken up.
        resumed: bool,
    },
    /// The session's tool list.
    ToolsOk {
        /// Of the request.
        id: String,
        /// The list, in published order.
        tools: Vec<ToolInfo>,
    },
    /// The one answer to a `REQUEST`.
    Response(Response),
    /// How far a call has come.
    Progress(Progress),
    /// The session should know something.
    Event {
        /// What.
        event: EventKind,
    },
    /// How the daemon is.
    StatusOk {
        /// Of the request.
        id: String,
        /// Whether an extension is connected.
        extension_connected: bool,
        /// How many sessions are open.
        active_sessions: usize,
    },
    /// Everything the daemon knows, for people.
    OverviewOk {
        /// Of the request.
        id: String,
        /// The daemon and all it holds.
        overview: crate::overview::Overview,
    },
    /// A sign of life.
    Pong {
        /// Of the request.
        id: String,
        /// The daemon's version.
        version: String,
    },
    /// A named session is over.
    Ended {
        /// Of the request.
        id: String,
        /// Whether there was one of that name.
        was_open: bool,
    },
    /// The daemon is ending.
    Stopping {
        /// Of the request.
        id: String,
    },
    /// A request was not taken.
    Error {
        /// Of the request, where it had one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        /// Of the request, where it was a `REQUEST`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        request_id: Option<RequestId>,
        /// What was wrong with it.
        error: String,
    },
}

/// A call of a tool.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Request {
    /// The session.
    pub session_id: SessionId,
    /// The caller's name for the call.
    pub request_id: RequestId,
    /// The tool.
    pub action: String,
    /// Its arguments.
    pub params: Box<RawValue>,
    /// Whether the caller wants to hear of progress.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub progress: bool,
    /// Whether the caller's person can be asked, and what they said.
    #[serde(default, skip_serializing_if = "Asking::is_nothing")]
    pub asking: Asking,
}

/// The answer to a call: a reply, or why there is none.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    /// The call.
    pub request_id: RequestId,
    /// What the tool answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<CallReply>,
    /// Why there is no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<CallFailure>,
}

impl FromClient {
    /// Reads a line. Arguments are passed through as they are, which serde's own reading of a
    /// tagged enum cannot do.
    pub fn parse(line: &str) -> serde_json::Result<Self> {
        match kind(line)?.as_str() {
            "REQUEST" => serde_json::from_str(line).map(Self::Request),
            _ => serde_json::from_str(line),
        }
    }
}

impl FromDaemon {
    /// Reads a line. Answers are passed through as they are.
    pub fn parse(line: &str) -> serde_json::Result<Self> {
        match kind(line)?.as_str() {
            "RESPONSE" => serde_json::from_str(line).map(Self::Response),
            _ => serde_json::from_str(line),
        }
    }
}

fn kind(line: &str) -> serde_json::Result<String> {
    #[derive(Deserialize)]
    struct Head {
        r#type: String,
    }
    serde_json::from_str(line).map(|head: Head| head.r#type)
}

/// What a session should know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum EventKind {
    /// The tool list changed, or now means another tab.
    ToolsChanged,
    /// The daemon ends because somebody wants it to.
    Stopping,
}

/// A session's public name: `sess_` and 32 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SessionId(pub String);

/// The proof that a client had a session before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Resume {
    /// The session.
    pub session_id: SessionId,
    /// What `REGISTERED` gave.
    pub secret: String,
    /// Whether its calls that were open then were told that the daemon was gone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub told: bool,
}
