//! How long to wait for the daemon's answer: a little longer than the daemon may take, since only the daemon knows
//! the outcome of a call.

use crate::session::START_LIMIT;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::time::Duration;
use tabmux_core::Config;
use tabmux_protocol::CallRequest;
use tabmux_protocol::limits::{
    CONNECT_TAKES, CONNECT_TOOL, FILE_TAKES, LOOK_TAKES, QUESTION_WAITS, QUEUE_TAKES, STEPS_TAKE,
    STEPS_TOOL,
};
use tabmux_protocol::session::{BrowserChoice, EndpointAddress, SessionOptions};

/// The timeout for the answer to a call.
pub(crate) fn of(request: &CallRequest) -> Duration {
    let config = Config::default();
    let usual = match request.tool.as_str() {
        CONNECT_TOOL => Some(CONNECT_TAKES),
        STEPS_TOOL => Some(STEPS_TAKE),
        _ => None,
    };
    let deadline = config.deadline(timeout_in(&request.arguments).or(usual));
    // After the last step the daemon asks the page what changed.
    let end = match request.tool == STEPS_TOOL {
        true => config.least_deadline,
        false => Duration::ZERO,
    };
    // A client that can ask its user gets the question as the answer. Otherwise the call waits in the daemon.
    let asking = &request.asking;
    let question = match asking.can_ask || asking.word.is_some() {
        true => Duration::ZERO,
        false => QUESTION_WAITS,
    };
    LOOK_TAKES + question + deadline + end + MARGIN
}

/// The timeout for the answer to a request about resources: of a call, and of reading a file that it made. It may wait
/// for a person like a call of a client that cannot ask.
pub(crate) fn of_resources() -> Duration {
    let deadline = Config::default().deadline(None);
    LOOK_TAKES + QUESTION_WAITS + deadline + FILE_TAKES + MARGIN
}

/// What is added to that for sessions that may have to queue for their browser.
pub(crate) fn of_queues(options: &SessionOptions) -> Duration {
    let queues = match &options.browser.choice {
        // An agent may add a grid.
        _ if options.browser.allow_remote => true,
        BrowserChoice::Endpoints { endpoints } => {
            let mut addresses = endpoints.iter().map(|endpoint| &endpoint.address);
            addresses.any(|address| matches!(address, EndpointAddress::Grid { .. }))
        }
        _ => false,
    };
    if queues { QUEUE_TAKES } else { Duration::ZERO }
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
        assert_eq!(seconds("run_steps", json!({})), 121 + 30);
        assert_eq!(seconds("run_steps", json!({"timeout": 300_000})), 301 + 30);
        let cannot_ask = CallRequest {
            asking: Asking::default(),
            ..call("buy", &json!({}))
        };
        assert_eq!(of(&cannot_ask).saturating_sub(around).as_secs(), 55);
    }
}
