//! Compares two snapshots of a page line by line. Lines that only moved, or only gained or lost the focus, are equal.
//!
//! A snapshot of a long page ends before the page does. A line that is pushed out of it by others has not disappeared,
//! and one that is pulled in has not appeared.

use crate::world::Shown;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// The difference between two snapshots.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Difference<'a> {
    /// Lines of the new snapshot that appeared or changed, in reading order.
    pub(super) lines: Vec<ChangedLine<'a>>,
    /// How many lines disappeared.
    pub(super) gone: usize,
    /// Whether lines that the old snapshot left out may be among these.
    pub(super) is_unsure: bool,
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
pub(super) fn compare<'a>(old: &Shown, new: &'a Shown) -> Difference<'a> {
    let pairs = Pairs::of(&old.lines, &new.lines);
    let ends = pairs.ends(old, new);
    let mut difference = Difference {
        gone: pairs.gone(0..ends.pushed_out).len(),
        is_unsure: ends.is_unsure,
        ..Difference::default()
    };
    for (at, line) in new.lines.iter().enumerate() {
        let before = pairs.of_new.get(at).copied().flatten();
        let before = before.and_then(|at| old.lines.get(at));
        let changed = ChangedLine {
            at,
            line,
            known: before.is_some(),
        };
        match before {
            Some(before) if without_focus(before) == without_focus(line) => {}
            None if at >= ends.pulled_in && !ends.is_unsure => {}
            _ => difference.lines.push(changed),
        }
    }
    difference
}

/// What is not known about the ends of two snapshots, of which one or both end before the page does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tools) struct Ends {
    /// From here on, lines that are only in the old snapshot may have been pushed out of the new one.
    pub(in crate::tools) pushed_out: usize,
    /// From here on, lines that are only in the new snapshot may have been left out of the old one.
    pub(in crate::tools) pulled_in: usize,
    /// Whether such lines of the new one may also have appeared.
    pub(in crate::tools) is_unsure: bool,
}

impl Ends {
    pub(in crate::tools) fn of(old: &Shown, new: &Shown) -> Self {
        Pairs::of(&old.lines, &new.lines).ends(old, new)
    }
}

/// Which lines of two snapshots are of the same element or text.
struct Pairs {
    /// The index in the old snapshot for each line of the new one.
    of_new: Vec<Option<usize>>,
    /// Whether each line of the new one has a uid, or a text that neither snapshot repeats.
    is_certain: Vec<bool>,
}

impl Pairs {
    fn of(old: &[String], new: &[String]) -> Self {
        let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, line) in old.iter().enumerate().rev() {
            places.entry(key_of(line)).or_default().push(at);
        }
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for line in new {
            *counts.entry(key_of(line)).or_default() += 1;
        }
        let once = |line: &String| {
            let key = key_of(line);
            places.get(key).is_some_and(|it| it.len() == 1) && counts.get(key) == Some(&1)
        };
        let is_certain = new.iter().map(once).collect();
        let of_new = new.iter().map(|line| places.get_mut(key_of(line))?.pop());
        Self {
            of_new: of_new.collect(),
            is_certain,
        }
    }

    fn count(&self) -> usize {
        self.of_new.iter().flatten().count()
    }

    /// The last line of the new snapshot that is one of the old without doubt: its index in the new one.
    fn last_known(&self) -> Option<usize> {
        let known = self.of_new.iter().zip(&self.is_certain);
        known
            .enumerate()
            .rev()
            .find_map(|(new, (old, is_certain))| {
                let is_known = *is_certain && old.is_some();
                is_known.then_some(new)
            })
    }

    /// The last line of the old snapshot that is without doubt in the new one, too, and did not move: its index in the
    /// old one. As few lines as possible moved.
    fn last_unmoved(&self) -> Option<usize> {
        let known = self.of_new.iter().zip(&self.is_certain);
        let certain = known.filter_map(|(old, is_certain)| old.filter(|_| *is_certain));
        // For each count of lines that are still in order, how early the last of them can be.
        let mut lasts: Vec<usize> = Vec::new();
        for old in certain {
            let count = lasts.partition_point(|last| *last < old);
            match lasts.get_mut(count) {
                Some(last) => *last = old,
                None => lasts.push(old),
            }
        }
        lasts.last().copied()
    }

    /// Which lines of the old snapshot, within this range, are not in the new one.
    fn gone(&self, range: Range<usize>) -> Vec<usize> {
        let is_there: HashSet<usize> = self.of_new.iter().flatten().copied().collect();
        range.filter(|at| !is_there.contains(at)).collect()
    }

    /// What follows the last known line in a snapshot may have been left out of the other one.
    fn ends(&self, old: &Shown, new: &Shown) -> Ends {
        let (old_count, new_count) = (old.lines.len(), new.lines.len());
        let after = |last: Option<usize>| last.map_or(0, |last| last + 1);
        let pushed_out = match new.cut {
            true => after(self.last_unmoved()),
            false => old_count,
        };
        let pulled_in = match old.cut {
            true => after(self.last_known()),
            false => new_count,
        };
        // If the end is another one, or most of the page, these lines do not only follow because there is room for them
        // now.
        let is_same_view = 2 * self.count() >= old_count;
        let is_pulled_in = is_same_view && self.gone(pushed_out..old_count).is_empty();
        let is_new = |(at, before): (usize, &Option<usize>)| at >= pulled_in && before.is_none();
        Ends {
            pushed_out,
            pulled_in,
            is_unsure: !is_pulled_in && self.of_new.iter().enumerate().any(is_new),
        }
    }
}

