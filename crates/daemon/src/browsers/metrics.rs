//! Counters of each browser: calls and their times, and how often it was connected.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;
use tabmux_core::BrowserId;
use tabmux_protocol::overview::BrowserMetrics;
use tokio::time::Instant;

/// The counters, by browser.
#[derive(Debug, Default)]
pub(crate) struct Metrics(HashMap<BrowserId, Record>);

#[derive(Debug, Default)]
struct Record {
    calls: u64,
    failed: u64,
    /// The durations of the last calls.
    times: VecDeque<Duration>,
    slowest: Duration,
    connects: u64,
    failed_connects: u64,
    connected: Option<Instant>,
}

impl Metrics {
    /// Counts a call that used a browser.
    pub(crate) fn answered(&mut self, browser: BrowserId, took: Duration, failed: bool) {
        let record = self.0.entry(browser).or_default();
        record.calls += 1;
        record.failed += u64::from(failed);
        record.slowest = record.slowest.max(took);
        if record.times.len() >= KEPT_TIMES {
            record.times.pop_front();
        }
        record.times.push_back(took);
    }

    /// Counts an attempt to connect.
    pub(crate) fn attempted(&mut self, browser: BrowserId, connected: bool) {
        let record = self.0.entry(browser).or_default();
        match connected {
            true => {
                record.connects += 1;
                record.connected = Some(Instant::now());
            }
            false => record.failed_connects += 1,
        }
    }

    /// A browser was disconnected.
    pub(crate) fn lost(&mut self, browser: BrowserId) {
        if let Some(record) = self.0.get_mut(&browser) {
            record.connected = None;
        }
    }

    /// Forgets browsers that no session uses any more.
    pub(crate) fn keep_only(&mut self, known: impl Fn(BrowserId) -> bool) {
        self.0.retain(|browser, _| known(*browser));
    }

    /// The counters of a browser, for the overview.
    pub(crate) fn of(&self, browser: BrowserId) -> BrowserMetrics {
        let Some(record) = self.0.get(&browser) else {
            return BrowserMetrics::default();
        };
        BrowserMetrics {
            calls: record.calls,
            failed: record.failed,
            median_ms: median(&record.times).map(millis),
            slowest_ms: (record.calls > 0).then(|| millis(record.slowest)),
            connects: record.connects,
            failed_connects: record.failed_connects,
            connected_seconds: record.connected.map(|since| since.elapsed().as_secs()),
        }
    }
}

fn median(times: &VecDeque<Duration>) -> Option<Duration> {
    let mut sorted: Vec<_> = times.iter().copied().collect();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied()
}

/// Rounded to tenths.
#[expect(
    clippy::cast_precision_loss,
    reason = "no call takes 2^53 tenths of a millisecond"
)]
fn millis(time: Duration) -> f64 {
    (time.as_micros() / 100) as f64 / 10.0
}

/// The median is taken over this many calls.
const KEPT_TIMES: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: BrowserId = BrowserId(1);
    const TWO: BrowserId = BrowserId(2);

    /// Spec: multi-browser 89.
    #[test]
    fn each_browser_has_its_own_counts_and_times() {
        let mut metrics = Metrics::default();
        for (millis, failed) in [(2, false), (300, true), (4, false)] {
            metrics.answered(ONE, Duration::from_millis(millis), failed);
        }
        metrics.answered(TWO, Duration::from_micros(650), false);
        let one = metrics.of(ONE);
        assert_eq!((one.calls, one.failed), (3, 1));
        assert_eq!((one.median_ms, one.slowest_ms), (Some(4.0), Some(300.0)));
        let two = metrics.of(TWO);
        assert_eq!((two.calls, two.failed), (1, 0));
        assert_eq!((two.median_ms, two.slowest_ms), (Some(0.6), Some(0.6)));
        assert_eq!(metrics.of(BrowserId(3)), BrowserMetrics::default());
    }

    /// Spec: multi-browser 89.
    #[test]
    fn connections_are_counted_and_a_lost_one_is_not_up() {
        let mut metrics = Metrics::default();
        metrics.attempted(ONE, false);
        metrics.attempted(ONE, true);
        assert!(metrics.of(ONE).connected_seconds.is_some());
        metrics.lost(ONE);
        let of = metrics.of(ONE);
        assert_eq!(
            (of.connects, of.failed_connects, of.connected_seconds),
            (1, 1, None)
        );
    }

    /// Spec: multi-browser 89.
    #[test]
    fn memory_is_bounded_and_follows_the_latest_calls() {
        let mut metrics = Metrics::default();
        metrics.answered(ONE, Duration::from_secs(9), false);
        for _ in 0..10_000 {
            metrics.answered(ONE, Duration::from_millis(1), false);
        }
        assert_eq!(metrics.0[&ONE].times.len(), KEPT_TIMES);
        let one = metrics.of(ONE);
        assert_eq!((one.median_ms, one.slowest_ms), (Some(1.0), Some(9_000.0)));
        metrics.keep_only(|browser| browser == TWO);
        assert_eq!(metrics.of(ONE), BrowserMetrics::default());
    }
}
