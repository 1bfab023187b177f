//! How long to wait for the daemon's answer: a little longer than the daemon may take, since only the daemon knows
//! the outcome of a call.

use crate::session::START_LIMIT;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::time::Duration;
use tabmux_core::Config;
use tabmux_protocol::CallRequest;
use tabmux_protocol::limits::{CONNECT_TAKES, CONNECT_TOOL, LOOK_TAKES, QUESTION_WAITS};

/// The timeout for the answer to a call.
pub(crate) fn of(request: &CallRequest) -> Duration {
    let connects = request.tool == CONNECT_TOOL;
    let timeout = timeout_in(&request.arguments).or_else(|| connects.then_some(CONNECT_TAKES));
    let deadline = Config::default().deadline(timeout);
    // A client that can ask its user gets the question as the answer. Otherwise the call waits in the daemon.
    let asking = &request.asking;
    let question = match asking.can_ask || asking.word.is_some() {
        true => Duration::ZERO,
        false => QUESTION_WAITS,
    };
    LOOK_TAKES + question + deadline + MARGIN
}

/// The timeout for a tool list, including the start of the daemon.
pub(crate) fn of_list() -> Duration {
    START_LIMIT + Config::default().least_deadline + MARGIN
}

fn timeout_in(arguments: &RawValue) -> Option<Duration> {
    #[derive(Deserialize)]
    struct Arguments {
        timeout: u64,
    }
    let arguments = serde_json::from_str(arguments.get()).ok();
    arguments.map(|Arguments { timeout }| Duration::from_millis(timeout))
}

/// Added so that the daemon's own timeout answer arrives before ours.
const MARGIN: Duration = Duration::from_secs(2);

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
        let around = LOOK_TAKES + MARGIN;
        let seconds =
            |tool, arguments| (of(&call(tool, &arguments)).saturating_sub(around)).as_secs();
        assert_eq!(seconds("click", json!({})), 30);
        assert_eq!(seconds("click", json!({"timeout": 5_000})), 30);
        assert_eq!(seconds("click", json!({"timeout": 60_000})), 61);
        assert_eq!(seconds("click", json!({"timeout": "soon"})), 30);
        assert_eq!(seconds("connect_browser", json!({})), 46);
        let cannot_ask = CallRequest {
            asking: Asking::default(),
            ..call("buy", &json!({}))
        };
        assert_eq!(of(&cannot_ask).saturating_sub(around).as_secs(), 55);
    }
}
