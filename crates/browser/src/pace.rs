//! A rate limiter: after a burst, messages are read at a steady rate, and the rest waits on the sender's side.

use std::time::Duration;
use tokio::time::Instant;

/// The rate of one connection or one tab, in messages or in bytes.
#[derive(Debug)]
pub struct Pace {
    per_second: u32,
    /// How far ahead of the rate the sender may be.
    lead: Duration,
    /// When everything so far would have been due at that rate.
    due: Instant,
}

impl Pace {
    /// `per_second` units a second on average, and up to `burst` at once after a quiet time.
    pub fn new(per_second: u32, burst: u32) -> Self {
        let per_second = per_second.max(1);
        Self {
            per_second,
            lead: time_of(burst as usize, per_second),
            due: Instant::now(),
        }
    }

    /// Counts `units` as used.
    pub fn spend(&mut self, units: usize) {
        let due = self.due.max(Instant::now());
        self.due = due + time_of(units, self.per_second);
    }

    /// When more is permitted; in the past if that is now.
    pub fn free_at(&self) -> Instant {
        // The clock cannot represent times before its start.
        self.due.checked_sub(self.lead).unwrap_or_else(Instant::now)
    }

    /// Whether more is permitted now.
    pub fn is_free(&self) -> bool {
        self.free_at() <= Instant::now()
    }

    /// Waits until more is permitted, then counts `units` as used.
    pub async fn next(&mut self, units: usize) {
        self.spend(units);
        tokio::time::sleep_until(self.free_at()).await;
    }
}

fn time_of(units: usize, per_second: u32) -> Duration {
    let nanos = (units as u128).saturating_mul(1_000_000_000) / u128::from(per_second);
    // A longer wait than a day never makes sense.
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX)).min(A_DAY)
}

const A_DAY: Duration = Duration::from_secs(24 * 3_600);

#[cfg(test)]
mod tests {
    use super::*;

    /// Spec: security 9.
    #[tokio::test(start_paused = true)]
    async fn a_burst_passes_at_once_and_a_flood_at_a_steady_rate() {
        let (mut pace, begun) = (Pace::new(100, 50), Instant::now());
        for _ in 0..50 {
            pace.next(1).await;
        }
        assert_eq!(begun.elapsed(), Duration::ZERO);
        for _ in 0..1_000 {
            pace.next(1).await;
        }
        assert!(begun.elapsed().abs_diff(Duration::from_secs(10)) < Duration::from_millis(100));
        // After a quiet time a burst is permitted again, but not a longer one.
        tokio::time::sleep(Duration::from_secs(3_600)).await;
        let begun = Instant::now();
        for _ in 0..51 {
            pace.next(1).await;
        }
        assert!((1..=10).contains(&begun.elapsed().as_millis()));
    }

    #[tokio::test(start_paused = true)]
    async fn bytes_are_limited_however_they_are_split() {
        let (mut whole, mut parts) = (Pace::new(1_000, 2_000), Pace::new(1_000, 2_000));
        whole.spend(5_000);
        for _ in 0..50 {
            parts.spend(100);
        }
        for pace in [&whole, &parts] {
            let wait = pace.free_at() - Instant::now();
            assert!(wait.abs_diff(Duration::from_secs(3)) < Duration::from_millis(1));
            assert!(!pace.is_free());
        }
        tokio::time::sleep(Duration::from_millis(3_001)).await;
        assert!(whole.is_free());
        // A number that overflows means a wait, not a panic.
        whole.spend(usize::MAX);
        whole.spend(usize::MAX);
        assert!(!whole.is_free());
    }
}
