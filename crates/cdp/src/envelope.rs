//! The outer fields of a message: id, method and session. The contents stay raw JSON.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{
    transport::Oversize,
    types::{Json, target::SessionId},
};

/// A message from the browser, borrowed from its frame.
#[derive(Debug)]
pub(crate) enum Incoming<'a> {
    /// The response to the command with this id.
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

/// The recipient of a message that was too large.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Recipient {
    /// The command with this id.
    Answer { id: u64 },
    /// A session, or the browser itself.
    Event {
        session: Option<String>,
        method: String,
    },
}

impl Recipient {
    /// Reads the kept parts of a frame; `None` if they do not name the recipient. Text of a page cannot imitate these
    /// fields, because quotation marks in text are escaped.
    pub(crate) fn parse(frame: &Oversize) -> Option<Self> {
        let mut method = None;
        let mut session = session_at_end(&frame.tail);
        let mut rest = frame.head.strip_prefix(b"{")?;
        while let Some((name, value, behind)) = plain_member(rest) {
            match &name[..] {
                "id" => {
                    return Some(Self::Answer {
                        id: value.parse().ok()?,
                    });
                }
                "method" => method = Some(value),
                "sessionId" => session = Some(value),
                _ => {}
            }
            rest = behind;
        }
        Some(Self::Event {
            session,
            method: method?,
        })
    }
}

/// The first member of an object, if its value is a string or a number: its name, the value, and what follows the
/// comma.
fn plain_member(text: &[u8]) -> Option<(String, String, &[u8])> {
    let mut names = serde_json::Deserializer::from_slice(text).into_iter::<String>();
    let name = names.next()?.ok()?;
    let text = text[names.byte_offset()..].strip_prefix(b":")?;
    if !matches!(text.first()?, b'"' | b'0'..=b'9') {
        return None;
    }
    let mut values = serde_json::Deserializer::from_slice(text).into_iter::<Json>();
    let value = values.next()?.ok()?;
    let behind = text[values.byte_offset()..].strip_prefix(b",")?;
    let value = value
        .decode::<String>()
        .unwrap_or_else(|_| value.as_str().to_owned());
    Some((name, value, behind))
}

/// The session, if it is the last member of the message.
fn session_at_end(tail: &[u8]) -> Option<String> {
    let text = tail.strip_suffix(br#""}"#)?;
    let at = memchr::memmem::rfind(text, SESSION)? + SESSION.len();
    let session = std::str::from_utf8(&text[at..]).ok()?;
    let is_plain = session
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || c == '-');
    is_plain.then(|| session.to_owned())
}

/// The browser's error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rejection {
    pub(crate) code: i64,
    pub(crate) message: String,
}

impl<'a> Incoming<'a> {
    /// Parses the outer fields of a frame; `None` if it is not a protocol message.
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
    /// Parses an error of any shape; one without a message is shown as it is.
    fn parse(raw: &RawValue) -> Self {
        #[derive(Deserialize)]
        struct Body {
            #[serde(default)]
            code: i64,
            message: String,
            data: Option<Json>,
        }
        let Ok(body) = tabmux_text::decode::<Body>(raw.get()) else {
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

/// The JSON text of a command.
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

/// A string that is borrowed unless it has escapes. Serde borrows a `Cow` only in a wrapper like this.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

const MESSAGE_LIMIT: usize = 1_000;

const SESSION: &[u8] = br#","sessionId":""#;

#[cfg(test)]
mod tests {
    use super::*;

    fn addressed(head: &str, tail: &str) -> Option<Recipient> {
        Recipient::parse(&Oversize {
            head: head.into(),
            tail: tail.into(),
            length: 1 << 30,
        })
    }

    fn event(session: Option<&str>) -> Option<Recipient> {
        Some(Recipient::Event {
            session: session.map(str::to_owned),
            method: "Runtime.consoleAPICalled".to_owned(),
        })
    }

    #[test]
    fn head_and_tail_name_the_recipient() {
        let answer = r#"{"id":17,"result":{"data":"xx"#;
        let head = r#"{"method":"Runtime.consoleAPICalled","params":{"args":["xx"#;
        assert_eq!(
            addressed(answer, r#"xx"},"sessionId":"AB12"}"#),
            Some(Recipient::Answer { id: 17 })
        );
        assert_eq!(
            addressed(head, r#"xx"]},"sessionId":"AB12"}"#),
            event(Some("AB12"))
        );
        assert_eq!(addressed(head, r#"xx"]}}"#), event(None));
        let first = r#"{"sessionId":"CD","method":"Runtime.consoleAPICalled","params":{"#;
        assert_eq!(addressed(first, "xx\"]}}"), event(Some("CD")));
    }

    #[test]
    fn text_of_a_page_cannot_name_a_session() {
        let head = r#"{"method":"Runtime.consoleAPICalled","params":{"args":["xx"#;
        for tail in [
            r#"xx,\"sessionId\":\"AB\"}"]}}"#,
            r#"xx,\"sessionId\":\"AB"}"#,
            r#","sessionId":"AB"}}"#,
            r#","sessionId":"A\"B"}"#,
            r#""}"#,
            "",
        ] {
            assert_eq!(addressed(head, tail), event(None), "{tail}");
        }
    }

    #[test]
    fn an_unreadable_message_has_no_recipient() {
        for head in [
            "",
            "{",
            "[1",
            r#"{"params":{"#,
            r#"{"id":"x","#,
            r#"{"id":1"#,
            r#"{"method":"x"#,
        ] {
            assert_eq!(addressed(head, ""), None, "{head}");
        }
    }
}
