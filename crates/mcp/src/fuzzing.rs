//! What has to hold for whatever a client writes. `fuzz/` runs this with made-up lines, tests with kept ones.

use crate::transport::inspect::{Verdict, inspect};
use serde_json::Value;

/// A client writes this line.
///
/// # Panics
/// If something is answered that must not be, an answer is none of JSON-RPC, or a message changes on its way.
pub fn json_rpc_line(line: &[u8]) {
    let told: Option<Value> = serde_json::from_slice(line.trim_ascii()).ok();
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
            // What has a member twice is no message of any kind.
            let is_none = answer["error"]["message"] == "Invalid request: not a JSON-RPC message";
            if let Some(told) = told.filter(|_| !is_none) {
                assert!(
                    !is_answer(&told) && !is_notification(&told),
                    "{told} was answered"
                );
                assert!(id.is_null() || told.get("id") == Some(id));
            }
        }
        Verdict::Deliver(message) => {
            let told = told.expect("what is delivered is JSON");
            assert!(told.is_object());
            // What is delivered is written with its own id and method, and is taken again.
            let written = serde_json::to_value(&message).expect("a message has a form");
            for member in ["id", "method"] {
                assert_eq!(written.get(member), told.get(member), "{told}");
            }
            let line = written.to_string();
            let again = matches!(inspect(line.as_bytes()), Verdict::Deliver(_));
            assert!(again, "not taken a second time: {line}");
        }
    }
}

fn is_answer(told: &Value) -> bool {
    let has = |key| told.get(key).is_some();
    told.is_object() && !has("method") && (has("result") || has("error"))
}

fn is_notification(told: &Value) -> bool {
    told.get("method").is_some() && told.get("id").is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_client_writes_is_delivered_refused_or_ignored() {
        tabmux_testkit::play_corpus("json_rpc_line", json_rpc_line);
    }
}
