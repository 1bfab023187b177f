//! The processor time that the main loop spends on each kind of event. All sessions wait for the loop, so no event
//! may take more than a millisecond; `cargo xtask bench` measures this under the worst known pages.

use std::collections::BTreeMap;
use std::time::Duration;
use tabmux_platform::thread_time;
use tabmux_protocol::overview::LoopCost;

/// The costs by kind of event.
#[derive(Debug, Default)]
pub(crate) struct LoopCosts(BTreeMap<&'static str, Cost>);

#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    events: u64,
    total: Duration,
    worst: Duration,
}

/// The processor time of this thread so far.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Worked(Duration);

impl LoopCosts {
    /// Adds the cost of an event that began at this processor time.
    pub(crate) fn spent(&mut self, kind: &'static str, since: Worked) {
        let took = Worked::now().0.saturating_sub(since.0);
        let cost = self.0.entry(kind).or_default();
        cost.events += 1;
        cost.total += took;
        cost.worst = cost.worst.max(took);
    }

    /// The costs for the overview.
    pub(crate) fn rows(&self) -> Vec<LoopCost> {
        let rows = self.0.iter().map(|(kind, cost)| LoopCost {
            event: (*kind).to_owned(),
            events: cost.events,
            total_ms: cost.total.as_secs_f64() * 1_000.0,
            worst_ms: cost.worst.as_secs_f64() * 1_000.0,
        });
        rows.collect()
    }
}

impl Worked {
    pub(crate) fn now() -> Self {
        Self(thread_time())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_its_count_its_sum_and_its_worst() {
        let mut costs = LoopCosts::default();
        for _ in 0..3 {
            let since = Worked::now();
            std::hint::black_box((0..10_000_u64).sum::<u64>());
            costs.spent("call", since);
        }
        costs.spent("open", Worked::now());
        let rows = costs.rows();
        assert_eq!(rows.len(), 2);
        assert_eq!((rows[0].event.as_str(), rows[0].events), ("call", 3));
        assert!(rows[0].worst_ms > 0.0 && rows[0].worst_ms <= rows[0].total_ms);
    }
}