/// What a line is recognized by.
fn key_of(line: &str) -> &str {
    uid_of(line).unwrap_or_else(|| line.trim())
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
    use std::sync::Arc;

    fn shown(text: &str, cut: bool) -> Shown {
        Shown {
            title: String::new(),
            number: 1,
            lines: Arc::new(text.lines().map(str::to_owned).collect()),
            cut,
        }
    }

    /// The changed lines as `+` or `~` with the line, and how many are gone.
    #[track_caller]
    fn check(old: &str, new: &str, expected: &[&str], gone: usize) {
        check_cut((old, false), (new, false), expected, gone);
    }

    /// The same for snapshots that may have been cut.
    #[track_caller]
    fn check_cut(old: (&str, bool), new: (&str, bool), expected: &[&str], gone: usize) -> bool {
        let (old, new) = (shown(old.0, old.1), shown(new.0, new.1));
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
        found.is_unsure
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

    /// The rows of a long list.
    fn rows(numbers: impl IntoIterator<Item = u32>) -> String {
        let row = |n: u32| format!("uid=1_{n} row\n  \"row {n}\"\n  \"new\"\n");
        numbers.into_iter().map(row).collect()
    }

    #[test]
    fn lines_that_were_pushed_out_of_a_long_page_are_not_gone() {
        let old = rows(1..=20);
        let inserted = format!("uid=1_99 row\n  \"inserted\"\n{}", rows(1..=19));
        let told = ["+ uid=1_99 row", "+ \"inserted\""];
        for was_cut in [false, true] {
            let unsure = check_cut((&old, was_cut), (&inserted, true), &told, 0);
            assert!(!unsure);
        }
        // The same lines of pages that end there are gone.
        check(&old, &inserted, &told, 3);
        // One that moved to the top pushes the others, too.
        let moved = format!("uid=1_99 row\n{}{}", rows([20]), rows(1..=18));
        check_cut((&old, true), (&moved, true), &["+ uid=1_99 row"], 0);
    }

    #[test]
    fn lines_that_were_pulled_into_a_long_page_are_not_new() {
        let old = rows(1..=20);
        let removed = rows((1..=22).filter(|n| ![3, 4].contains(n)));
        for still_cut in [false, true] {
            let unsure = check_cut((&old, true), (&removed, still_cut), &[], 4);
            assert!(!unsure);
        }
        let told = [21, 22].map(|n| [format!("+ uid=1_{n} row"), format!("+ \"row {n}\"")]);
        let told: Vec<_> = told.iter().flatten().map(String::as_str).collect();
        // After a page that was shown to its end, they are new.
        check(&old, &removed, &told, 4);
    }

    #[test]
    fn a_line_that_moved_to_the_end_of_a_long_page_hides_no_removal() {
        let old = rows(1..=20);
        let kept = (1..=20).filter(|n| ![5, 15].contains(n));
        check_cut((&old, true), (&rows(kept.chain([5])), true), &[], 2);
    }

    #[test]
    fn another_end_of_a_long_page_is_told_with_doubt() {
        let old = rows(1..=20);
        let unsure = check_cut(
            (&old, true),
            ("uid=1_99 heading \"Settings\"", false),
            &["+ uid=1_99 heading \"Settings\""],
            60,
        );
        assert!(unsure);
        let other_end = format!("{}uid=1_99 row", rows(1..=19));
        let unsure = check_cut((&old, true), (&other_end, true), &["+ uid=1_99 row"], 0);
        assert!(unsure);
    }
}
