//! Writes the numbers to a section of `docs/benchmarks.md`.

use super::row::{Found, MOST_LOOP_MILLIS, MOST_MILLIS, MOST_TIMES, Row};
use super::{ATTACKED, QUIET};
use crate::bench::peers::{answer_of, load};
use anyhow::{Context, Result};
use std::fs;
use std::path::Path;
use tabmux_testkit::attacks::MOST_MEMORY;

/// Writes the section, and keeps the rest of the page.
pub(super) fn write(section: &str) -> Result<()> {
    let file = tabmux_testkit::workspace_root().join("docs/benchmarks.md");
    let text = fs::read_to_string(&file)?;
    let (rest, _) = split(&text);
    fs::write(&file, format!("{rest}\n{section}")).context("docs/benchmarks.md cannot be written")
}

/// The page without this section, and the section, if it exists. It is the last one.
pub(in crate::bench) fn split(page: &str) -> (&str, &str) {
    match page.find(HEADING) {
        Some(at) => (page[..at].trim_end_matches('\n'), &page[at..]),
        None => (page.trim_end_matches('\n'), ""),
    }
}

pub(super) fn section(rows: &[Row], before: &[Row], binary: &Path, load_before: &str) -> String {
    let mut lines = vec![
        HEADING.to_owned(),
        String::new(),
        "`cargo xtask bench --bystander` writes this part; do not edit it.".to_owned(),
        "One session attacks, or a page that it opens, or a process of the same machine; another session takes snapshots of its own small page, in the same browser, through the same daemon.".to_owned(),
        String::new(),
        format!(
            "- **When and where**: {}, {} cores, load {load_before} before and {} after; {}.",
            answer_of(Path::new("date"), &["-u", "+%F"]),
            std::thread::available_parallelism().map_or(0, std::num::NonZero::get),
            load(),
            answer_of(binary, &["--version"]),
        ),
        format!(
            "- **How**: for each attack a new daemon and a new browser; snapshots one after the other, {QUIET:?} in quiet and {ATTACKED:?} under attack. p50 and p95 in milliseconds; `×` is p95 under attack to p95 in quiet, in the same run. Memory is the daemon's peak, resident. `loop` is the processor time of the most expensive event of its main loop, in milliseconds, with the kind of that event; an attack that misses only this goal is played a second time, because the host of a virtual machine can take the processor away. The build from before does not report it."
        ),
        format!(
            "- **Goal**: nothing is lost, p95 ≤ {MOST_MILLIS:.0} ms and ≤ {MOST_TIMES:.0} × quiet, memory ≤ {} MB, loop ≤ {MOST_LOOP_MILLIS:.0} ms. Where it becomes more than {MOST_TIMES:.0} × slower, the same page is opened in a Chromium without tabmux, with a plain DevTools client attached, and another tab of it is read (`Chrome alone`); if that tab becomes more than {MOST_TIMES:.0} × slower, too, the goal of {MOST_MILLIS:.0} ms decides.",
            MOST_MEMORY / 1_000_000
        ),
        String::new(),
    ];
    lines.extend(table(rows, before));
    let missed = rows.iter().filter(|row| !row.found.missed().is_empty());
    lines.push(String::new());
    lines.push(match missed.count() {
        0 => format!("All {} attacks stay within the goal.", rows.len()),
        missed => format!(
            "✗ {missed} of {} attacks do not stay within the goal.",
            rows.len()
        ),
    });
    lines.extend(wrongs("Now", rows));
    lines.extend(wrongs("Before", before));
    lines.join("\n") + "\n"
}

/// A line of progress.
pub(super) fn line(row: &Row) -> String {
    let wrong = match row.found.wrong.as_slice() {
        [] => String::new(),
        wrong => format!("; {}", short(&wrong.join("; "))),
    };
    format!(
        "{} {}: quiet {:.1}/{:.1}, {}{}, {}, loop {}, worst {:.0}, {} snapshots{wrong}",
        sign(&row.found),
        row.attack,
        row.found.quiet_p50,
        row.found.quiet_p95,
        times(&row.found),
        match row.found.chrome_alone {
            Some(times) => format!(" (Chrome alone {times:.1} ×)"),
            None => String::new(),
        },
        memory(&row.found),
        loop_cost(&row.found),
        row.found.worst,
        row.found.snapshots,
    )
}

