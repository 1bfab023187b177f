//! Breaks text between words at the terminal's width.

use crate::columns::columns;
use std::io::IsTerminal;

/// The number of columns: `COLUMNS` if set, else the terminal's width; without limit if the output
/// goes to a file or a pipe.
pub(crate) fn width() -> usize {
    let wanted = std::env::var("COLUMNS").ok();
    let wanted = wanted.and_then(|columns| columns.parse().ok());
    wanted.unwrap_or_else(|| match std::io::stdout().is_terminal() {
        true => terminal_size::terminal_size().map_or(80, |(width, _)| width.0.into()),
        false => usize::MAX,
    })
}

/// `text` in lines of at most `width` columns. All but the first are indented by `indent` blanks; the
/// caller has already printed that much before the first. A longer word, such as a path, gets a line of
/// its own and is not broken.
pub(crate) fn wrap(text: &str, indent: usize, width: usize) -> String {
    let available = width.saturating_sub(indent).max(1);
    let mut wrapped = String::new();
    let mut used = 0;
    for word in text.split(' ') {
        let length = columns(word);
        if used > 0 && used + 1 + length > available {
            wrapped.push('\n');
            wrapped.extend(std::iter::repeat_n(' ', indent));
            used = 0;
        } else if used > 0 {
            wrapped.push(' ');
            used += 1;
        }
        wrapped.push_str(word);
        used += length;
    }
    wrapped
}

/// Terms and their meanings side by side, in at most `width` columns. If that is too narrow, each meaning is
/// below its term.
pub(crate) fn definitions(rows: &[(String, String)], width: usize) -> String {
    let longest = rows.iter().map(|(term, _)| columns(term)).max();
    let column = INDENT + longest.unwrap_or(0) + INDENT;
    let is_narrow = width < column.saturating_add(LEAST_MEANING);
    let rows = rows.iter().map(|(term, meaning)| {
        let (gap, indent) = match is_narrow {
            true => (format!("\n{:1$}", "", 3 * INDENT), 3 * INDENT),
            false => (" ".repeat(column - INDENT - columns(term)), column),
        };
        let meaning = wrap(meaning, indent, width);
        format!("{:INDENT$}{term}{gap}{meaning}", "")
            .trim_end()
            .to_owned()
    });
    rows.collect::<Vec<_>>().join("\n")
}

const INDENT: usize = 2;
/// The fewest columns for a meaning next to its term.
const LEAST_MEANING: usize = 36;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meanings_are_next_to_their_terms_or_below_them() {
        let row = |term: &str, meaning: &str| (term.to_owned(), meaning.to_owned());
        let rows = [
            row("--uid TEXT", "The element, from a snapshot."),
            row("-x", ""),
        ];
        assert_eq!(
            definitions(&rows, 80),
            "  --uid TEXT  The element, from a snapshot.\n  -x"
        );
        assert_eq!(
            definitions(&rows, 30),
            "  --uid TEXT\n      The element, from a\n      snapshot.\n  -x"
        );
    }

    #[test]
    fn lines_break_between_words_and_never_inside() {
        assert_eq!(wrap("one two three", 0, 80), "one two three");
        assert_eq!(wrap("one two three", 0, 7), "one two\nthree");
        assert_eq!(wrap("one two three", 2, 9), "one two\n  three");
        assert_eq!(
            wrap("see /a/long/path now", 1, 6),
            "see\n /a/long/path\n now"
        );
        assert_eq!(wrap("no space", 9, 3), "no\n         space");
        assert_eq!(wrap("no end", 2, usize::MAX), "no end");
    }
}
