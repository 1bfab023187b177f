//! How fast somebody may talk: after a burst they are heard at a steady rate, and the rest waits on their side.

use std::time::Duration;
use tokio::time::Instant;

/// The pace of one connection.
#[derive(Debug)]
pub(super) struct Pace {
    /// Between two messages, in the long run.
    gap: Duration,
    /// How far ahead of that rate somebody may be.
    lead: Duration,
    /// When the next message would be due at that rate.
    due: Instant,
}

impl Pace {
    pub(super) fn new(per_second: u32, burst: u32) -> Self {
        let gap = Duration::from_secs(1) / per_second.max(1);
        Self {
            gap,
            lead: gap * burst,
            due: Instant::now(),
        }
    }

    /// Resolves when one more message may be heard.
    pub(super) async fn next(&mut self) {
        let now = Instant::now();
        self.due = self.due.max(now) + self.gap;
        let ahead = self.due.duration_since(now);
        if let Some(wait) = ahead.checked_sub(self.lead).filter(|wait| !wait.is_zero()) {
            tokio::time::sleep(wait).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn s9_a_burst_is_heard_at_once_and_a_flood_at_a_steady_rate() {
        let (mut pace, begun) = (Pace::new(100, 50), Instant::now());
        for _ in 0..50 {
            pace.next().await;
        }
        assert_eq!(begun.elapsed(), Duration::ZERO);
        for _ in 0..1_000 {
            pace.next().await;
        }
        assert!(begun.elapsed().abs_diff(Duration::from_secs(10)) < Duration::from_millis(100));
        // Whoever was quiet for a while may talk in a burst again, and not in a longer one.
        tokio::time::sleep(Duration::from_secs(3_600)).await;
        let begun = Instant::now();
        for _ in 0..51 {
            pace.next().await;
        }
        assert!((1..=10).contains(&begun.elapsed().as_millis()));
    }
}
