//! Decodes what a browser sent, and repairs the one thing that JSON allows and Rust's strings do not.

use std::borrow::Cow;

use serde::de::DeserializeOwned;

/// Decodes JSON text that came from a browser.
///
/// JavaScript strings may hold half of a surrogate pair, for instance a title that was cut in the middle of an emoji,
/// and the browser sends that half as an escape. Such halves become U+FFFD instead of an error.
///
/// # Errors
///
/// If the text does not have the shape of a `T`.
pub fn decode<T: DeserializeOwned>(json: &str) -> Result<T, serde_json::Error> {
    decode_with(json, |json| serde_json::from_str(json))
}

/// The same for a type with a parser of its own.
///
/// # Errors
///
/// If the parser fails.
pub fn decode_with<T>(
    json: &str,
    parse: impl Fn(&str) -> Result<T, serde_json::Error>,
) -> Result<T, serde_json::Error> {
    parse(json).or_else(|error| match replace_lone_surrogates(json) {
        Cow::Owned(repaired) => parse(&repaired),
        Cow::Borrowed(_) => Err(error),
    })
}

/// Rewrites each `\uD800`…`\uDFFF` escape without its other half to `\uFFFD`.
fn replace_lone_surrogates(json: &str) -> Cow<'_, str> {
    let mut repaired = String::new();
    let mut copied = 0;
    let mut at = 0;
    let bytes = json.as_bytes();
    while let Some(found) = bytes
        .get(at..)
        .and_then(|rest| rest.iter().position(|byte| *byte == b'\\'))
    {
        let escape = at + found;
        match (
            utf16_escape(bytes, escape),
            utf16_escape(bytes, escape + ESCAPE_LENGTH),
        ) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => at = escape + 2 * ESCAPE_LENGTH,
            (Some(0xD800..=0xDFFF), _) => {
                repaired.push_str(&json[copied..escape]);
                repaired.push_str("\\uFFFD");
                at = escape + ESCAPE_LENGTH;
                copied = at;
            }
            (Some(_), _) => at = escape + ESCAPE_LENGTH,
            // Any other escape is a backslash and one more byte; skipping both keeps `\\u` from looking like an escape.
            (None, _) => at = escape + 2,
        }
    }
    if copied == 0 {
        return Cow::Borrowed(json);
    }
    repaired.push_str(&json[copied..]);
    Cow::Owned(repaired)
}

/// The code unit of the `\uXXXX` escape that starts at `at`, if one does.
fn utf16_escape(bytes: &[u8], at: usize) -> Option<u16> {
    let escape = bytes.get(at..at + ESCAPE_LENGTH)?;
    let digits = escape.strip_prefix(b"\\u")?;
    let text = str::from_utf8(digits).ok()?;
    u16::from_str_radix(text, 16).ok()
}

const ESCAPE_LENGTH: usize = r"\uXXXX".len();

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, expected: &str) {
        assert_eq!(decode::<String>(json).unwrap(), expected);
    }

    #[test]
    fn whole_pairs_stay() {
        check(r#""\ud83d\ude00""#, "😀");
    }

    #[test]
    fn half_pairs_become_the_replacement_character() {
        check(r#""cut \ud83d""#, "cut \u{FFFD}");
        check(r#""\ude00 first""#, "\u{FFFD} first");
        check(r#""\ud83d\ud83d\ude00\ud83d""#, "\u{FFFD}😀\u{FFFD}");
        check(r#""\ud83d\n""#, "\u{FFFD}\n");
    }

    #[test]
    fn an_escaped_backslash_before_u_is_text() {
        check(r#""\\ud83d \ud83d""#, "\\ud83d \u{FFFD}");
    }

    #[test]
    fn text_that_is_wrong_in_another_way_keeps_its_error() {
        assert!(decode::<String>("17").is_err());
        assert!(decode::<String>(r#""\ud83d"#).is_err());
        assert!(decode::<String>("\"\\").is_err());
    }
}
