//! One call and its one outcome.

use crate::wire::{LONGEST_REPLY, encoded_length};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::fmt;

/// Names one call within its session. Opaque to everybody but the client that made it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RequestId(pub String);

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A client asks for a tool to be run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallRequest {
    /// The caller's name for this call, unique within the session while the call lives.
    pub request_id: RequestId,
    /// The tool's name, as the client wrote it.
    pub tool: String,
    /// The arguments, untouched: always a JSON object.
    pub arguments: Box<RawValue>,
    /// Whether the client wants progress.
    #[serde(default)]
    pub progress: bool,
    /// Whether its person can be asked, and what they said.
    #[serde(default)]
    pub asking: Asking,
}

/// How a person has a say in a call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Asking {
    /// Whether the client can put a question to its person: then the reply may be one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub can_ask: bool,
    /// What they said to the question that an earlier call of the same kind had as its reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub word: Option<Decision>,
}

impl Asking {
    /// Whether there is nothing to say about it.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// A person's answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Decision {
    /// The question's name.
    pub question: String,
    /// Whether the tool may run.
    pub allowed: bool,
}

/// Something that a person has to say before a call goes on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Question {
    /// What the answer names. Nobody else knows it, and it is good for one answer.
    pub id: String,
    /// What the person reads.
    pub message: String,
}

/// What a tool answered. `is_error` answers are for the agent to act on.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallReply {
    /// What the agent reads.
    pub content: Vec<Content>,
    /// The same as data, where the tool has any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured: Option<Box<RawValue>>,
    /// Whether the tool did not do what it was asked.
    #[serde(default)]
    pub is_error: bool,
    /// Instead of an answer: what a person has to say first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<Question>,
}

impl CallReply {
    /// A plain text answer.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            content: vec![Content::Text { text: text.into() }],
            ..Self::default()
        }
    }

    /// This answer, or one that says that it is too large for a line.
    #[must_use]
    pub fn that_fits(self) -> Self {
        let bytes = encoded_length(&self);
        if bytes <= LONGEST_REPLY {
            return self;
        }
        Self::error(format!(
            "The call was carried out, but its answer has {} MB as it would be sent, and at most {} MB can be. Ask for \
             less, or have it written to a file.",
            bytes / 1_000_000,
            LONGEST_REPLY / 1_000_000
        ))
    }

    /// A question for a person, in place of an answer.
    pub fn question(id: String, message: String) -> Self {
        Self {
            question: Some(Question { id, message }),
            ..Self::default()
        }
    }

    /// A sentence that says what went wrong and what to do next.
    pub fn error(text: impl Into<String>) -> Self {
        Self {
            is_error: true,
            ..Self::text(text)
        }
    }
}

/// One block of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum Content {
    /// Text.
    Text {
        /// The text itself.
        text: String,
    },
    /// A picture.
    Image {
        /// Base64 of the encoded picture.
        data: String,
        /// `image/png` and the like.
        mime_type: String,
    },
}

/// Why a call got no answer from a tool. Everything an agent can act on is a [`CallReply`] instead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    tag = "kind",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum CallFailure {
    /// No tool of that name exists anywhere.
    UnknownTool {
        /// The name as it was called.
        name: String,
    },
    /// The client cancelled the call; nothing must be sent back.
    Cancelled,
    /// Whoever runs the calls is gone.
    Closed,
    /// Whoever runs the calls cannot be reached now, and may be later.
    Unavailable {
        /// What happened and what to do next, in words.
        why: String,
    },
}

/// How far a call has come. `value` rises strictly within one call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Progress {
    /// The call this is about.
    pub request_id: RequestId,
    /// How far it is.
    pub value: f64,
    /// How far it will be at the end, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<f64>,
    /// What is happening, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}
