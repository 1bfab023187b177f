//! The results: rows with one cell per server.

use super::dialect::Peer;
use std::collections::BTreeMap;

/// All cells. A cell without a measurement stays empty.
#[derive(Debug, Default)]
pub(super) struct Results(BTreeMap<(Row, Peer), Cell>);

#[derive(Debug, Default)]
struct Cell {
    values: Vec<f64>,
    failure: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Row {
    Start,
    FirstPage,
    MemoryIdle,
    MemoryUsed,
    ListBytes,
    Evaluate,
    Click,
    BusyClick,
    Form,
    SmallSnapshot,
    LongSnapshot,
    LongSnapshotBytes,
    /// The text that the model reads; not a row of the table.
    LongSnapshotText,
    Screenshot,
    Navigate,
    TenTabs,
}

/// The content of a cell.
#[derive(Debug, PartialEq)]
pub(super) enum Said<'a> {
    Median(f64),
    Failed(&'a str),
    Nothing,
}

impl Results {
    pub(super) fn note(&mut self, row: Row, peer: Peer, value: f64) {
        let cell = self.0.entry((row, peer)).or_default();
        cell.values.push(value);
    }

    /// One failure makes the whole cell a failure: the time of a wrong answer means nothing.
    pub(super) fn failed(&mut self, row: Row, peer: Peer, why: String) {
        let cell = self.0.entry((row, peer)).or_default();
        cell.failure.get_or_insert(why);
    }

    pub(super) fn said(&self, row: Row, peer: Peer) -> Said<'_> {
        match self.0.get(&(row, peer)) {
            Some(Cell {
                failure: Some(why), ..
            }) => Said::Failed(why),
            Some(cell) => median(&cell.values).map_or(Said::Nothing, Said::Median),
            None => Said::Nothing,
        }
    }
}

fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_a_median_a_failure_or_empty() {
        let mut results = Results::default();
        assert_eq!(results.said(Row::Start, Peer::Tabmux), Said::Nothing);
        for value in [3.0, 1.0, 2.0] {
            results.note(Row::Start, Peer::Tabmux, value);
        }
        assert_eq!(results.said(Row::Start, Peer::Tabmux), Said::Median(2.0));
        results.failed(Row::Start, Peer::Tabmux, "missed".into());
        assert_eq!(
            results.said(Row::Start, Peer::Tabmux),
            Said::Failed("missed")
        );
    }
}
