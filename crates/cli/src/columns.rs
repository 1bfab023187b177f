//! Counts the columns that text takes on a terminal: two for most CJK characters and emoji, none for combining marks.

use unicode_width::UnicodeWidthStr;

/// The number of columns of `text`.
pub(crate) fn columns(text: &str) -> usize {
    text.width()
}

/// `text` in at most `most` columns, with an ellipsis if it was cut.
pub(crate) fn cut(text: &str, most: usize) -> String {
    match split(text, most) {
        (_, "") => text.to_owned(),
        _ => format!("{}…", split(text, most.saturating_sub(1)).0),
    }
}

/// As much of `text` as fits into `most` columns, and the rest.
pub(crate) fn split(text: &str, most: usize) -> (&str, &str) {
    let ends = text.char_indices().map(|(start, c)| start + c.len_utf8());
    // The width of a whole piece, because characters change each other's: several can make one emoji.
    let fitting = ends.take_while(|&end| columns(&text[..end]) <= most);
    text.split_at(fitting.last().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_take_two_columns_and_marks_none() {
        assert_eq!(columns("plain"), 5);
        assert_eq!(columns("日本語"), 6);
        assert_eq!(columns("🦀"), 2);
        assert_eq!(columns("👩\u{200d}🔬"), 2, "one emoji of three characters");
        assert_eq!(columns("cafe\u{301}"), 4);
    }

    #[test]
    fn a_cut_text_fits_and_ends_with_an_ellipsis() {
        assert_eq!(cut("abcdef", 6), "abcdef");
        assert_eq!(cut("abcdef", 4), "abc…");
        assert_eq!(cut("日本語", 6), "日本語");
        assert_eq!(cut("日本語", 5), "日本…");
        assert_eq!(cut("日本語", 4), "日…", "half a character is not shown");
        assert_eq!(cut("日本語", usize::MAX), "日本語");
        assert_eq!(cut("cafe\u{301}s", 4), "caf…");
    }

    #[test]
    fn both_halves_of_a_split_are_the_text() {
        assert_eq!(split("日本語", 3), ("日", "本語"));
        assert_eq!(split("日", 1), ("", "日"));
        assert_eq!(split("cafe\u{301}s", 4), ("cafe\u{301}", "s"));
    }
}
