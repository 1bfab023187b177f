//! The result of one attack, and how it is saved for a later run.

use super::Sample;
use crate::bench::sample::millis;
use anyhow::Result;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fs;
use std::path::Path;
use tabmux_testkit::attacks::MOST_MEMORY;

/// One attack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Row {
    pub(super) attack: String,
    pub(super) found: Found,
}

/// Times in milliseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Found {
    pub(super) quiet_p50: f64,
    pub(super) quiet_p95: f64,
    pub(super) p50: f64,
    pub(super) p95: f64,
    pub(super) worst: f64,
    pub(super) snapshots: usize,
    /// The most memory that the daemon had, in bytes.
    pub(super) peak: Option<u64>,
    /// The most that one event cost the daemon's main loop, in milliseconds, if the daemon reports it.
    #[serde(default)]
    pub(super) loop_cost: Option<f64>,
    /// The kind of that event.
    #[serde(default)]
    pub(super) loop_event: Option<String>,
    /// How much slower another tab becomes in a Chromium without tabmux; asked where the bystander became slow.
    #[serde(default)]
    pub(super) chrome_alone: Option<f64>,
    /// Failed checks.
    pub(super) wrong: Vec<String>,
}

impl Found {
    /// The times of a sample.
    pub(super) fn of(quiet: &Sample, sample: &Sample) -> Self {
        Self {
            quiet_p50: millis(quiet.median()),
            quiet_p95: millis(quiet.p95()),
            p50: millis(sample.median()),
            p95: millis(sample.p95()),
            worst: millis(sample.worst()),
            snapshots: sample.len(),
            ..Self::default()
        }
    }

    pub(super) fn lost(why: impl Into<String>) -> Self {
        Self {
            wrong: vec![why.into()],
            ..Self::default()
        }
    }

    /// How much slower than without an attack.
    pub(super) fn times(&self) -> f64 {
        self.p95 / self.quiet_p95.max(0.1)
    }

    /// Whether the bystander became slower than the goal says, whatever the reason.
    pub(super) fn is_slowed_down(&self) -> bool {
        self.times() > MOST_TIMES
    }

    /// Whether Chromium alone becomes as slow: then it is no fault of ours.
    fn chrome_does_it(&self) -> bool {
        self.chrome_alone.is_some_and(|times| times > MOST_TIMES)
    }

    /// The missed goals.
    pub(super) fn missed(&self) -> Vec<&'static str> {
        let mut missed = Vec::new();
        if !self.wrong.is_empty() {
            missed.push("harm");
        }
        if self.p95 > MOST_MILLIS || (self.is_slowed_down() && !self.chrome_does_it()) {
            missed.push("time");
        }
        if self.peak.is_none_or(|peak| peak > MOST_MEMORY) {
            missed.push("memory");
        }
        if self.loop_cost.is_some_and(|cost| cost > MOST_LOOP_MILLIS) {
            missed.push("loop");
        }
        missed
    }
}

/// The event that cost the main loop most, and its cost in milliseconds, from `tabmux status --json`.
pub(super) fn worst_event(status: &Value) -> Option<(String, f64)> {
    let costs = status["loopCosts"].as_array()?.iter();
    let costs = costs.filter_map(|cost| {
        let event = cost["event"].as_str()?.to_owned();
        Some((event, cost["worstMs"].as_f64()?))
    });
    costs.max_by(|one, other| one.1.total_cmp(&other.1))
}

pub(super) fn save(file: &Path, rows: &[Row]) -> Result<()> {
    Ok(fs::write(file, serde_json::to_vec_pretty(rows)?)?)
}

pub(super) fn load(file: &Path) -> Result<Vec<Row>> {
    Ok(serde_json::from_slice(&fs::read(file)?)?)
}

/// The limit for p95.
pub(super) const MOST_MILLIS: f64 = 250.0;
/// The limit for p95 as a multiple of p95 without an attack.
pub(super) const MOST_TIMES: f64 = 10.0;
/// The limit for the cost of one event in the main loop.
pub(super) const MOST_LOOP_MILLIS: f64 = 1.0;

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_row_is_judged_by_harm_time_and_memory() {
        let good = Found {
            quiet_p95: 5.0,
            p95: 49.0,
            peak: Some(40_000_000),
            ..Found::default()
        };
        assert!(good.missed().is_empty());
        let bad = Found {
            p95: 51.0,
            peak: Some(151_000_000),
            loop_cost: Some(1.5),
            wrong: vec!["the browser was lost".into()],
            ..good.clone()
        };
        assert_eq!(bad.missed(), ["harm", "time", "memory", "loop"]);
        let slow = Found {
            quiet_p95: 100.0,
            p95: 251.0,
            ..good
        };
        assert_eq!(slow.missed(), ["time"]);
    }

    #[test]
    fn the_worst_of_all_events_counts() {
        let status =
            json!({"loopCosts": [{"event": "a", "worstMs": 0.2}, {"event": "b", "worstMs": 0.7}]});
        assert_eq!(worst_event(&status), Some(("b".to_owned(), 0.7)));
        assert_eq!(worst_event(&json!({"pid": 1})), None);
    }

    #[test]
    fn numbers_can_be_kept() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let rows = vec![Row {
            attack: "a loop".into(),
            found: Found::lost("everything"),
        }];
        save(file.path(), &rows).unwrap();
        assert_eq!(load(file.path()).unwrap(), rows);
    }
}
