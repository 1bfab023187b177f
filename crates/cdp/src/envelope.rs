//! The outside of a message: who it is for. The contents stay raw JSON.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::types::{Json, target::SessionId};

/// A message from the browser, borrowed from its frame.
#[derive(Debug)]
pub(crate) enum Incoming<'a> {
    /// The answer to the command with this id.
    Answer {
        id: u64,
        outcome: Result<Option<&'a RawValue>, Rejection>,
    },
    /// An event of a session, or of the browser itself.
    Event {
        session: Option<Cow<'a, str>>,
        method: Cow<'a, str>,
        params: Option<&'a RawValue>,
    },
}

/// An error as the browser words it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rejection {
    pub(crate) code: i64,
    pub(crate) message: String,
}

impl<'a> Incoming<'a> {
    /// Reads the outside of a frame; none if it is not a message of the protocol.
    pub(crate) fn parse(frame: &'a [u8]) -> Option<Self> {
        let envelope: Envelope<'a> = serde_json::from_slice(frame).ok()?;
        match (envelope.id, envelope.method) {
            (Some(id), _) => {
                let outcome = match envelope.error {
                    Some(error) => Err(Rejection::parse(error)),
                    None => Ok(envelope.result),
                };
                Some(Self::Answer { id, outcome })
            }
            (None, Some(method)) => Some(Self::Event {
                session: envelope.session_id.map(|session| session.0),
                method: method.0,
                params: envelope.params,
            }),
            (None, None) => None,
        }
    }
}

impl Rejection {
    /// Reads an error of any shape; what has no message is shown as it is.
    fn parse(raw: &RawValue) -> Self {
        #[derive(Deserialize)]
        struct Body {
            #[serde(default)]
            code: i64,
            message: String,
            data: Option<Json>,
        }
        let Ok(body) = tabmux_cdp_types::decode::<Body>(raw.get()) else {
            return Self {
                code: 0,
                message: raw.get().chars().take(MESSAGE_LIMIT).collect(),
            };
        };
        let data = body.data.and_then(|data| data.decode::<String>().ok());
        let message = match data {
            Some(data) => format!("{} ({data})", body.message),
            None => body.message,
        };
        Self {
            code: body.code,
            message,
        }
    }
}

/// The text of a command, ready to be sent.
pub(crate) fn encode(
    id: u64,
    session: Option<&SessionId>,
    method: &str,
    params: &(impl Serialize + ?Sized),
) -> Result<String, serde_json::Error> {
    serde_json::to_string(&Outgoing {
        id,
        method,
        params,
        session_id: session,
    })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Outgoing<'a, P: ?Sized> {
    id: u64,
    method: &'a str,
    params: &'a P,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<&'a SessionId>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Envelope<'a> {
    id: Option<u64>,
    #[serde(borrow)]
    method: Option<Text<'a>>,
    #[serde(borrow)]
    session_id: Option<Text<'a>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

/// A text that is borrowed unless it has escapes. Serde borrows a `Cow` only when it is a field of its own.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

const MESSAGE_LIMIT: usize = 1_000;
