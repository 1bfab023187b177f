//! The difference between two snapshots, with enough context to place each line.

/// Removed (`- `) and added (`+ `) lines, each group below the line that contains it (`  `).
pub(super) fn changes(old: &[String], new: &[String]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut context = None;
    let mut next_old = 0;
    let mut next_new = 0;
    let ends = [(old.len(), new.len())];
    for (same_old, same_new) in common(old, new).into_iter().chain(ends) {
        if next_old < same_old || next_new < same_new {
            let around = match (old.get(next_old..same_old), new.get(next_new..same_new)) {
                (_, Some([first, ..])) => around(&new[..next_new], first),
                (Some([first, ..]), _) => around(&old[..next_old], first),
                _ => None,
            };
            if around != context {
                lines.extend(around.map(|line| format!("  {line}")));
                context = around;
            }
            lines.extend(
                old[next_old..same_old]
                    .iter()
                    .map(|line| format!("- {line}")),
            );
            lines.extend(
                new[next_new..same_new]
                    .iter()
                    .map(|line| format!("+ {line}")),
            );
        }
        next_old = same_old + 1;
        next_new = same_new + 1;
    }
    lines
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

#[cfg(test)]
mod tests {
    use super::*;

    fn check(old: &str, new: &str, expected: &[&str]) {
        let lines = |text: &str| {
            text.split('/')
                .filter(|line| !line.is_empty())
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        assert_eq!(changes(&lines(old), &lines(new)), expected);
    }

    #[test]
    fn what_is_equal_is_not_told() {
        check("a/  b/c", "a/  b/c", &[]);
        check("", "", &[]);
    }

    #[test]
    fn each_change_stands_below_the_line_it_lies_in() {
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
    fn snapshots_far_apart_are_told_whole() {
        let many = |mark: &str| (0..2500).map(|n| format!("{mark}{n}")).collect::<Vec<_>>();
        assert_eq!(changes(&many("a"), &many("b")).len(), 5000);
    }
}
