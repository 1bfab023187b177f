//! Writes the difference between two snapshots, or the outline of a new page, within a small budget: messages of the
//! page first, then what is near the element that was acted on.

use super::compare::{ChangedLine, Difference, indent_of, role_of, uid_of};
use std::collections::{BTreeSet, HashMap};
use tabmux_text::one_line;

/// What changed, as text, after the `messages` that were shown for a moment. `target` is the uid of the element that was
/// acted on, `number` that of the old snapshot.
pub(super) fn changes(
    messages: &[String],
    difference: &Difference<'_>,
    new: &[String],
    target: Option<&str>,
    number: u32,
) -> String {
    let mut remarks = Vec::new();
    if difference.gone > 0 {
        let s = if difference.gone == 1 { "" } else { "s" };
        remarks.push(format!("{} line{s} disappeared.", difference.gone));
    }
    if difference.is_unsure {
        remarks.push(UNSURE.to_owned());
    }
    let more = |left: usize| format!("and {left} more lines changed: take_snapshot since={number}");
    let heading = [messages, &["Changed on the page:".to_owned()]].concat();
    let mut report = Report::new(heading.join("\n"));
    report.reserve(&remarks);
    let all: Vec<_> = difference.lines.iter().collect();
    if report.room_for(&all) < all.len() {
        report.reserve(&[more(all.len())]);
    }
    let at = target.and_then(|uid| new.iter().position(|line| uid_of(line) == Some(uid)));
    for group in groups(difference, new, at) {
        report.add_nearest(group, at);
    }
    let left = all.len() - report.told;
    if left > 0 {
        report.remark(&more(left));
    }
    for remark in &remarks {
        report.remark(remark);
    }
    report.text
}

/// In words, what a page showed and removed. However many these are, they leave room for the rest.
pub(super) fn messages_of(texts: &[String]) -> Vec<String> {
    let longest = MAX_BYTES / 2 / texts.len().max(1) - MOMENT.len() - 3;
    let told = texts.iter().map(|text| {
        let text = one_line(text, 200);
        let text = shorten_to_bytes(&text, longest);
        format!("{MOMENT}\"{text}\"")
    });
    told.collect()
}

/// The changed lines: messages to the user, what is near the line of the target, and the rest.
fn groups<'a, 'd>(
    difference: &'d Difference<'a>,
    new: &[String],
    at: Option<usize>,
) -> [Vec<&'d ChangedLine<'a>>; 3] {
    let messages = messages(difference, new);
    let (first, rest): (Vec<_>, Vec<_>) = difference
        .lines
        .iter()
        .partition(|line| messages.contains(&line.at));
    let is_near = |line: &&ChangedLine<'_>| at.is_some_and(|at| at.abs_diff(line.at) <= NEAR);
    let (near, rest) = rest.into_iter().partition(is_near);
    [first, near, rest]
}

/// The headings, forms and controls of a page that was not shown before. Of those that look alike, such as the buttons
/// of many rows, the first one.
pub(super) fn outline(title: &str, new: &[String]) -> String {
    let mut report = Report::new(format!("On the page {title:?}:"));
    let more = |left: usize| format!("and {left} more lines: take_snapshot");
    report.reserve(&[more(new.len())]);
    let wanted = |line: &&String| role_of(line).is_some_and(|role| OUTLINE.contains(&role));
    let groups = alike(new.iter().filter(wanted));
    let lines: Vec<String> = groups
        .iter()
        .map(|(line, count)| counted(line, *count))
        .collect();
    let lines: Vec<_> = lines.iter().map(as_it_is).collect();
    report.add(&lines.iter().collect::<Vec<_>>(), |_| "");
    let told: usize = groups
        .iter()
        .take(report.told)
        .map(|(_, count)| count)
        .sum();
    let left = new.len() - told;
    if left > 0 {
        report.remark(&more(left));
    }
    match report.told {
        0 => String::new(),
        _ => report.text,
    }
}

/// The first of the lines that differ only by their uids, and how many there are.
fn alike<'a>(lines: impl Iterator<Item = &'a String>) -> Vec<(&'a str, usize)> {
    let mut groups: Vec<(&str, usize)> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for line in lines {
        let line = line.trim_start();
        let looks = line.split_once(' ').map_or(line, |(_, looks)| looks);
        let place = *places.entry(looks).or_insert(groups.len());
        match groups.get_mut(place) {
            Some((_, count)) => *count += 1,
            None => groups.push((line, 1)),
        }
    }
    groups
}

