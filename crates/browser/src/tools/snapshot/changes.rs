//! The difference between two snapshots, with enough context to place each line.

use crate::tools::changes::Ends;
use crate::world::Shown;
use std::ops::Range;

/// What has changed from one snapshot to another.
pub(super) struct Changes {
    pub(super) lines: Vec<String>,
    /// What is not known about the end of a page that is longer than its snapshots.
    pub(super) at_end: Option<String>,
}

/// The changes. Lines that others pushed out of the snapshot of a long page, or pulled into it, are left out.
pub(super) fn since(old: &Shown, new: &Shown) -> Changes {
    let ends = Ends::of(old, new);
    let told_new = match ends.is_unsure {
        true => new.lines.len(),
        false => ends.pulled_in,
    };
    Changes {
        lines: changes(&old.lines, &new.lines, ends.pushed_out, told_new),
        at_end: ends.is_unsure.then(|| UNSURE.to_owned()),
    }
}

/// Removed (`- `) and added (`+ `) lines, each group below the line that contains it (`  `). Removed lines are told up
/// to `told_old`, added ones up to `told_new`.
fn changes(old: &[String], new: &[String], told_old: usize, told_new: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut context = None;
    let mut next_old = 0;
    let mut next_new = 0;
    let ends = [(old.len(), new.len())];
    for (same_old, same_new) in common(old, new).into_iter().chain(ends) {
        if next_old < same_old || next_new < same_new {
            let removed = part(old, next_old..same_old.min(told_old));
            let added = part(new, next_new..same_new.min(told_new));
            let around = match (removed, added) {
                (_, [first, ..]) => around(&new[..next_new], first),
                ([first, ..], _) => around(&old[..next_old], first),
                _ => context,
            };
            if around != context {
                lines.extend(around.map(|line| format!("  {line}")));
                context = around;
            }
            lines.extend(removed.iter().map(|line| format!("- {line}")));
            lines.extend(added.iter().map(|line| format!("+ {line}")));
        }
        next_old = same_old + 1;
        next_new = same_new + 1;
    }
    lines
}

/// Lines of a snapshot; none if the range is empty.
fn part(lines: &[String], range: Range<usize>) -> &[String] {
    lines.get(range).unwrap_or_default()
}

/// The line that contains `line`, if it is one of those above.
fn around<'a>(above: &'a [String], line: &str) -> Option<&'a String> {
    above
        .iter()
        .rev()
        .find(|other| indent(other) < indent(line))
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// Index pairs of equal lines, in order, as many as possible; for very different snapshots only
/// their common beginning and end.
fn common(old: &[String], new: &[String]) -> Vec<(usize, usize)> {
    let start = old
        .iter()
        .zip(new)
        .take_while(|(old, new)| old == new)
        .count();
    let (rest_old, rest_new) = (&old[start..], &new[start..]);
    let tails = rest_old.iter().rev().zip(rest_new.iter().rev());
    let end = tails.take_while(|(old, new)| old == new).count();
    let (middle_old, middle_new) = (
        &rest_old[..rest_old.len() - end],
        &rest_new[..rest_new.len() - end],
    );
    let mut pairs: Vec<_> = (0..start).map(|at| (at, at)).collect();
    let middle = longest_common(middle_old, middle_new).into_iter();
    pairs.extend(middle.map(|(old, new)| (start + old, start + new)));
    pairs.extend(
        (0..end)
            .rev()
            .map(|back| (old.len() - 1 - back, new.len() - 1 - back)),
    );
    pairs
}

