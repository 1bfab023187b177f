//! Where things are in a JSON text, which may have comments and trailing commas.

use super::super::entry::Refusal;
use serde_json::Value;
use std::ops::Range;

/// A JSON text that is known to be valid, and whose root is an object.
pub(super) struct Document<'a> {
    /// As it was written.
    pub(super) text: &'a str,
    /// The same with comments blanked out; all positions are the same.
    bare: String,
    /// The same with trailing commas blanked out, too: plain JSON.
    plain: String,
}

/// One member of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) key: String,
    /// Where its key begins.
    pub(super) start: usize,
    pub(super) value: Range<usize>,
}

impl<'a> Document<'a> {
    pub(super) fn parse(text: &'a str) -> Result<Self, Refusal> {
        let bare = without_comments(text);
        let plain = without_trailing_commas(&bare);
        match serde_json::from_str::<Value>(&plain) {
            Ok(Value::Object(_)) => Ok(Self { text, bare, plain }),
            Ok(_) => Err(Refusal::WrongShape {
                what: "The outermost value".to_owned(),
            }),
            Err(error) => Err(Refusal::Unreadable {
                format: "JSON",
                why: error.to_string(),
            }),
        }
    }

    pub(super) fn root(&self) -> Range<usize> {
        let start = self.plain.len() - self.plain.trim_start().len();
        start..self.plain.trim_end().len()
    }

    pub(super) fn is_object(&self, value: &Range<usize>) -> bool {
        self.plain[value.clone()].starts_with('{')
    }

    pub(super) fn value(&self, value: &Range<usize>) -> Value {
        serde_json::from_str(&self.plain[value.clone()]).unwrap_or_default()
    }

    /// The member of that name. Of several, the last one, as JSON parsers do.
    pub(super) fn find(&self, object: &Range<usize>, key: &str) -> Option<Member> {
        let members = self.members(object).into_iter();
        members.rev().find(|member| member.key == key)
    }

    pub(super) fn members(&self, object: &Range<usize>) -> Vec<Member> {
        let bytes = self.plain.as_bytes();
        let mut members = Vec::new();
        let mut at = object.start + 1;
        loop {
            at = skip(bytes, at, b" \t\r\n,");
            if bytes.get(at) != Some(&b'"') {
                return members;
            }
            let start = at;
            let key_end = string_end(bytes, at);
            let key = serde_json::from_str(&self.plain[start..key_end]).unwrap_or_default();
            let value_start = skip(bytes, key_end, b" \t\r\n:");
            at = value_end(bytes, value_start);
            let value = value_start..at;
            members.push(Member { key, start, value });
        }
    }

    /// The comma that follows that position, if one does.
    pub(super) fn comma_after(&self, position: usize) -> Option<usize> {
        let bytes = self.bare.as_bytes();
        let at = skip(bytes, position, b" \t\r\n");
        (bytes.get(at) == Some(&b',')).then_some(at)
    }
}

fn without_comments(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut bare = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let end = match &bytes[at..] {
            [b'"', ..] => {
                at = string_end(bytes, at);
                continue;
            }
            [b'/', b'/', rest @ ..] => rest.iter().position(|&b| b == b'\n').map(|n| at + 2 + n),
            [b'/', b'*', rest @ ..] => rest.windows(2).position(|b| b == b"*/").map(|n| at + 4 + n),
            _ => {
                at += 1;
                continue;
            }
        };
        let end = end.unwrap_or(bytes.len());
        for byte in &mut bare[at..end] {
            if !matches!(byte, b'\r' | b'\n') {
                *byte = b' ';
            }
        }
        at = end;
    }
    // Whole comments are blanked out, so no character is cut in two.
    String::from_utf8_lossy(&bare).into_owned()
}

fn without_trailing_commas(bare: &str) -> String {
    let bytes = bare.as_bytes();
    let mut plain = bytes.to_vec();
    let mut at = 0;
    // A comma that follows nothing is a mistake, not a trailing one.
    let mut follows_value = false;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                at = string_end(bytes, at);
                follows_value = true;
                continue;
            }
            b',' => {
                let next = skip(bytes, at + 1, b" \t\r\n");
                if follows_value && matches!(bytes.get(next), Some(b'}' | b']')) {
                    plain[at] = b' ';
                }
                follows_value = false;
            }
            b'{' | b'[' | b':' => follows_value = false,
            b' ' | b'\t' | b'\r' | b'\n' => {}
            _ => follows_value = true,
        }
        at += 1;
    }
    String::from_utf8_lossy(&plain).into_owned()
}

fn skip(bytes: &[u8], from: usize, what: &[u8]) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    from + rest.iter().take_while(|byte| what.contains(byte)).count()
}

/// The position after the string that begins at `start`.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// The position after the value that begins at `start`.
fn value_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    let mut depth = 0_usize;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                at = string_end(bytes, at);
                if depth == 0 {
                    return at;
                }
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth <= 1 => return if depth == 1 { at + 1 } else { at },
            b'}' | b']' => depth -= 1,
            b',' | b' ' | b'\t' | b'\r' | b'\n' if depth == 0 => return at,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}
