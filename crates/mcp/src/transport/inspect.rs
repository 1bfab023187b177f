//! What a line is: a message, something to refuse, or nothing.

use rmcp::model::{ClientJsonRpcMessage, ErrorCode};
use serde::{Deserialize, Deserializer, de::IgnoredAny};
use serde_json::{Map, Value, json, value::RawValue};

pub(crate) enum Verdict {
    /// A message for rmcp.
    Deliver(Box<ClientJsonRpcMessage>),
    /// Garbage that JSON-RPC wants to be answered: with this.
    Refuse(Vec<u8>),
    /// Garbage that nobody waits for an answer to.
    Ignore,
}

pub(crate) fn inspect(line: &[u8]) -> Verdict {
    let line = line.trim_ascii();
    let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
    if line.is_empty() {
        return Verdict::Ignore;
    }
    let is_json = |line| serde_json::from_str::<IgnoredAny>(line).is_ok();
    let Some(line) = std::str::from_utf8(line).ok().filter(|line| is_json(line)) else {
        return refuse(
            ErrorCode::PARSE_ERROR,
            Value::Null,
            "Parse error: the line is not JSON",
        );
    };
    let invalid = |id, message| refuse(ErrorCode::INVALID_REQUEST, id, message);
    if line.starts_with('[') {
        return invalid(
            Value::Null,
            "Invalid request: batches are not supported, send one message per line",
        );
    }
    let Ok(envelope) = serde_json::from_str::<Envelope<'_>>(line) else {
        return invalid(Value::Null, "Invalid request: not a JSON-RPC message");
    };
    // Never answer an answer: two peers that do would never stop.
    let is_answer = envelope.method.is_none() && (envelope.result || envelope.error);
    let is_notification = envelope.method.is_some() && envelope.id.is_none();
    match serde_json::from_str(line) {
        Ok(message) => Verdict::Deliver(Box::new(message)),
        Err(_) if is_notification || is_answer => Verdict::Ignore,
        Err(_) => invalid(envelope.usable_id(), envelope.complaint()),
    }
}

/// Whoever sent it waits for an answer to its id, which is at one of the ends.
pub(super) fn refuse_long_line(head: &[u8], end: &[u8]) -> Verdict {
    refuse(
        ErrorCode::INVALID_REQUEST,
        id_in(head, end).unwrap_or(Value::Null),
        "Invalid request: the line is longer than 16 MiB. Send less, or name a file",
    )
}

/// The id of a request of which only both ends are left: among the first members, or among the last.
fn id_in(head: &[u8], end: &[u8]) -> Option<Value> {
    let usable = |id: &Value| id.is_string() || id.is_i64();
    let mut rest = head.trim_ascii_start().strip_prefix(b"{")?;
    while let Some((name, value, behind)) = plain_member(rest) {
        if name == "id" {
            return Some(value).filter(usable);
        }
        rest = behind;
    }
    // In a text its quotation marks would be escaped. What follows the id may only be `jsonrpc`.
    let end = end.trim_ascii_end();
    let at = end.windows(ID.len()).rposition(|part| part == ID)? + 1;
    let members: Map<String, Value> = serde_json::from_slice(&[b"{", &end[at..]].concat()).ok()?;
    members.get("id").cloned().filter(usable)
}

/// The first member of an object, if its value is a text or a number, and what follows the comma.
fn plain_member(text: &[u8]) -> Option<(String, Value, &[u8])> {
    let text = text.trim_ascii_start();
    let mut names = serde_json::Deserializer::from_slice(text).into_iter::<String>();
    let name = names.next()?.ok()?;
    let text = text[names.byte_offset()..].trim_ascii_start();
    let text = text.strip_prefix(b":")?.trim_ascii_start();
    if !matches!(text.first()?, b'"' | b'-' | b'0'..=b'9') {
        return None;
    }
    let mut values = serde_json::Deserializer::from_slice(text).into_iter::<Value>();
    let value = values.next()?.ok()?;
    let behind = text[values.byte_offset()..].trim_ascii_start();
    Some((name, value, behind.strip_prefix(b",")?))
}

/// The members that tell one kind of message from another, unread.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(default, borrow, deserialize_with = "present")]
    jsonrpc: Option<&'a RawValue>,
    #[serde(default, borrow, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(default, borrow, deserialize_with = "present")]
    method: Option<&'a RawValue>,
    #[serde(default, deserialize_with = "is_there")]
    result: bool,
    #[serde(default, deserialize_with = "is_there")]
    error: bool,
}

impl Envelope<'_> {
    /// The id, if an answer can bear it.
    fn usable_id(&self) -> Value {
        let id = self.id.and_then(|id| serde_json::from_str(id.get()).ok());
        id.filter(|id: &Value| id.is_string() || id.is_i64())
            .unwrap_or(Value::Null)
    }

    fn complaint(&self) -> &'static str {
        if self.jsonrpc.map(RawValue::get) != Some("\"2.0\"") {
            "Invalid request: `jsonrpc` must be \"2.0\""
        } else if self
            .method
            .is_none_or(|method| !method.get().starts_with('"'))
        {
            "Invalid request: `method` must be a string"
        } else if self.usable_id().is_null() {
            "Invalid request: `id` must be a string or a whole number"
        } else {
            "Invalid request: the message is malformed or nested too deeply"
        }
    }
}

fn refuse(code: ErrorCode, id: Value, message: &str) -> Verdict {
    Verdict::Refuse(answer(code, id, message))
}

fn answer(code: ErrorCode, id: Value, message: &str) -> Vec<u8> {
    let error = json!({"code": code, "message": message});
    json!({"jsonrpc": "2.0", "id": id, "error": error})
        .to_string()
        .into_bytes()
}

// Unlike an `Option`, tells `null` from nothing.
fn present<'de, D: Deserializer<'de>>(value: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(value).map(Some)
}

fn is_there<'de, D: Deserializer<'de>>(value: D) -> Result<bool, D::Error> {
    IgnoredAny::deserialize(value).map(|_| true)
}

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";
const ID: &[u8] = br#","id":"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_a_line_that_is_too_long_is_found_at_either_end() {
        let params = r#""params":{"name":"fill","arguments":{"value":"xx"#;
        for (head, end, id) in [
            (
                format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call",{params}"#),
                "xx\"}}}",
                json!(7),
            ),
            (
                format!(r#" {{ "id" : "a" , {params}"#),
                "xx\"}}}",
                json!("a"),
            ),
            (
                format!(r#"{{"method":"tools/call",{params}"#),
                r#"xx"}},"jsonrpc":"2.0","id":8}"#,
                json!(8),
            ),
            (
                format!(r#"{{"method":"tools/call",{params}"#),
                r#"xx"}},"id":"b","jsonrpc":"2.0"}"#,
                json!("b"),
            ),
            // What only looks like an id is none.
            (
                format!(r#"{{"method":"tools/call",{params}"#),
                r#"xx,\"id\":9}"}}}"#,
                Value::Null,
            ),
            (
                format!(r#"{{"method":"tools/call",{params}"#),
                r#"xx","id":9}}}"#,
                Value::Null,
            ),
            (
                format!(r#"{{"method":"tools/call",{params}"#),
                r#"xx"}},"id":{}}"#,
                Value::Null,
            ),
            (String::new(), "", Value::Null),
        ] {
            let Verdict::Refuse(answer) = refuse_long_line(head.as_bytes(), end.as_bytes()) else {
                panic!("it is refused");
            };
            let answer: Value = serde_json::from_slice(&answer).unwrap();
            assert_eq!(answer["id"], id, "{head} {end}");
        }
    }
}