fn longest_common(old: &[String], new: &[String]) -> Vec<(usize, usize)> {
    let width = new.len() + 1;
    if old.is_empty() || new.is_empty() || old.len() * new.len() > MAX_PAIRS {
        return Vec::new();
    }
    // lengths[i * width + j]: how many lines old[i..] and new[j..] have in common.
    let mut lengths = vec![0u16; (old.len() + 1) * width];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            lengths[i * width + j] = if old[i] == new[j] {
                lengths[(i + 1) * width + j + 1] + 1
            } else {
                lengths[(i + 1) * width + j].max(lengths[i * width + j + 1])
            };
        }
    }
    let mut pairs = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < old.len() && j < new.len() {
        if old[i] == new[j] {
            pairs.push((i, j));
            i += 1;
            j += 1;
        } else if lengths[(i + 1) * width + j] >= lengths[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}

const MAX_PAIRS: usize = 4_000_000;
const UNSURE: &str = "what was at the end: lines there may have been on the page before, because it was longer than its \
                      last snapshot.";

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn check(old: &str, new: &str, expected: &[&str]) {
        let lines = |text: &str| {
            text.split('/')
                .filter(|line| !line.is_empty())
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        let (old, new) = (lines(old), lines(new));
        assert_eq!(changes(&old, &new, old.len(), new.len()), expected);
    }

    #[test]
    fn equal_lines_are_left_out() {
        check("a/  b/c", "a/  b/c", &[]);
        check("", "", &[]);
    }

    #[test]
    fn each_change_is_shown_below_the_line_around_it() {
        check(
            "a/  b/c/  d/  e",
            "a/  b/  x/c/  d/  f",
            &["  a", "+   x", "  c", "-   e", "+   f"],
        );
        check("a/  b", "a", &["  a", "-   b"]);
        check("a", "b", &["- a", "+ b"]);
        check("", "a/b", &["+ a", "+ b"]);
    }

    #[test]
    fn one_change_in_the_middle_is_one_pair_of_lines() {
        check("a/b/c/d/e", "a/b/x/d/e", &["- c", "+ x"]);
        check("a/b/c/d", "a/x/b/c/y/d", &["+ x", "+ y"]);
    }

    #[test]
    fn snapshots_that_differ_much_are_shown_in_full() {
        let many = |mark: &str| (0..2500).map(|n| format!("{mark}{n}")).collect::<Vec<_>>();
        let (old, new) = (many("a"), many("b"));
        assert_eq!(changes(&old, &new, 2500, 2500).len(), 5000);
    }

    /// A snapshot of a page that is longer, with these rows.
    fn cut(rows: impl IntoIterator<Item = u32>) -> Shown {
        let row = |n| format!("uid=1_{n} row \"{n}\"");
        Shown {
            title: String::new(),
            number: 1,
            lines: Arc::new(rows.into_iter().map(row).collect()),
            cut: true,
        }
    }

    #[test]
    fn what_others_pushed_out_or_pulled_in_is_not_a_change() {
        let pushed = since(&cut(1..=20), &cut([99].into_iter().chain(1..=19)));
        assert_eq!(pushed.lines, ["+ uid=1_99 row \"99\""]);
        let pulled = since(&cut(1..=20), &cut((1..=22).filter(|n| ![3, 4].contains(n))));
        let gone = [3, 4].map(|n| format!("- uid=1_{n} row \"{n}\""));
        assert_eq!(pulled.lines, gone);
        assert_eq!((pushed.at_end, pulled.at_end), (None, None));
    }

    #[test]
    fn what_is_removed_before_the_end_of_a_long_page_is_told_although_a_line_moved_there() {
        let kept = (1..=20).filter(|n| ![5, 15].contains(n));
        let told = since(&cut(1..=20), &cut(kept.chain([5])));
        let lines = ["- 5", "- 15", "+ 5"].map(|line| {
            let (sign, n) = line.split_at(2);
            format!("{sign}uid=1_{n} row \"{n}\"")
        });
        assert_eq!(told.lines, lines);
    }

    #[test]
    fn another_end_of_a_long_page_is_told_with_a_remark() {
        let other = since(&cut(1..=20), &cut((1..=19).chain([30])));
        assert_eq!(other.lines, ["+ uid=1_30 row \"30\""]);
        assert_eq!(other.at_end.as_deref(), Some(UNSURE));
    }
}
