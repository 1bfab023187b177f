//! Classifies a line: a message, malformed input to answer, or nothing.

use rmcp::model::{ClientJsonRpcMessage, ErrorCode};
use serde::{Deserialize, Deserializer, de::IgnoredAny};
use serde_json::{Map, Value, json, value::RawValue};

pub(crate) enum Verdict {
    /// A message for rmcp.
    Deliver(Box<ClientJsonRpcMessage>),
    /// Malformed input that JSON-RPC requires to be answered, with the answer.
    Refuse(Vec<u8>),
    /// Malformed input that needs no answer.
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
    // Never answer an answer: two peers that do so would never stop.
    let is_answer = envelope.method.is_none() && (envelope.result || envelope.error);
    let is_notification = envelope.method.is_some() && envelope.id.is_none();
    match serde_json::from_str(line) {
        Ok(message) => Verdict::Deliver(Box::new(message)),
        Err(_) if is_notification || is_answer => Verdict::Ignore,
        Err(_) => invalid(envelope.usable_id(), envelope.error_message()),
    }
}

/// Answers a line that is too long. The client waits for its id, which is at one end of the line.
pub(super) fn refuse_long_line(head: &[u8], end: &[u8]) -> Verdict {
    refuse(
        ErrorCode::INVALID_REQUEST,
        id_in(head, end).unwrap_or(Value::Null),
        "Invalid request: the line is longer than 16 MiB. Send less, or pass a file path",
    )
}

/// The id of a request of which only both ends are kept: among the first members, or among the last.
fn id_in(head: &[u8], end: &[u8]) -> Option<Value> {
    let usable = |id: &Value| id.is_string() || id.is_i64();
    let mut rest = head.trim_ascii_start().strip_prefix(b"{")?;
    while let Some((name, value, rest_after)) = plain_member(rest) {
        if name == "id" {
            return Some(value).filter(usable);
        }
        rest = rest_after;
    }
    // Inside a string its quotation marks would be escaped. Only `jsonrpc` may follow the id.
    let end = end.trim_ascii_end();
    let at = end.windows(ID.len()).rposition(|part| part == ID)? + 1;
    let members: Map<String, Value> = serde_json::from_slice(&[b"{", &end[at..]].concat()).ok()?;
    members.get("id").cloned().filter(usable)
}

/// The first member of an object, if its value is a string or a number, and the text after the comma.
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
    let rest_after = text[values.byte_offset()..].trim_ascii_start();
    Some((name, value, rest_after.strip_prefix(b",")?))
}

/// The members that distinguish the kinds of messages, unparsed.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(default, borrow, deserialize_with = "present")]
    jsonrpc: Option<&'a RawValue>,
    #[serde(default, borrow, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(default, borrow, deserialize_with = "present")]
    method: Option<&'a RawValue>,
    #[serde(default, deserialize_with = "is_present")]
    result: bool,
    #[serde(default, deserialize_with = "is_present")]
    error: bool,
}

impl Envelope<'_> {
    /// The id, if an answer can carry it.
    fn usable_id(&self) -> Value {
        let id = self.id.and_then(|id| serde_json::from_str(id.get()).ok());
        id.filter(|id: &Value| id.is_string() || id.is_i64())
            .unwrap_or(Value::Null)
    }

    fn error_message(&self) -> &'static str {
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

// Unlike an `Option`, distinguishes `null` from a missing member.
fn present<'de, D: Deserializer<'de>>(value: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(value).map(Some)
}

fn is_present<'de, D: Deserializer<'de>>(value: D) -> Result<bool, D::Error> {
    IgnoredAny::deserialize(value).map(|_| true)
}

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";
const ID: &[u8] = br#","id":"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_a_line_that_is_too_long_is_found_at_either_end() {
        let params = r#""params":{"name":"any","arguments":{"value":"xx"#;
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
            // Text that only looks like an id.
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
