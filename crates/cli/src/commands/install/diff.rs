//! The difference between two texts, as removed and added lines.

use crate::paint::{Color, Paint};
use tabmux_text::shorten;

/// The changed lines with some lines of context. Every line ends with a line break.
///
/// Our changes are contiguous, so it is enough to skip the equal lines at both ends.
pub(super) fn lines(before: &str, after: &str, paint: Paint) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let head = same(old.iter(), new.iter());
    let tail = same(old[head..].iter().rev(), new[head..].iter().rev());
    let (old_end, new_end) = (old.len() - tail, new.len() - tail);
    let around = |lines: &[&str]| {
        lines
            .iter()
            .map(|line| shown("  ", line))
            .collect::<String>()
    };
    let changed = |lines: &[&str], sign: &str, color| {
        lines
            .iter()
            .map(|line| paint.color(color, shown(sign, line).trim_end()) + "\n")
            .collect::<String>()
    };
    [
        around(&new[head.saturating_sub(AROUND)..head]),
        changed(&old[head..old_end], "- ", Color::Red),
        changed(&new[head..new_end], "+ ", Color::Green),
        around(&new[new_end..new.len().min(new_end + AROUND)]),
    ]
    .concat()
}

fn same<'a>(
    one: impl Iterator<Item = &'a &'a str>,
    other: impl Iterator<Item = &'a &'a str>,
) -> usize {
    one.zip(other)
        .take_while(|(one, other)| one == other)
        .count()
}

/// Shows only the beginning of a long line: a config may be one line, with secrets further on.
fn shown(sign: &str, line: &str) -> String {
    format!("  {sign}{}\n", shorten(line.trim_end(), LONGEST))
}

const AROUND: usize = 2;
const LONGEST: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_changed_and_two_lines_around_it_are_shown() {
        assert_eq!(
            lines(
                "1\n2\n3\n4\n5\n6\n7",
                "1\n2\n3\n4!\n4b\n5\n6\n7",
                Paint::OFF
            ),
            "    2\n    3\n  - 4\n  + 4!\n  + 4b\n    5\n    6\n"
        );
    }

    #[test]
    fn a_new_file_is_all_new() {
        assert_eq!(lines("", "a\n", Paint::OFF), "  + a\n");
    }

    #[test]
    fn repeated_lines_are_not_counted_twice() {
        assert_eq!(
            lines("}\n}", "}\n}\n}", Paint::OFF),
            "    }\n    }\n  + }\n"
        );
    }
}
