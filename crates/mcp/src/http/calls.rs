//! Counts the calls of clients over HTTP, by tool and outcome, and how long they took.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// All calls since the start.
#[derive(Debug, Default)]
pub(super) struct Calls {
    // Locked briefly.
    counted: Mutex<Counted>,
}

#[derive(Debug, Default)]
struct Counted {
    outcomes: BTreeMap<(String, Outcome), u64>,
    /// How many took at most as long as each bound.
    within: [u64; BOUNDS.len()],
    all: u64,
    total: Duration,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Outcome {
    Done,
    /// The tool reports an error.
    Failed,
    /// There is no such tool or session, or the call was interrupted.
    Refused,
}

impl Calls {
    pub(super) fn count(&self, tool: &str, outcome: Outcome, took: Duration) {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let counted = &mut *counted;
        let mut key = (label(tool), outcome);
        // A client can name any tool; names that are not refused are ours.
        let is_new = !counted.outcomes.contains_key(&key);
        if outcome == Outcome::Refused || (is_new && counted.outcomes.len() >= MOST_ROWS) {
            key.0 = OTHER.to_owned();
        }
        *counted.outcomes.entry(key).or_default() += 1;
        for (bound, within) in BOUNDS.iter().zip(&mut counted.within) {
            *within += u64::from(took.as_secs_f64() <= *bound);
        }
        counted.all += 1;
        counted.total += took;
    }

    /// In the text format of Prometheus.
    pub(super) fn metrics(&self) -> String {
        let counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = String::from(
            "# HELP tabmux_http_calls_total Calls of tools over HTTP.\n# TYPE tabmux_http_calls_total counter\n",
        );
        for ((tool, outcome), count) in &counted.outcomes {
            let outcome = outcome.name();
            let _ = writeln!(
                text,
                "tabmux_http_calls_total{{tool=\"{tool}\",outcome=\"{outcome}\"}} {count}"
            );
        }
        text.push_str(
            "# HELP tabmux_http_call_seconds How long calls took.\n# TYPE tabmux_http_call_seconds histogram\n",
        );
        for (bound, within) in BOUNDS.iter().zip(counted.within) {
            let _ = writeln!(
                text,
                "tabmux_http_call_seconds_bucket{{le=\"{bound}\"}} {within}"
            );
        }
        let (all, total) = (counted.all, counted.total.as_secs_f64());
        let _ = write!(
            text,
            "tabmux_http_call_seconds_bucket{{le=\"+Inf\"}} {all}\ntabmux_http_call_seconds_sum {total}\n\
             tabmux_http_call_seconds_count {all}\n"
        );
        text
    }
}

impl Outcome {
    fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Refused => "refused",
        }
    }
}

/// A page can choose the name of its tools.
fn label(tool: &str) -> String {
    let is_good =
        |character: &char| character.is_ascii_alphanumeric() || "._-".contains(*character);
    tool.chars().filter(is_good).take(LONGEST_NAME).collect()
}

/// In seconds.
const BOUNDS: [f64; 10] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 2.5, 10.0, 60.0];
/// More than tabmux has tools, times two outcomes.
const MOST_ROWS: usize = 512;
const LONGEST_NAME: usize = 64;
const OTHER: &str = "other";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_by_tool_and_outcome_with_their_times() {
        let calls = Calls::default();
        calls.count("click", Outcome::Done, Duration::from_millis(20));
        calls.count("click", Outcome::Done, Duration::from_secs(3));
        calls.count("click", Outcome::Failed, Duration::from_millis(1));
        calls.count("no \"such\n tool", Outcome::Refused, Duration::ZERO);
        let text = calls.metrics();
        for line in [
            "tabmux_http_calls_total{tool=\"click\",outcome=\"done\"} 2",
            "tabmux_http_calls_total{tool=\"click\",outcome=\"failed\"} 1",
            "tabmux_http_calls_total{tool=\"other\",outcome=\"refused\"} 1",
            "tabmux_http_call_seconds_bucket{le=\"0.025\"} 3",
            "tabmux_http_call_seconds_bucket{le=\"10\"} 4",
            "tabmux_http_call_seconds_bucket{le=\"+Inf\"} 4",
            "tabmux_http_call_seconds_count 4",
        ] {
            assert!(text.lines().any(|it| it == line), "{line}: {text}");
        }
    }

    #[test]
    fn clients_that_name_many_tools_do_not_fill_the_memory() {
        let calls = Calls::default();
        for number in 0..2 * MOST_ROWS {
            calls.count(&format!("tool-{number}"), Outcome::Failed, Duration::ZERO);
        }
        let rows = calls.counted.lock().unwrap().outcomes.len();
        assert!(rows <= MOST_ROWS + 3, "{rows}");
    }
}
