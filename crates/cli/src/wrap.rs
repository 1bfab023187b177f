//! Sentences broken between words at the terminal's edge.

use std::io::IsTerminal;

/// How many columns there are: as `COLUMNS` says, as the terminal has, or any number where the
/// output goes into a file or a pipe.
pub(crate) fn width() -> usize {
    let wanted = std::env::var("COLUMNS").ok();
    let wanted = wanted.and_then(|columns| columns.parse().ok());
    wanted.unwrap_or_else(|| match std::io::stdout().is_terminal() {
        true => terminal_size::terminal_size().map_or(80, |(width, _)| width.0.into()),
        false => usize::MAX,
    })
}

/// `text` in lines of at most `width` columns, all but the first behind `indent` blanks. The first
/// one has that much before it already. A word that is too long has a line of its own, whole, because
/// half a path helps nobody.
pub(crate) fn wrap(text: &str, indent: usize, width: usize) -> String {
    let room = width.saturating_sub(indent).max(1);
    let mut wrapped = String::new();
    let mut used = 0;
    for word in text.split(' ') {
        let length = word.chars().count();
        if used > 0 && used + 1 + length > room {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words_and_never_inside() {
        assert_eq!(wrap("one two three", 0, 80), "one two three");
        assert_eq!(wrap("one two three", 0, 7), "one two\nthree");
        assert_eq!(wrap("one two three", 2, 9), "one two\n  three");
        assert_eq!(
            wrap("see /a/long/path now", 1, 6),
            "see\n /a/long/path\n now"
        );
        assert_eq!(wrap("no room", 9, 3), "no\n         room");
        assert_eq!(wrap("no end", 2, usize::MAX), "no end");
    }
}