fn counted(line: &str, count: usize) -> String {
    match count {
        1 => line.to_owned(),
        _ => format!("{line} (1 of {count})"),
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

/// A text that stays within the limits.
struct Report {
    text: String,
    /// How many changed lines it has.
    told: usize,
    /// The lines and bytes that are kept for remarks at its end.
    reserved: (usize, usize),
}

impl Report {
    fn new(heading: String) -> Self {
        Self {
            text: heading,
            told: 0,
            reserved: (0, 0),
        }
    }

    /// Keeps room for these remarks.
    fn reserve(&mut self, remarks: &[String]) {
        self.reserved.0 += remarks.len();
        self.reserved.1 += remarks.iter().map(|remark| remark.len() + 1).sum::<usize>();
    }

    /// How many of these lines fit.
    fn room_for(&self, lines: &[&ChangedLine<'_>]) -> usize {
        let (reserved_lines, reserved_bytes) = self.reserved;
        let mut bytes = self.text.len() + reserved_bytes;
        let fits = |line: &&&ChangedLine<'_>| {
            bytes += shortened(line.line).len() + 3;
            bytes <= MAX_BYTES
        };
        let most = MAX_LINES.saturating_sub(self.text.lines().count() + reserved_lines);
        lines.iter().take(most).take_while(fits).count()
    }

    /// Adds those of the lines that fit and are nearest to the target, in the order of the page.
    fn add_nearest(&mut self, mut lines: Vec<&ChangedLine<'_>>, at: Option<usize>) {
        lines.sort_by_key(|line| at.map_or(0, |at| at.abs_diff(line.at)));
        lines.truncate(self.room_for(&lines));
        lines.sort_by_key(|line| line.at);
        self.add(&lines, sign_of);
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

/// At most so many bytes.
fn shorten_to_bytes(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let ends = text.char_indices().map(|(at, _)| at);
    let end = ends.take_while(|end| end + "…".len() <= limit).last();
    format!("{}…", &text[..end.unwrap_or_default()])
}

const MAX_BYTES: usize = 1_500;
const MAX_LINES: usize = 25;
/// How many lines before and after the target are near it.
const NEAR: usize = 10;
const MOMENT: &str = "Shown for a moment: ";
const UNSURE: &str =
    "Some of these may have been there before: the page was longer than its last snapshot.";
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A page of lines of which those with these indexes have changed, and what is told if `target` was acted on.
    fn told(new: &[String], changed: &[usize], target: &str, messages: &[String]) -> Vec<String> {
        let line = |at: &usize| ChangedLine {
            at: *at,
            line: &new[*at],
            known: false,
        };
        let difference = Difference {
            lines: changed.iter().map(line).collect(),
            gone: 12,
            is_unsure: true,
        };
        let text = changes(messages, &difference, new, Some(target), 7);
        let lines: Vec<_> = text.lines().map(str::to_owned).collect();
        assert!(
            text.len() <= MAX_BYTES && lines.len() <= MAX_LINES,
            "{text}"
        );
        lines
    }

    fn page(lines: usize) -> Vec<String> {
        let line = |at| format!("uid=1_{at} text \"line {at}\"");
        (0..lines).map(line).collect()
    }

    #[test]
    fn messages_come_first_then_what_is_near_the_target() {
        let mut new = page(100);
        new[90] = "uid=1_90 alert".to_owned();
        new[91] = "  \"Saved\"".to_owned();
        let told = told(&new, &[1, 2, 48, 52, 80, 90, 91], "1_50", &[]);
        let expected =
            ["1_1 ", "1_2 ", "1_48 ", "1_52 ", "1_80 "].map(|uid| format!("+ uid={uid}"));
        let [one, two, near, nearer, far] = expected;
        let order = [near, nearer, one, two, far];
        assert_eq!(
            told[..3],
            ["Changed on the page:", "+ uid=1_90 alert", "+ \"Saved\""]
        );
        for (line, beginning) in told[3..].iter().zip(&order) {
            assert!(line.starts_with(beginning), "{told:?}");
        }
        assert_eq!(told[8..], ["12 lines disappeared.", UNSURE]);
    }

    #[test]
    fn what_is_far_from_the_target_is_left_out_first() {
        let new = page(100);
        let told = told(&new, &(0..100).collect::<Vec<_>>(), "1_95", &[]);
        assert!(told[1].starts_with("+ uid=1_85 "), "{told:?}");
        assert!(told[16].starts_with("+ uid=1_79 "), "{told:?}");
        assert_eq!(told.len(), MAX_LINES);
        assert_eq!(
            told[22..],
            [
                "and 79 more lines changed: take_snapshot since=7",
                "12 lines disappeared.",
                UNSURE
            ]
        );
    }

    #[test]
    fn many_long_messages_leave_room_for_the_rest() {
        let long: Vec<_> = (0..5).map(|n| format!("{n} {}", "ö".repeat(400))).collect();
        let mut messages = messages_of(&long);
        messages.push(format!("The title is now \"{}\".", "t".repeat(100)));
        let new: Vec<_> = page(40)
            .iter()
            .map(|line| format!("{line} {}", "x".repeat(90)))
            .collect();
        let told = told(&new, &(0..40).collect::<Vec<_>>(), "1_20", &messages);
        assert!(told[0].starts_with("Shown for a moment: \"0 ö") && told[0].ends_with("…\""));
        assert!(told[7].starts_with("+ uid=1_"), "{told:?}");
    }

    #[test]
    fn controls_that_look_alike_are_one_line_of_an_outline() {
        let lines = [
            "uid=1_1 heading \"Contacts\" level=1",
            "uid=1_2 row",
            "  uid=1_3 button \"Mail\"",
            "  uid=1_4 button \"Delete\"",
            "uid=1_5 row",
            "  uid=1_6 button \"Mail\"",
            "  uid=1_7 button \"Delete\" disabled",
        ];
        let told = outline("Contacts", &lines.map(str::to_owned));
        assert_eq!(
            told,
            "On the page \"Contacts\":\nuid=1_1 heading \"Contacts\" level=1\nuid=1_3 button \"Mail\" (1 of 2)\n\
             uid=1_4 button \"Delete\"\nuid=1_7 button \"Delete\" disabled\nand 2 more lines: take_snapshot"
        );
    }
}
