//! A call and its outcome.

use crate::wire::{LONGEST_REPLY, encoded_length};
use crate::{ResourceBody, ResourceInfo};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::fmt;

/// Identifies a call within its session. Opaque to all but the client that made it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RequestId(pub String);

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A call of a tool.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallRequest {
    /// The caller's id of this call, unique among the session's unanswered calls.
    pub request_id: RequestId,
    /// The tool's name, as the client wrote it.
    pub tool: String,
    /// The arguments as the client sent them: always a JSON object.
    pub arguments: Box<RawValue>,
    /// Whether the client wants progress.
    #[serde(default)]
    pub progress: bool,
    /// Whether the client can ask its user for confirmation, and the user's answer.
    #[serde(default)]
    pub asking: Asking,
}

/// The confirmation of a call by a person.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Asking {
    /// Whether the client can ask its user. Then the reply may be a question.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub can_ask: bool,
    /// The answer to the question in the reply to an earlier call of the same kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub word: Option<Decision>,
}

impl Asking {
    /// Whether it has only default values.
    pub(crate) fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// A person's answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Decision {
    /// The question's id.
    pub question: String,
    /// Whether the tool may run.
    pub allowed: bool,
}

/// A question that a person has to answer before a call continues.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Question {
    /// The id for the answer. Secret, and valid for one answer.
    pub id: String,
    /// The text for the person.
    pub message: String,
}

/// The answer of a tool. The agent can act on answers with `is_error`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallReply {
    /// The content for the agent.
    pub content: Vec<Content>,
    /// The same as structured data, if the tool has any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured: Option<Box<RawValue>>,
    /// Whether the tool failed.
    #[serde(default)]
    pub is_error: bool,
    /// Instead of an answer: a question that a person has to answer first.
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

    /// This answer, or an error if it is too large for a line.
    #[must_use]
    pub fn that_fits(self) -> Self {
        let bytes = encoded_length(&self);
        if bytes <= LONGEST_REPLY {
            return self;
        }
        Self::error(format!(
            "The call was carried out, but its answer is too large to send: it has {} MB, and the limit is {} MB. \
             Ask for less, or write it to a file.",
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

    /// An error: a sentence that says what went wrong and what to do next.
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
    /// The address of something that the client can read.
    ResourceLink(ResourceInfo),
    /// The content of a resource.
    Resource(ResourceBody),
}

impl Content {
    /// The text of a text block.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text { text } => Some(text),
            Self::Image { .. } | Self::ResourceLink(_) | Self::Resource(_) => None,
        }
    }
}

/// Why a call got no answer from a tool. Everything an agent can act on is a [`CallReply`] instead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    tag = "kind",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum CallFailure {
    /// There is no tool with this name.
    UnknownTool {
        /// The name as it was called.
        name: String,
    },
    /// There is no resource at this address, or none that the session may read.
    UnknownResource {
        /// The address as it was sent.
        uri: String,
    },
    /// The client cancelled the call; nothing must be sent back.
    Cancelled,
    /// The backend is gone.
    Closed,
    /// The backend cannot be reached now; a later call may succeed.
    Unavailable {
        /// What happened and what to do next.
        why: String,
    },
}

/// The progress of a call. `value` strictly increases within one call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Progress {
    /// The call.
    pub request_id: RequestId,
    /// The current value.
    pub value: f64,
    /// The value at the end, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<f64>,
    /// What is happening, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}
