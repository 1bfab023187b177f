//! The common ways in which a value is written: as it is, and in JSON, addresses, HTML, base64 and UTF-16. In texts, escapes are
//! removed as well; in files, which are searched as they are, only these are found.

use base64::Engine;
use base64::prelude::{BASE64_STANDARD_NO_PAD, BASE64_URL_SAFE_NO_PAD};
use std::borrow::Cow;
use std::fmt::Write;

/// All spellings of a value that differ. Answers have no invisible characters, so a value that has some is also searched
/// without them.
pub(super) fn of(value: &str) -> Vec<String> {
    let mut all = of_text(value);
    if let Cow::Owned(visible) = crate::visible(value) {
        all.extend(of_text(&visible));
    }
    all.retain(|spelling| spelling.chars().count() >= super::SHORTEST);
    all.sort_unstable();
    all.dedup();
    all
}

fn of_text(value: &str) -> Vec<String> {
    let json = in_json(value);
    let mut all = vec![
        value.to_owned(),
        crate::one_line(value, usize::MAX / 8),
        json,
        in_ascii_json(value, |unit| format!("\\u{unit:04x}")),
        in_ascii_json(value, |unit| format!("\\u{unit:04X}")),
        value.replace('/', "\\/"),
    ];
    for plain in PLAIN_IN_ADDRESSES {
        let encoded = percent(value, plain);
        all.push(encoded.replace("%20", "+"));
        all.push(lower_hex(&encoded));
        all.push(encoded);
    }
    for quotes in QUOTES_IN_HTML {
        all.push(in_html(value, quotes));
    }
    all.extend(in_base64(value));
    all
}

/// In UTF-16, in both byte orders: as it is, and in JSON and HTML.
pub(super) fn in_utf16(value: &str) -> Vec<Vec<u8>> {
    let [quotes, ..] = QUOTES_IN_HTML;
    let texts = [value.to_owned(), in_json(value), in_html(value, quotes)];
    let both = texts.iter().flat_map(|text| {
        let little = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        [little, big]
    });
    both.collect()
}

/// As part of a JSON string.
fn in_json(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// The same, with only ASCII characters. Heap snapshots have capital digits in escapes.
fn in_ascii_json(text: &str, escaped: impl Fn(u16) -> String) -> String {
    let mut ascii = String::new();
    for unit in in_json(text).encode_utf16() {
        match u8::try_from(unit) {
            Ok(byte) if byte.is_ascii() => ascii.push(char::from(byte)),
            _ => ascii.push_str(&escaped(unit)),
        }
    }
    ascii
}

/// Percent-encoded, except for letters, digits and these.
fn percent(text: &str, plain: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        let character = char::from(byte);
        match character.is_ascii_alphanumeric() || plain.contains(character) {
            true => encoded.push(character),
            false => drop(write!(encoded, "%{byte:02X}")),
        }
    }
    encoded
}

/// The same with small letters in the codes.
fn lower_hex(encoded: &str) -> String {
    let mut lower = String::new();
    let mut left = 0;
    for character in encoded.chars() {
        left = if character == '%' { 3 } else { left };
        match left {
            0 => lower.push(character),
            _ => {
                lower.push(character.to_ascii_lowercase());
                left -= 1;
            }
        }
    }
    lower
}

fn in_html(text: &str, [double, single]: [&str; 2]) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    let text = text.replace('>', "&gt;").replace('\u{a0}', "&nbsp;");
    text.replace('"', double).replace('\'', single)
}

/// In base64, alone and inside of a longer text such as `user:password`: then it may begin at any of three places in a
/// group, and the characters that it shares with its neighbours are left out.
fn in_base64(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    for before in 0..3 {
        let bytes = [vec![0; before], text.as_bytes().to_vec()].concat();
        let skipped = [0, 2, 3][before];
        let whole = bytes.len() * 8 / 6;
        for engine in [BASE64_STANDARD_NO_PAD, BASE64_URL_SAFE_NO_PAD] {
            let encoded = engine.encode(&bytes);
            all.push(encoded[skipped..whole].to_owned());
        }
    }
    all
}

/// What `encodeURIComponent`, `encodeURI`, forms, and browsers in queries, fragments and paths leave as it is.
const PLAIN_IN_ADDRESSES: [&str; 7] = [
    "-_.!~*'()",
    "-_.!~*'();/?:@&=+$,#",
    "-_.*",
    "-_.~",
    "!$%&'()*+,-./:;=?@[\\]^_`{|}~",
    "!#$%&'()*+,-./:;=?@[\\]^_{|}~",
    "!$%&()*+,-./:;=?@[\\]^_`{|}~",
];

const QUOTES_IN_HTML: [[&str; 2]; 4] = [
    ["\"", "'"],
    ["&quot;", "'"],
    ["&quot;", "&#39;"],
    ["&#34;", "&#x27;"],
];
