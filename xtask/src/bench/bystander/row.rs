//! What was found out about one attack, and how it is kept for a later run.

use super::Sample;
use crate::bench::sample::millis;
use anyhow::Result;
use serde::{Deserialize, Serialize};
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
    /// What was lost or did not hold.
    pub(super) wrong: Vec<String>,
}

impl Found {
    pub(super) fn new(
        quiet: &Sample,
        sample: &Sample,
        peak: Option<u64>,
        wrong: Vec<String>,
    ) -> Self {
        Self {
            quiet_p50: millis(quiet.median()),
            quiet_p95: millis(quiet.p95()),
            p50: millis(sample.median()),
            p95: millis(sample.p95()),
            worst: millis(sample.worst()),
            snapshots: sample.len(),
            peak,
            wrong,
        }
    }

    pub(super) fn lost(why: impl Into<String>) -> Self {
        Self {
            wrong: vec![why.into()],
            ..Self::default()
        }
    }

    /// How much slower than in quiet.
    pub(super) fn times(&self) -> f64 {
        self.p95 / self.quiet_p95.max(0.1)
    }

    /// What of the goals is missed.
    pub(super) fn missed(&self) -> Vec<&'static str> {
        let mut missed = Vec::new();
        if !self.wrong.is_empty() {
            missed.push("harm");
        }
        if self.p95 > MOST_MILLIS || self.times() > MOST_TIMES {
            missed.push("time");
        }
        if self.peak.is_none_or(|peak| peak > MOST_MEMORY) {
            missed.push("memory");
        }
        missed
    }
}

pub(super) fn save(file: &Path, rows: &[Row]) -> Result<()> {
    Ok(fs::write(file, serde_json::to_vec_pretty(rows)?)?)
}

pub(super) fn load(file: &Path) -> Result<Vec<Row>> {
    Ok(serde_json::from_slice(&fs::read(file)?)?)
}

/// The slowest that one snapshot in twenty may be.
pub(super) const MOST_MILLIS: f64 = 250.0;
/// That much slower than in quiet.
pub(super) const MOST_TIMES: f64 = 10.0;

#[cfg(test)]
mod tests {
    use super::*;

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
            wrong: vec!["the browser was lost".into()],
            ..good.clone()
        };
        assert_eq!(bad.missed(), ["harm", "time", "memory"]);
        let slow = Found {
            quiet_p95: 100.0,
            p95: 251.0,
            ..good
        };
        assert_eq!(slow.missed(), ["time"]);
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
