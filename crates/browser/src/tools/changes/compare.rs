//! Compares two snapshots of a page line by line. Lines that only moved, or only gained or lost the focus, are equal.

use std::collections::{HashMap, HashSet};

/// The difference between two snapshots.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Difference<'a> {
    /// Lines of the new snapshot that appeared or changed, in reading order.
    pub(super) lines: Vec<ChangedLine<'a>>,
    /// How many lines disappeared.
    pub(super) gone: usize,
}

/// A line of the new snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ChangedLine<'a> {
    /// Its index in the new snapshot.
    pub(super) at: usize,
    pub(super) line: &'a str,
    /// Whether the element was there before, with another text or state.
    pub(super) known: bool,
}

impl Difference<'_> {
    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.gone == 0
    }
}

/// Compares by uid; text without a uid by the text itself.
pub(super) fn compare<'a>(old: &[String], new: &'a [String]) -> Difference<'a> {
    let mut elements: HashMap<&str, String> = HashMap::new();
    let mut texts: HashMap<&str, usize> = HashMap::new();
    for line in old {
        match uid_of(line) {
            Some(uid) => drop(elements.insert(uid, without_focus(line))),
            None => *texts.entry(line.trim()).or_default() += 1,
        }
    }
    let mut difference = Difference::default();
    let mut still_there = HashSet::new();
    for (at, line) in new.iter().enumerate() {
        let known = match uid_of(line) {
            Some(uid) => match elements.get(uid) {
                Some(before) => {
                    still_there.insert(uid);
                    if *before == without_focus(line) {
                        continue;
                    }
                    true
                }
                None => false,
            },
            None => {
                if let Some(count) = texts.get_mut(line.trim()).filter(|count| **count > 0) {
                    *count -= 1;
                    continue;
                }
                false
            }
        };
        difference.lines.push(ChangedLine { at, line, known });
    }
    difference.gone = elements.len() - still_there.len() + texts.values().sum::<usize>();
    difference
}

/// The uid at the beginning of a line.
pub(super) fn uid_of(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("uid=")?;
    rest.split(' ').next()
}

/// The role of a line's element.
pub(super) fn role_of(line: &str) -> Option<&str> {
    line.trim_start().strip_prefix("uid=")?.split(' ').nth(1)
}

/// How far a line is indented.
pub(super) fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// The line without the state `focused`, which nearly every action moves.
fn without_focus(line: &str) -> String {
    let mut kept = String::with_capacity(line.len());
    // Names and values are in quotes; a backslash escapes a quote inside them.
    let (mut quoted, mut escaped) = (false, false);
    let mut rest = line.trim();
    while let Some(character) = rest.chars().next() {
        if !quoted
            && let Some(after) = rest.strip_prefix(" focused")
            && (after.is_empty() || after.starts_with(' '))
        {
            rest = after;
            continue;
        }
        quoted ^= character == '"' && !escaped;
        escaped = character == '\\' && !escaped;
        kept.push(character);
        rest = &rest[character.len_utf8()..];
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    /// The changed lines as `+` or `~` with the line, and how many are gone.
    #[track_caller]
    fn check(old: &str, new: &str, expected: &[&str], gone: usize) {
        let (old, new) = (lines(old), lines(new));
        let found = compare(&old, &new);
        let told = |line: &ChangedLine<'_>| {
            let sign = if line.known { '~' } else { '+' };
            format!("{sign} {}", line.line.trim())
        };
        let told: Vec<_> = found.lines.iter().map(told).collect();
        assert_eq!(
            (told, found.gone),
            (
                expected.iter().map(|line| (*line).to_owned()).collect(),
                gone
            )
        );
    }

    #[test]
    fn lines_that_moved_or_got_the_focus_are_equal() {
        check(
            "uid=1_1 button \"A\"\n\"text\"\nuid=1_2 button \"B\" focused",
            "uid=1_2 button \"B\"\n  uid=1_1 button \"A\" focused\n\"text\"",
            &[],
            0,
        );
    }

    #[test]
    fn a_known_element_with_another_line_has_changed() {
        check(
            "uid=1_1 checkbox \"All\"",
            "uid=1_1 checkbox \"All\" checked focused",
            &["~ uid=1_1 checkbox \"All\" checked focused"],
            0,
        );
    }

    #[test]
    fn the_word_focused_in_a_name_counts() {
        check(
            r#"uid=1_1 button "be \" focused now""#,
            r#"uid=1_1 button "be \" now""#,
            &[r#"~ uid=1_1 button "be \" now""#],
            0,
        );
    }

    #[test]
    fn what_appeared_is_told_and_what_disappeared_is_counted() {
        check(
            "uid=1_1 row \"a\"\n\"one\"\n\"one\"",
            "uid=1_2 row \"b\"\n\"one\"\n\"two\"",
            &["+ uid=1_2 row \"b\"", "+ \"two\""],
            2,
        );
    }
}
