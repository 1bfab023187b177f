//! Writes the table to `docs/benchmarks.md`, between two marks.

use super::tasks::Task;
use super::{Column, Played};
use crate::bench::peers::{Bench, answer_of, load};
use anyhow::{Context, Result};
use std::fs;
use std::path::Path;

/// Replaces the section, or puts it before the one about attacks.
pub(super) fn write(section: &str) -> Result<()> {
    let file = tabmux_testkit::workspace_root().join("docs/benchmarks.md");
    let text = placed(&fs::read_to_string(&file)?, section);
    fs::write(&file, text).context("docs/benchmarks.md cannot be written")
}

/// The section with its marks, if the page has it.
pub(in crate::bench) fn section_of(page: &str) -> &str {
    let begin = page.find(BEGIN);
    let end = page.find(END).map(|end| end + END.len());
    begin
        .zip(end)
        .and_then(|(begin, end)| page.get(begin..end))
        .unwrap_or_default()
}

fn placed(page: &str, section: &str) -> String {
    let section = format!("{BEGIN}\n{section}{END}");
    match section_of(page) {
        "" => {
            let (rest, attacks) = crate::bench::bystander::split(page);
            format!("{rest}\n\n{section}\n\n{attacks}")
        }
        old => page.replace(old, &section),
    }
}

pub(super) fn section(
    tasks: &[Task],
    columns: &[Column],
    bench: &Bench,
    load_before: &str,
) -> String {
    let mut lines: Vec<String> = HEAD.lines().map(str::to_owned).collect();
    lines.push(format!(
        "- **When and where**: {}, {} cores, load {load_before} before and {} after; {}.",
        answer_of(Path::new("date"), &["-u", "+%F"]),
        std::thread::available_parallelism().map_or(0, std::num::NonZero::get),
        load(),
        answer_of(&bench.tabmux, &["--version"]),
    ));
    lines.push(String::new());
    lines.extend(totals(tasks, columns));
    lines.push(String::new());
    lines.push("Calls for each task:".to_owned());
    lines.push(String::new());
    lines.extend(by_task(tasks, columns));
    lines.extend(failures(tasks, columns));
    lines.join("\n") + "\n"
}

/// A row of the first table: its name, its number for a column, how that reads, and the goal's share of the best peer.
type Row = (
    &'static str,
    fn(&Column) -> Option<usize>,
    fn(usize) -> String,
    Option<Goal>,
);

#[derive(Clone, Copy)]
enum Goal {
    /// At least this, which is all.
    All,
    AtMost(usize),
    /// At most one of so many parts of the best peer.
    Share(usize),
}

const ROWS: [Row; 7] = [
    ("tasks done", |it| Some(it.done()), plain, Some(Goal::All)),
    (
        "calls",
        |it| Some(it.total.calls),
        plain,
        Some(Goal::Share(2)),
    ),
    (
        "calls for nine more records",
        Column::alike,
        plain,
        Some(Goal::AtMost(5)),
    ),
    ("answers", |it| Some(it.total.answer_bytes), kilobytes, None),
    (
        "tool lists",
        |it| Some(it.total.list_bytes),
        kilobytes,
        None,
    ),
    (
        "answers and lists",
        |it| Some(it.total.bytes()),
        kilobytes,
        Some(Goal::Share(3)),
    ),
    ("lists fetched", |it| Some(it.total.lists), plain, None),
];

fn totals(tasks: &[Task], columns: &[Column]) -> Vec<String> {
    let mut lines = head(columns, "", "| goal |");
    lines.extend(ROWS.iter().map(|(name, number, show, goal)| {
        let cells = columns.iter().map(|column| match number(column) {
            Some(value) => show(value),
            None => "–".to_owned(),
        });
        let goal = goal.map_or_else(String::new, |goal| {
            judged(goal, columns, tasks.len(), *number, *show)
        });
        format!("| {name} | {} | {goal} |", joined(cells))
    }));
    let times = columns
        .iter()
        .map(|column| format!("{:.1} s", column.total.took.as_secs_f64()));
    lines.push(format!("| time of all calls | {} |  |", joined(times)));
    let slowest = columns.iter().map(|column| {
        let one = &column.slowest;
        format!("{:.1} s ({})", one.took.as_secs_f64(), one.tool)
    });
    lines.push(format!("| the slowest call | {} |  |", joined(slowest)));
    lines
}

/// The goal, and whether both modes of tabmux meet it.
fn judged(
    goal: Goal,
    columns: &[Column],
    tasks: usize,
    number: fn(&Column) -> Option<usize>,
    show: fn(usize) -> String,
) -> String {
    let peers = columns.iter().filter(|column| !column.server.is_tabmux());
    let best = peers
        .filter(|peer| peer.done() == tasks)
        .filter_map(number)
        .min();
    let most = match goal {
        Goal::All => Some(tasks),
        Goal::AtMost(most) => Some(most),
        Goal::Share(parts) => best.map(|best| best / parts),
    };
    let Some(most) = most else {
        return "no peer did all".to_owned();
    };
    let mut ours = columns.iter().filter(|column| column.server.is_tabmux());
    let met = ours.clone().next().is_some()
        && ours.all(|column| match (goal, number(column)) {
            (Goal::All, Some(value)) => value == most,
            (_, Some(value)) => value <= most,
            (_, None) => false,
        });
    let sign = if met { "✓" } else { "✗" };
    match goal {
        Goal::All => format!("{} {sign}", show(most)),
        _ => format!("≤ {} {sign}", show(most)),
    }
}

