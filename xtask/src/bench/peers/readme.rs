//! Writes the table in README, between two marks.

use super::dialect::Peer;
use super::report::{ROWS, cell};
use super::results::{Results, Row};
use anyhow::{Context, Result};
use std::fs;

/// Replaces the table in README.
pub(super) fn write(results: &Results) -> Result<()> {
    let file = tabmux_testkit::workspace_root().join("README.md");
    let text = fs::read_to_string(&file)?;
    let text = replaced(&text, &table(results)).context("README.md has no marks for the table")?;
    fs::write(&file, text).context("README.md cannot be written")
}

fn replaced(text: &str, table: &str) -> Option<String> {
    let (before, rest) = text.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n{table}\n{END}{after}"))
}

fn table(results: &Results) -> String {
    let names = Peer::ALL.map(Peer::name).join(" | ");
    let mut lines = vec![format!("| | {names} |"), "|---|--:|--:|--:|--:|".to_owned()];
    let rows = ROWS.iter().filter(|(row, ..)| SHOWN.contains(row));
    lines.extend(rows.map(|&(row, name, unit, _)| {
        let cells = Peer::ALL.map(|peer| cell(results, row, peer, unit));
        format!("| {name} | {} |", cells.join(" | "))
    }));
    lines.join("\n")
}

/// The most important rows, including those in which tabmux is not ahead.
const SHOWN: [Row; 9] = [
    Row::Start,
    Row::FirstPage,
    Row::MemoryUsed,
    Row::Evaluate,
    Row::Click,
    Row::BusyClick,
    Row::LongSnapshot,
    Row::Screenshot,
    Row::TenTabs,
];
const BEGIN: &str = "<!-- cargo xtask bench --peers -->";
const END: &str = "<!-- end -->";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_between_the_marks_is_replaced() {
        let text = format!("before {BEGIN} old {END} after");
        let new = format!("before {BEGIN}\nnew\n{END} after");
        assert_eq!(replaced(&text, "new"), Some(new));
        assert_eq!(replaced("no marks", "new"), None);
    }

    #[test]
    fn there_is_a_place_in_the_readme() {
        let readme = include_str!("../../../../README.md");
        assert!(replaced(readme, "").is_some());
    }
}
