//! Writes the numbers to `docs/benchmarks.md`.

use super::dialect::Peer;
use super::results::{Results, Row, Said};
use super::{Bench, ROUNDS};
use crate::bench::agents::section_of;
use crate::bench::bystander::split;
use anyhow::{Context, Result};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Writes the page. Keeps the sections about agents and attacks, which other runs write.
pub(super) fn write(text: &str) -> Result<()> {
    let file = tabmux_testkit::workspace_root().join("docs/benchmarks.md");
    let old = fs::read_to_string(&file).unwrap_or_default();
    let (_, attacks) = split(&old);
    let kept = [section_of(&old), attacks];
    let kept = kept.iter().filter(|section| !section.is_empty());
    let kept: String = kept.map(|section| format!("\n{section}\n")).collect();
    let text = format!("{text}{kept}");
    fs::write(&file, format!("{}\n", text.trim_end()))
        .context("docs/benchmarks.md cannot be written")
}

pub(super) fn markdown(
    results: &Results,
    bench: &Bench,
    raw_evaluate: f64,
    load_before: &str,
) -> String {
    let mut lines = vec![
        "# Benchmarks".to_owned(),
        String::new(),
        "`cargo xtask bench --peers` writes this page; do not edit it.".to_owned(),
        "It installs three other servers from npm and gives all four the same work on the same local pages, over MCP on stdin and stdout.".to_owned(),
        String::new(),
    ];
    lines.extend(circumstances(bench, load_before));
    lines.push(String::new());
    lines.extend(table(results, raw_evaluate));
    lines.push(String::new());
    lines.push(
        "`(12 ×)` says that it is 12 times tabmux's number; the goal is tabmux's own.".to_owned(),
    );
    lines.push("The times are noisy, because the machine does other things, too; all four suffer from that alike, so look at the ratios.".to_owned());
    lines.push(String::new());
    lines.push("## What the rows mean, and what they leave out".to_owned());
    lines.push(String::new());
    lines.extend(ROWS.map(|(row, name, _, note)| {
        let more = match row {
            Row::Evaluate => format!(
                " Asked without any server, over a websocket, this browser needs {} for it; the goal is twice that.",
                Unit::Millis.show(raw_evaluate)
            ),
            _ => String::new(),
        };
        format!("- **{name}**: {note}{more}")
    }));
    lines.extend(failures(results));
    lines.join("\n") + "\n"
}

fn circumstances(bench: &Bench, load_before: &str) -> Vec<String> {
    let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    let versions: Vec<String> = Peer::ALL
        .iter()
        .filter_map(|peer| peer.package())
        .map(|(name, version)| format!("{name} {version}"))
        .collect();
    vec![
        format!(
            "- **When and where**: {}, {cores} cores, {} {}, load {load_before} before and {} after.",
            answer_of(Path::new("date"), &["-u", "+%F"]),
            std::env::consts::OS,
            std::env::consts::ARCH,
            load(),
        ),
        format!(
            "- **Browser**: {}, headless, the same program for all.",
            answer_of(&bench.browser, &["--version"])
        ),
        format!(
            "- **Versions**: {} (release build, shared daemon, static tools), {}, Node.js {}.",
            answer_of(&bench.tabmux, &["--version"]),
            versions.join(", "),
            answer_of(Path::new("node"), &["--version"]),
        ),
        format!(
            "- **How**: {ROUNDS} rounds; in each one the four take turns, each with a new server, a new browser and a new profile, one browser at a time. Numbers are medians over all rounds."
        ),
    ]
}

fn table(results: &Results, raw_evaluate: f64) -> Vec<String> {
    let names = Peer::ALL.map(Peer::name).join(" | ");
    let mut lines = vec![
        format!("| | {names} | goal |"),
        "|---|--:|--:|--:|--:|--:|".to_owned(),
    ];
    lines.extend(ROWS.map(|(row, name, unit, _)| {
        let cells = Peer::ALL.map(|peer| cell(results, row, peer, unit));
        format!(
            "| {name} | {} | {} |",
            cells.join(" | "),
            goal(results, row, unit, raw_evaluate)
        )
    }));
    lines
}

