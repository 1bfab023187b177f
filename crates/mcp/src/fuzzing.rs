//! What must hold for any input of a client. `fuzz/` runs this with generated lines, tests with a stored corpus.

use crate::stdio::inspect::{Verdict, inspect};
use serde_json::Value;

/// Checks one line of a client.
///
/// # Panics
/// If something is answered that must not be, an answer is not JSON-RPC, or a delivered message was changed.
pub fn json_rpc_line(line: &[u8]) {
    let parsed: Option<Value> = serde_json::from_slice(line.trim_ascii()).ok();
    match inspect(line) {
        Verdict::Ignore => {}
        Verdict::Refuse(answer) => {
            assert!(answer.len() <= line.len() + 300, "a long answer");
            assert!(!answer.contains(&b'\n'), "an answer of several lines");
            let answer: Value = serde_json::from_slice(&answer).expect("an answer is JSON");
            assert_eq!(answer["jsonrpc"], "2.0");
            assert!(answer["error"]["code"].is_i64());
            assert!(answer["error"]["message"].is_string());
            let id = &answer["id"];
            assert!(id.is_null() || id.is_string() || id.is_i64(), "{id}");
            // A line with a duplicate member is not a message of any kind.
            let is_no_message =
                answer["error"]["message"] == "Invalid request: not a JSON-RPC message";
            if let Some(parsed) = parsed.filter(|_| !is_no_message) {
                assert!(
                    !is_answer(&parsed) && !is_notification(&parsed),
                    "{parsed} was answered"
                );
                assert!(id.is_null() || is_same(parsed.get("id"), Some(id)));
            }
        }
        Verdict::Deliver(message) => {
            let parsed = parsed.expect("what is delivered is JSON");
            assert!(parsed.is_object());
            // A delivered message keeps its id and method when written, and is delivered again.
            let written = serde_json::to_value(&message).expect("a message has a form");
            for member in ["id", "method"] {
                let (written, read) = (written.get(member), parsed.get(member));
                assert!(
                    is_same(written, read),
                    "{parsed}: {member} became {written:?}"
                );
            }
            let line = written.to_string();
            let again = matches!(inspect(line.as_bytes()), Verdict::Deliver(_));
            assert!(again, "not delivered a second time: {line}");
        }
    }
}

/// Whether two members mean the same: `1` and `1.0` are one number.
fn is_same(one: Option<&Value>, other: Option<&Value>) -> bool {
    let number = |value: Option<&Value>| value.and_then(Value::as_f64);
    one == other || number(one).is_some() && number(one) == number(other)
}

fn is_answer(parsed: &Value) -> bool {
    let has = |key| parsed.get(key).is_some();
    parsed.is_object() && !has("method") && (has("result") || has("error"))
}

fn is_notification(parsed: &Value) -> bool {
    parsed.get("method").is_some() && parsed.get("id").is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_client_writes_is_delivered_refused_or_ignored() {
        tabmux_testkit::play_corpus("json_rpc_line", json_rpc_line);
    }
}
