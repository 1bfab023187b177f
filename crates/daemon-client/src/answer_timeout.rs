//! How long an answer is waited for once the daemon was asked: a little longer than the daemon may take, since
//! only the daemon knows what became of a call.

use crate::session::START_LIMIT;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::time::Duration;
use tabmux_core::Config;
use tabmux_protocol::CallRequest;
use tabmux_protocol::limits::{CONNECT_TAKES, CONNECT_TOOL, LOOK_TAKES, QUESTION_WAITS};

/// How long the answer of a call may take, whatever happens to it at the daemon.
pub(crate) fn of(request: &CallRequest) -> Duration {
    let connects = request.tool == CONNECT_TOOL;
    let timeout = timeout_in(&request.arguments).or_else(|| connects.then_some(CONNECT_TAKES));
    let deadline = Config::default().deadline(timeout);
    // A client that can ask its person gets the question as an answer; otherwise it waits at the daemon.
    let asking = &request.asking;
    let question = match asking.can_ask || asking.word.is_some() {
        true => Duration::ZERO,
        false => QUESTION_WAITS,
    };
    LOOK_TAKES + question + deadline + LATENESS
}

/// The same for a tool list, with the daemon's own start.
pub(crate) fn of_list() -> Duration {
    START_LIMIT + Config::default().least_deadline + LATENESS
}

fn timeout_in(arguments: &RawValue) -> Option<Duration> {
    #[derive(Deserialize)]
    struct Wish {
        timeout: u64,
    }
    let wish = serde_json::from_str(arguments.get()).ok();
    wish.map(|Wish { timeout }| Duration::from_millis(timeout))
}

/// The daemon's own answer arrives before ours.
const LATENESS: Duration = Duration::from_secs(2);

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use serde_json::value::to_raw_value;
    use tabmux_protocol::{Asking, RequestId};

    fn call(tool: &str, arguments: &serde_json::Value) -> CallRequest {
        CallRequest {
            request_id: RequestId("1".into()),
            tool: tool.into(),
            arguments: to_raw_value(arguments).unwrap(),
            progress: false,
            asking: Asking {
                can_ask: true,
                word: None,
            },
        }
    }

    /// Spec: multi-client 39.
    #[test]
    fn a_call_has_thirty_seconds_or_what_it_asks_for() {
        let around = LOOK_TAKES + LATENESS;
        let seconds =
            |tool, arguments| (of(&call(tool, &arguments)).saturating_sub(around)).as_secs();
        assert_eq!(seconds("click", json!({})), 30);
        assert_eq!(seconds("click", json!({"timeout": 5_000})), 30);
        assert_eq!(seconds("click", json!({"timeout": 60_000})), 61);
        assert_eq!(seconds("click", json!({"timeout": "soon"})), 30);
        assert_eq!(seconds("connect_browser", json!({})), 46);
        let nobody_to_ask = CallRequest {
            asking: Asking::default(),
            ..call("buy", &json!({}))
        };
        assert_eq!(of(&nobody_to_ask).saturating_sub(around).as_secs(), 55);
    }
}