/// The goal of tabmux, and whether it is met.
fn goal(results: &Results, row: Row, unit: Unit, raw_evaluate: f64) -> String {
    let (mut measured, mut of) = (row, "");
    let most = match row {
        Row::Start | Row::SmallSnapshot => 10.0,
        // 8 MB for a client and 25 MB for the daemon.
        Row::MemoryUsed => 33.0,
        Row::ListBytes => 16_000.0,
        Row::Click => 40.0,
        Row::BusyClick | Row::LongSnapshot => 150.0,
        Row::TenTabs => 1_300.0,
        Row::Evaluate => 2.0 * raw_evaluate,
        // The goal is for the text; the wire adds JSON quoting.
        Row::LongSnapshotBytes => {
            (measured, of) = (Row::LongSnapshotText, "text ");
            40_000.0
        }
        _ => return String::new(),
    };
    let met = matches!(results.said(measured, Peer::Tabmux), Said::Median(value) if value <= most);
    let sign = if met { "✓" } else { "✗" };
    format!("{of}≤ {} {sign}", unit.show(most))
}

pub(super) fn cell(results: &Results, row: Row, peer: Peer, unit: Unit) -> String {
    match (results.said(row, peer), results.said(row, Peer::Tabmux)) {
        (Said::Nothing, _) => "–".to_owned(),
        (Said::Failed(_), _) => "failed".to_owned(),
        (Said::Median(value), Said::Median(ours)) if peer != Peer::Tabmux => {
            format!("{} ({} ×)", unit.show(value), short(value / ours))
        }
        (Said::Median(value), _) => unit.show(value),
    }
}

/// Why a cell says "failed".
fn failures(results: &Results) -> Vec<String> {
    let mut lines = Vec::new();
    for (row, name, _, _) in ROWS {
        for peer in Peer::ALL {
            if let Said::Failed(why) = results.said(row, peer) {
                let why: String = why
                    .lines()
                    .next()
                    .unwrap_or_default()
                    .chars()
                    .take(200)
                    .collect();
                lines.push(format!("- {} failed at **{name}**: {why}", peer.name()));
            }
        }
    }
    lines
}

/// The load of the machine, over one minute.
pub(crate) fn load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or("unknown").to_owned()
}

pub(crate) fn answer_of(program: &Path, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    let text = output.map_or_else(|_| Vec::new(), |output| output.stdout);
    String::from_utf8_lossy(&text).trim().to_owned()
}

#[derive(Clone, Copy)]
pub(super) enum Unit {
    Millis,
    Megabytes,
    Kilobytes,
}

impl Unit {
    fn show(self, value: f64) -> String {
        match self {
            Self::Millis => format!("{} ms", short(value)),
            Self::Megabytes => format!("{} MB", short(value)),
            Self::Kilobytes => format!("{} kB", short(value / 1e3)),
        }
    }
}

/// Two significant digits, but all digits of a whole number.
fn short(value: f64) -> String {
    match value {
        small if small < 9.95 => format!("{small:.1}"),
        large => format!("{large:.0}"),
    }
}

