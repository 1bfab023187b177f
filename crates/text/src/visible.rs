//! The one filter for text from pages: characters that are invisible, or change how other text looks, are removed or
//! escaped. Emoji and scripts that need joiners keep them.

use serde_json::Value;
use std::borrow::Cow;

/// `text` without invisible characters; line breaks and tabs stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    replaced(text, |c, out| {
        if matches!(c, '\u{2028}' | '\u{2029}') {
            out.push('\n');
        }
    })
}

/// `text` with such characters escaped, such as `\u{202e}`: for data, where nothing may be lost.
pub fn escaped(text: &str) -> Cow<'_, str> {
    replaced(text, |c, out| out.extend(c.escape_unicode()))
}

/// A JSON text with such characters as JSON escapes, so that its value is unchanged.
pub fn escaped_json(text: &str) -> Cow<'_, str> {
    replaced(text, |c, out| {
        for unit in c.encode_utf16(&mut [0; 2]) {
            out.push_str(&format!("\\u{unit:04x}"));
        }
    })
}

/// Removes such characters from all strings and keys of a value.
pub fn make_visible(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(clean) = visible(text) {
                *text = clean;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(make_visible),
        Value::Object(fields) => {
            if fields.keys().any(|name| has_hidden(name)) {
                let old = std::mem::take(fields).into_iter();
                *fields = old
                    .map(|(name, value)| (visible(&name).into_owned(), value))
                    .collect();
            }
            fields.values_mut().for_each(make_visible);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Whether a text contains invisible characters.
pub fn has_hidden(text: &str) -> bool {
    matches!(visible(text), Cow::Owned(_))
}

/// `text` with each invisible character replaced by what `instead` writes.
pub(super) fn replaced(text: &str, mut instead: impl FnMut(char, &mut String)) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut is_same = true;
    let mut last = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if !is_hidden(c) || is_needed(last, c, chars.peek().copied()) {
            out.push(c);
            last = Some(c);
        } else {
            is_same = false;
            instead(c, &mut out);
        }
    }
    match is_same {
        true => Cow::Borrowed(text),
        false => Cow::Owned(out),
    }
}

/// Whether a character is invisible, or changes how others look.
fn is_hidden(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_control() && !matches!(c, '\n' | '\t');
    }
    c.is_control()
        || matches!(c,
            // Soft hyphen, combining grapheme joiner, Arabic letter mark, fillers, invisible vowels.
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            // Zero-width spaces, joiners, direction marks, overrides and isolates, separators.
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            // Shorthand and musical controls, tags, more variation selectors.
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Whether an invisible character is needed by those around it: a joiner inside an emoji or inside a word of a script
/// that uses it, or the selector that turns a symbol into an emoji.
fn is_needed(last: Option<char>, c: char, next: Option<char>) -> bool {
    let Some(last) = last else {
        return false;
    };
    let in_word = || has_joiners(last) && next.is_some_and(has_joiners);
    let in_emoji = || (is_pictograph(last) || last == EMOJI) && next.is_some_and(is_pictograph);
    match c {
        '\u{200c}' => in_word(),
        '\u{200d}' => in_word() || in_emoji(),
        TEXT | EMOJI if matches!(last, '0'..='9' | '#' | '*') => next == Some(KEYCAP),
        TEXT | EMOJI => is_pictograph(last),
        _ => false,
    }
}

/// Whether a character is an emoji.
fn is_pictograph(c: char) -> bool {
    matches!(c,
        '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{24c2}' | '\u{3030}' | '\u{303d}'
        | '\u{3297}' | '\u{3299}' | '\u{2194}'..='\u{21aa}' | '\u{2300}'..='\u{23ff}' | '\u{25aa}'..='\u{27bf}'
        | '\u{2934}'..='\u{2935}' | '\u{2b05}'..='\u{2b55}' | '\u{1f000}'..='\u{1faff}')
}

/// Whether a letter belongs to a script that uses joiners inside words: Arabic and related scripts, those of South
/// Asia, Mongolian.
fn has_joiners(c: char) -> bool {
    !is_hidden(c)
        && matches!(c,
            '\u{600}'..='\u{109f}' | '\u{1780}'..='\u{18af}' | '\u{1900}'..='\u{1cff}' | '\u{a800}'..='\u{abff}'
            | '\u{fb50}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}' | '\u{10a00}'..='\u{11fff}')
}

const TEXT: char = '\u{fe0e}';
const EMOJI: char = '\u{fe0f}';
const KEYCAP: char = '\u{20e3}';

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{clean, one_line};
    use serde_json::json;

    /// Characters that must be filtered out.
    const HIDDEN: &[char] = &[
        '\0',
        '\u{1}',
        '\u{7}',
        '\u{8}',
        '\r',
        '\u{1b}',
        '\u{7f}',
        '\u{80}',
        '\u{85}',
        '\u{9b}',
        '\u{9f}',
        '\u{ad}',
        '\u{34f}',
        '\u{61c}',
        '\u{115f}',
        '\u{1160}',
        '\u{180e}',
        '\u{200b}',
        '\u{200c}',
        '\u{200d}',
        '\u{200e}',
        '\u{200f}',
        '\u{2028}',
        '\u{2029}',
        '\u{202a}',
        '\u{202b}',
        '\u{202c}',
        '\u{202d}',
        '\u{202e}',
        '\u{2060}',
        '\u{2061}',
        '\u{2066}',
        '\u{2067}',
        '\u{2068}',
        '\u{2069}',
        '\u{206a}',
        '\u{206f}',
        '\u{3164}',
        '\u{fe00}',
        '\u{fe0f}',
        '\u{feff}',
        '\u{ffa0}',
        '\u{fff9}',
        '\u{fffb}',
        '\u{1d173}',
        '\u{e0000}',
        '\u{e0001}',
        '\u{e0020}',
        '\u{e0041}',
        '\u{e007f}',
        '\u{e0100}',
        '\u{e01ef}',
    ];

    #[test]
    fn no_hidden_character_goes_through_any_of_the_filters() {
        for &c in HIDDEN {
            let text = format!("a{c}{c}b");
            let ways = [
                visible(&text).into_owned(),
                escaped(&text).into_owned(),
                escaped_json(&text).into_owned(),
                clean(&text, 100),
                one_line(&text, 100),
                {
                    let mut value = json!({ &text: [&text] });
                    make_visible(&mut value);
                    value.to_string()
                },
            ];
            for way in ways {
                assert!(!way.contains(c), "{:?} in {way:?}", c);
                assert!(way.contains('a') && way.contains('b'));
            }
        }
    }

    #[test]
    fn json_says_the_same_with_hidden_characters_written_out() {
        let text: String = HIDDEN.iter().filter(|c| **c > '\u{1f}').collect();
        let json = serde_json::to_string(&text).unwrap();
        let shown = escaped_json(&json);
        assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), text);
        assert_eq!(escaped("a\u{202e}\u{1b}b"), "a\\u{202e}\\u{1b}b");
    }

    #[test]
    fn what_people_write_stays_as_it_is() {
        for text in [
            "plain\n\ttext",
            "naïve café, 日本語, עברית, العربية",
            // A family, a heart, a keycap, a flag of two letters, a skin tone.
            "👨\u{200d}👩\u{200d}👧 ❤\u{fe0f} 1\u{fe0f}\u{20e3} 🇩🇪 👍🏽 🏳\u{fe0f}\u{200d}🌈",
            // Persian and Hindi use joiners inside words.
            "می\u{200c}خواهم क्\u{200d}ष",
        ] {
            assert!(matches!(visible(text), Cow::Borrowed(_)), "{text}");
            assert_eq!(clean(text, 1_000), text);
        }
    }

    #[test]
    fn what_is_hidden_behind_an_emoji_is_taken_out() {
        let tags: String = "ignore"
            .chars()
            .map(|c| char::from_u32(0xe0000 + c as u32).unwrap())
            .collect();
        assert_eq!(visible(&format!("🏴{tags}\u{e007f}!")), "🏴!");
        let selectors = "\u{fe0f}\u{fe01}\u{fe0f}\u{e0101}\u{e0102}";
        assert_eq!(visible(&format!("😀{selectors}!")), "😀\u{fe0f}!");
        assert_eq!(visible("a\u{200d}b \u{200d}\u{200d}😀\u{200d}"), "ab 😀");
    }

    #[test]
    fn signs_and_joiners_that_change_nothing_are_taken_out() {
        assert_eq!(
            visible("1\u{fe0f}2\u{fe0e}.\u{fe0f}日\u{fe0e}é\u{fe0f}"),
            "12.日é"
        );
        assert_eq!(
            visible("日\u{200d}本\u{200c}語 é\u{200d}é 😀\u{200c}😀"),
            "日本語 éé 😀😀"
        );
        assert_eq!(
            visible("1\u{fe0f}\u{20e3} ☎\u{fe0e}"),
            "1\u{fe0f}\u{20e3} ☎\u{fe0e}"
        );
    }
}
