//! Text from pages and browsers: bounded, on one line, without hidden characters, and readable as JSON. A leaf, so that
//! every crate can use it.

mod decode;
pub mod secrets;
mod visible;

pub use decode::{decode, decode_with};
pub use visible::{escaped, escaped_json, has_hidden, make_visible, visible};

/// At most `limit` characters of `text`, with an ellipsis if it was cut.
pub fn shorten(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// `text` as one line that cannot be mistaken for something else: control, zero-width and direction characters become
/// spaces, white space is collapsed, and it is cut at `limit` characters.
pub fn one_line(text: &str, limit: usize) -> String {
    let clean = visible::replaced(text, |_, out| out.push(' '));
    let mut line = String::with_capacity(clean.len().min(limit * 4));
    for word in clean.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    shorten(&line, limit)
}

/// `text` with its line breaks, without invisible characters and those that change how others look; cut at `limit`
/// characters.
pub fn clean(text: &str, limit: usize) -> String {
    // Hidden characters can be many, so only this much of the text is examined.
    let end = text.char_indices().nth(limit.saturating_mul(4));
    let text = end.map_or(text, |(end, _)| &text[..end]);
    shorten(&visible(text), limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortening_counts_characters_not_bytes() {
        assert_eq!(shorten("häuser", 3), "häu…");
        assert_eq!(shorten("häu", 3), "häu");
    }

    #[test]
    fn what_is_not_seen_is_left_out_of_longer_text() {
        assert_eq!(clean("a\n\tb\u{202e}\u{200b}\u{0}c", 20), "a\n\tbc");
        assert_eq!(clean("abcdef", 3), "abc…");
    }

    #[test]
    fn page_text_becomes_one_clean_line() {
        assert_eq!(one_line(" a\n\u{202e}b\u{0} c ", 20), "a b c");
        assert_eq!(one_line("abcdef", 3), "abc…");
    }
}