pub(super) const ROWS: [(Row, &str, Unit, &str); 15] = [
    (
        Row::Start,
        "start",
        Unit::Millis,
        "from the spawn of the server to the answer to `initialize`. Node.js runs its servers without npx, agent-browser is its native program without its Node.js launcher, and tabmux finds no daemon: it starts one, which the next clients share, and answers when that has taken the client in. agent-browser's own daemon starts with its first call, and is not in this row.",
    ),
    (
        Row::FirstPage,
        "first page",
        Unit::Millis,
        "start, and then the first navigation, which starts the browser. Nearly all of it is Chrome's own start. Chrome opens one window for each of them: tabmux and Playwright MCP have it opened for a context of their own, chrome-devtools-mcp and agent-browser take the first blank tab, and leave out opening one.",
    ),
    (
        Row::MemoryIdle,
        "memory, idle",
        Unit::Megabytes,
        "resident, the server and its helpers before there is a browser. tabmux's daemon counts here, though all clients share one; agent-browser starts its own with its first call.",
    ),
    (
        Row::MemoryUsed,
        "memory, in use",
        Unit::Megabytes,
        "the same after the work below, without the browser. tabmux's goal is 8 MB for each client and 25 MB for the daemon. agent-browser also starts a process for every call, which has ended by then.",
    ),
    (
        Row::ListBytes,
        "tools/list",
        Unit::Kilobytes,
        "what the list of tools costs as JSON. tabmux's is that of its static mode; in progressive mode it begins with one tool.",
    ),
    (
        Row::Evaluate,
        "evaluate",
        Unit::Millis,
        "`1+1` in the page. chrome-devtools-mcp and Playwright MCP wait for the page to rest after every script; tabmux and agent-browser do not.",
    ),
    (
        Row::Click,
        "click",
        Unit::Millis,
        "on a small page; it is checked that every click arrived. tabmux looks whether something covers the button, and waits until the page stops moving. chrome-devtools-mcp leaves out the first, agent-browser the second.",
    ),
    (
        Row::BusyClick,
        "click, busy page",
        Unit::Millis,
        "the same on a page that changes every 20 ms, for ever. agent-browser does not wait for what the click changes.",
    ),
    (
        Row::Form,
        "form",
        Unit::Millis,
        "20 text fields; it is checked that every value arrived. One call, but 20 for agent-browser, whose default tools have none for forms.",
    ),
    (
        Row::SmallSnapshot,
        "snapshot",
        Unit::Millis,
        "of a small page.",
    ),
    (
        Row::LongSnapshot,
        "snapshot, 1,500 rows",
        Unit::Millis,
        "of a table with 1,500 rows of four cells. tabmux shows what fits into its budget of 40 kB, and says what is missing and how to see it; the others send everything.",
    ),
    (
        Row::LongSnapshotBytes,
        "its size",
        Unit::Kilobytes,
        "of the whole answer, as it comes over the wire; tabmux's text in it is at most 40 kB.",
    ),
    (
        Row::Screenshot,
        "screenshot",
        Unit::Millis,
        "of a small page as PNG, at 1280 × 720 (agent-browser: at its own window's size). Most of it is Chrome, which draws a frame and packs it. tabmux measures the page first, so that no picture is larger than 1,568 pixels, and keeps a tab drawing that is not in front; chrome-devtools-mcp has no such limit, and only writes a picture of 2 MB or more to a file. Playwright MCP and agent-browser also write a file.",
    ),
    (
        Row::Navigate,
        "navigate",
        Unit::Millis,
        "to a small local page, until it has loaded. Nearly all of it is Chrome's own work, so the fastest differ less than one run from the next. tabmux also gives each new document the scripts that hear of its tools; agent-browser leaves that out, because it knows no tools of pages.",
    ),
    (
        Row::TenTabs,
        "ten tabs at once",
        Unit::Millis,
        "a script that waits for one second, in ten tabs, all ten asked for at the same time. Calls of Playwright MCP and agent-browser cannot name a tab: there is one current tab, so the cells are empty.",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn results(row: Row, value: f64) -> Results {
        let mut results = Results::default();
        results.note(row, Peer::Tabmux, value);
        results
    }

    #[test]
    fn a_script_may_take_twice_what_the_browser_itself_needs() {
        let results = results(Row::Evaluate, 1.1);
        let goal = |raw| goal(&results, Row::Evaluate, Unit::Millis, raw);
        assert_eq!(goal(0.6), "≤ 1.2 ms ✓");
        assert_eq!(goal(0.5), "≤ 1.0 ms ✗");
    }

    #[test]
    fn the_size_of_a_snapshot_is_judged_by_its_text() {
        let mut results = results(Row::LongSnapshotBytes, 43_000.0);
        results.note(Row::LongSnapshotText, Peer::Tabmux, 39_900.0);
        let goal = goal(&results, Row::LongSnapshotBytes, Unit::Kilobytes, 0.0);
        assert_eq!(goal, "text ≤ 40 kB ✓");
    }
}