fn table(rows: &[Row], before: &[Row]) -> Vec<String> {
    let mut lines = vec![
        "| attack | before: p50 / p95 | before: memory | quiet p95 | p50 / p95 | Chrome alone | memory | loop | goal |"
            .to_owned(),
        "|---|--:|--:|--:|--:|--:|--:|--:|:-:|".to_owned(),
    ];
    lines.extend(rows.iter().map(|row| {
        let earlier = before.iter().find(|earlier| earlier.attack == row.attack);
        let earlier = earlier.map(|earlier| &earlier.found);
        format!(
            "| {} | {} | {} | {:.1} | {} | {} | {} | {} | {} |",
            row.attack,
            earlier.map_or_else(|| "–".to_owned(), times),
            earlier.map_or_else(|| "–".to_owned(), memory),
            row.found.quiet_p95,
            times(&row.found),
            chrome_alone(&row.found),
            memory(&row.found),
            loop_cost(&row.found),
            sign(&row.found),
        )
    }));
    lines
}

/// What was lost, as the checks reported it.
fn wrongs(when: &str, rows: &[Row]) -> Vec<String> {
    let wrong = rows.iter().filter(|row| !row.found.wrong.is_empty());
    let lines: Vec<String> = wrong
        .map(|row| format!("- {}: {}", row.attack, short(&row.found.wrong.join("; "))))
        .collect();
    match lines.is_empty() {
        true => Vec::new(),
        false => {
            let head = [
                String::new(),
                format!("{when}, this went wrong:"),
                String::new(),
            ];
            head.into_iter().chain(lines).collect()
        }
    }
}

fn times(found: &Found) -> String {
    let lost = if found.wrong.is_empty() {
        ""
    } else {
        " ✗ lost"
    };
    match found.snapshots {
        0 => "lost".to_owned(),
        _ => format!(
            "{:.1} / {:.1} ({:.1} ×){lost}",
            found.p50,
            found.p95,
            found.times()
        ),
    }
}

fn chrome_alone(found: &Found) -> String {
    let times = found.chrome_alone;
    times.map_or_else(String::new, |times| format!("{times:.1} ×"))
}

fn memory(found: &Found) -> String {
    let bytes = found.peak.map(|peak| peak as f64 / 1e6);
    bytes.map_or_else(|| "–".to_owned(), |megabytes| format!("{megabytes:.0} MB"))
}

fn loop_cost(found: &Found) -> String {
    let event = found.loop_event.as_deref().unwrap_or_default();
    let cost = found.loop_cost;
    cost.map_or_else(
        || "–".to_owned(),
        |cost| format!("{cost:.2} {event}").trim_end().to_owned(),
    )
}

fn sign(found: &Found) -> String {
    match found.missed().as_slice() {
        [] => "✓".to_owned(),
        missed => format!("✗ {}", missed.join(", ")),
    }
}

fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST_COMPLAINT) {
        Some((cut, _)) => format!("{}…", &line[..cut]),
        None => line,
    }
}

const HEADING: &str = "## What a bystander notices of attacks";
const LONGEST_COMPLAINT: usize = 240;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_part_is_replaced_and_the_rest_is_kept() {
        let page = format!("# Benchmarks\n\ntext\n\n{HEADING}\n\nold\n");
        let (rest, part) = split(&page);
        assert_eq!(rest, "# Benchmarks\n\ntext");
        assert!(part.ends_with("old\n"));
        assert_eq!(split("# Benchmarks\n"), ("# Benchmarks", ""));
    }

    #[test]
    fn what_was_lost_is_in_the_table_and_below_it() {
        let row = |found| Row {
            attack: "a loop".into(),
            found,
        };
        let good = Found {
            quiet_p95: 5.0,
            p50: 6.0,
            p95: 10.0,
            snapshots: 30,
            peak: Some(40_000_000),
            loop_cost: Some(0.3),
            loop_event: Some("call".into()),
            ..Found::default()
        };
        let lines = table(&[row(good)], &[row(Found::lost("the browser was lost"))]);
        assert_eq!(
            lines[2],
            "| a loop | lost | – | 5.0 | 6.0 / 10.0 (2.0 ×) |  | 40 MB | 0.30 call | ✓ |"
        );
        let below = wrongs("Before", &[row(Found::lost("the browser was lost"))]);
        assert_eq!(below[3], "- a loop: the browser was lost");
    }
}
