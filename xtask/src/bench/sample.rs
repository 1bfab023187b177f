//! Repeated measurements, and their median and percentiles.

use std::time::{Duration, Instant};

/// Durations of repeated runs.
#[derive(Debug, Default)]
pub(super) struct Sample(Vec<Duration>);

impl Sample {
    /// Measures one more.
    pub(super) async fn time<F: Future>(&mut self, work: F) -> F::Output {
        let begun = Instant::now();
        let output = work.await;
        self.0.push(begun.elapsed());
        output
    }

    pub(super) fn push(&mut self, one: Duration) {
        self.0.push(one);
    }

    /// The median.
    pub(super) fn median(&self) -> Duration {
        self.at(50)
    }

    /// The 99th percentile.
    pub(super) fn p99(&self) -> Duration {
        self.at(99)
    }

    /// The 95th percentile.
    pub(super) fn p95(&self) -> Duration {
        self.at(95)
    }

    /// The slowest.
    pub(super) fn worst(&self) -> Duration {
        self.0.iter().max().copied().unwrap_or_default()
    }

    fn at(&self, percent: usize) -> Duration {
        let mut sorted = self.0.clone();
        sorted.sort();
        let place = sorted.len() * percent / 100;
        sorted.get(place).copied().unwrap_or_default()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

/// In milliseconds.
pub(super) fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_slow_measurement_does_not_move_the_median() {
        let mut sample = Sample::default();
        assert_eq!(sample.median(), Duration::ZERO);
        for n in [3, 1, 900, 2, 4] {
            sample.push(Duration::from_millis(n));
        }
        assert_eq!(sample.median(), Duration::from_millis(3));
        assert_eq!(sample.p99(), Duration::from_millis(900));
        assert_eq!(sample.p95(), Duration::from_millis(900));
        assert_eq!(sample.worst(), Duration::from_millis(900));
    }
}
