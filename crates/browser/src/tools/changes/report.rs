//! Writes the difference between two snapshots, or the outline of a new page, within a small budget: messages of the
//! page first, then what is near the element that was acted on.

use super::compare::{ChangedLine, Difference, indent_of, role_of, uid_of};
use std::collections::BTreeSet;

/// What changed, as text. `target` is the uid of the element that was acted on, `number` that of the old snapshot.
pub(super) fn changes(
    difference: &Difference<'_>,
    new: &[String],
    target: Option<&str>,
    number: u32,
) -> String {
    let mut report = Report::new("Changed on the page:");
    let messages = messages(difference, new);
    let at = target.and_then(|uid| new.iter().position(|line| uid_of(line) == Some(uid)));
    let (first, mut rest): (Vec<_>, Vec<_>) = difference
        .lines
        .iter()
        .partition(|line| messages.contains(&line.at));
    report.add(&first, sign_of);
    rest.sort_by_key(|line| at.map_or(0, |at| at.abs_diff(line.at)));
    rest.truncate(report.room_for(&rest));
    rest.sort_by_key(|line| line.at);
    report.add(&rest, sign_of);
    let left = difference.lines.len() - report.told;
    if left > 0 {
        report.remark(&format!(
            "and {left} more lines changed: take_snapshot since={number}"
        ));
    }
    if difference.gone > 0 {
        let lines = if difference.gone == 1 {
            "line"
        } else {
            "lines"
        };
        report.remark(&format!("{} {lines} disappeared.", difference.gone));
    }
    report.text
}

/// The headings, forms and controls of a page that was not shown before.
pub(super) fn outline(title: &str, new: &[String]) -> String {
    let mut report = Report::new(&format!("On the page {title:?}:"));
    let wanted = |line: &&String| role_of(line).is_some_and(|role| OUTLINE.contains(&role));
    let lines: Vec<_> = new.iter().filter(wanted).map(as_it_is).collect();
    report.add(&lines.iter().collect::<Vec<_>>(), |_| "");
    let left = new.len() - report.told;
    if left > 0 {
        report.remark(&format!("and {left} more lines: take_snapshot"));
    }
    match report.told {
        0 => String::new(),
        _ => report.text,
    }
}

fn as_it_is(line: &String) -> ChangedLine<'_> {
    ChangedLine {
        at: 0,
        line,
        known: true,
    }
}

fn sign_of(line: &ChangedLine<'_>) -> &'static str {
    if line.known { "~ " } else { "+ " }
}

/// The indexes of changed lines that are messages to the user, or inside one.
fn messages(difference: &Difference<'_>, new: &[String]) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    for line in &difference.lines {
        if !role_of(line.line).is_some_and(|role| MESSAGES.contains(&role)) {
            continue;
        }
        found.insert(line.at);
        let inside = new[line.at + 1..]
            .iter()
            .take_while(|other| indent_of(other) > indent_of(line.line));
        found.extend((line.at + 1..).zip(inside).map(|(at, _)| at));
    }
    found
}

struct Report {
    text: String,
    told: usize,
}

impl Report {
    fn new(heading: &str) -> Self {
        Self {
            text: heading.to_owned(),
            told: 0,
        }
    }

    /// How many of these lines fit.
    fn room_for(&self, lines: &[&ChangedLine<'_>]) -> usize {
        let mut bytes = self.text.len();
        let fits = |line: &&&ChangedLine<'_>| {
            bytes += shortened(line.line).len() + 3;
            bytes <= MAX_BYTES
        };
        let most = MAX_LINES.saturating_sub(self.told);
        lines.iter().take(most).take_while(fits).count()
    }

    fn add(&mut self, lines: &[&ChangedLine<'_>], sign: impl Fn(&ChangedLine<'_>) -> &'static str) {
        for line in &lines[..self.room_for(lines)] {
            let told = format!("\n{}{}", sign(line), shortened(line.line));
            self.text.push_str(&told);
            self.told += 1;
        }
    }

    fn remark(&mut self, words: &str) {
        self.text.push_str(&format!("\n{words}"));
    }
}

/// A line without its indentation, and not longer than a fifth of the whole report.
fn shortened(line: &str) -> String {
    tabmux_text::shorten(line.trim_start(), MAX_BYTES / 5)
}

const MAX_BYTES: usize = 1_500;
const MAX_LINES: usize = 25;
const MESSAGES: [&str; 6] = ["dialog", "alertdialog", "alert", "status", "log", "tooltip"];
const OUTLINE: [&str; 12] = [
    "heading",
    "form",
    "textbox",
    "searchbox",
    "combobox",
    "checkbox",
    "radio",
    "button",
    "tab",
    "alert",
    "dialog",
    "alertdialog",
];