fn by_task(tasks: &[Task], columns: &[Column]) -> Vec<String> {
    let mut lines = head(columns, "task | made of", "|");
    lines[1] = lines[1].replacen("---|", "---|---|", 1);
    lines.extend(tasks.iter().enumerate().map(|(n, task)| {
        let cells = columns.iter().map(|column| match &column.played[n] {
            Played {
                failure: Some(_), ..
            } => "failed".to_owned(),
            played => played.cost.calls.to_string(),
        });
        format!("| {} | {} | {} |", task.name, task.make, joined(cells))
    }));
    lines
}

fn head(columns: &[Column], first: &str, last: &str) -> Vec<String> {
    let names = columns.iter().map(|column| column.server.name.to_owned());
    let more = if last.len() > 1 { "--:|" } else { "" };
    vec![
        format!("| {first} | {} {last}", joined(names)),
        format!("|---|{}{more}", "--:|".repeat(columns.len())),
    ]
}

/// Why a cell says "failed".
fn failures(tasks: &[Task], columns: &[Column]) -> Vec<String> {
    let mut lines = Vec::new();
    for column in columns {
        for (task, played) in tasks.iter().zip(&column.played) {
            if let Some(why) = &played.failure {
                let words: Vec<&str> = why.split_whitespace().collect();
                let why: String = words.join(" ").chars().take(LONGEST_REASON).collect();
                lines.push(format!("- {}, {}: {why}", column.server.name, task.name));
            }
        }
    }
    if !lines.is_empty() {
        lines.splice(
            0..0,
            [String::new(), "What failed:".to_owned(), String::new()],
        );
    }
    lines
}

impl Column {
    fn done(&self) -> usize {
        let done = self.played.iter().filter(|one| one.failure.is_none());
        done.count()
    }

    fn alike(&self) -> Option<usize> {
        self.played.iter().find_map(|one| one.alike)
    }
}

fn joined(cells: impl Iterator<Item = String>) -> String {
    cells.collect::<Vec<_>>().join(" | ")
}

fn plain(value: usize) -> String {
    value.to_string()
}

fn kilobytes(value: usize) -> String {
    format!("{:.1} kB", value as f64 / 1e3)
}

const BEGIN: &str = "<!-- cargo xtask bench --agents -->";
const END: &str = "<!-- end of --agents -->";
const LONGEST_REASON: usize = 200;

const HEAD: &str = "## Agents at work on ten applications

`cargo xtask bench --agents` writes this part; do not edit it.
Ten tasks on ten applications of different make (`fixtures/agents`, with libraries from npm) are played by a program instead of a model, through tabmux in both list modes and the three other servers.

- **A task** is data (`tasks.json`): what is wanted step by step, texts that an answer must show on the way, and a check in the page at its end, which is not counted.
- **One policy for all**: an element is used only after an answer has shown it, or by a name that the task itself gives where the server takes names (tabmux, Playwright MCP); a text is believed only if an answer has it; otherwise the policy looks, with the server's cheapest way, and that counts. A failed call counts. A reference that was gone once is looked up again each time. A press of which the task says that it does no harm is repeated once if its effect is not seen.
- **Each server at its best**: forms are filled in one call where there is a tool for it, tabmux takes several steps in one call, chrome-devtools-mcp sends a snapshot with an action if one is needed next, Playwright MCP is given selectors by role and name for what it has shown before and searches for a text with `browser_find`, and agent-browser has the tools for dialogs in addition (`--tools core,tabs`) and waits for a text instead of reading the page. All are given the texts that they wait for; a model would have to guess them.
- **Left out**: scripts that do the work (every server has a tool that runs one; Playwright's also runs outside of the page), because then nothing is compared. A script is used, and counted, only where an element has no name in any answer.
- **Counted**: calls, the bytes of their answers as JSON, and the bytes of every tool list: one at the start, and one for each time that a server says that its list has changed. The instructions in the answer to `initialize` are counted with the lists. One session plays all tasks, without pauses; in progressive mode tabmux would send one more change if the agent paused for 30 s on a page with other tools.
- **Goal**: all tasks, at most half of the calls and a third of the bytes of the best peer that did all tasks, in both modes; ten records edited alike take at most 5 calls after the first.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_section_is_placed_once_and_then_replaced() {
        let page = "# Benchmarks\n\ntext\n\n## What a bystander notices of attacks\n\nold\n";
        let first = placed(page, "one\n");
        assert!(first.find("one") < first.find("bystander"));
        let second = placed(&first, "two\n");
        assert!(second.contains("two") && !second.contains("one\n"));
        assert!(second.contains("text") && second.contains("old"));
    }

    #[test]
    fn a_goal_is_a_share_of_the_best_peer_that_did_all() {
        let column = |server: usize, calls, done: bool| Column {
            server: super::super::Server::ALL[server],
            slowest: super::super::Slowest::default(),
            total: super::super::Cost {
                calls,
                ..Default::default()
            },
            played: vec![Played {
                failure: (!done).then(|| "it was gone".to_owned()),
                ..Played::default()
            }],
        };
        let calls: fn(&Column) -> Option<usize> = |it| Some(it.total.calls);
        let judge = |columns: &[Column]| judged(Goal::Share(2), columns, 1, calls, plain);
        let peers = || vec![column(2, 40, true), column(3, 10, false)];
        let with = |ours| {
            let mut columns = peers();
            columns.push(column(0, ours, true));
            judge(&columns)
        };
        assert_eq!(with(20), "≤ 20 ✓");
        assert_eq!(with(21), "≤ 20 ✗");
    }
}
