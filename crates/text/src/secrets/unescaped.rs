//! Texts without their escapes: a page can show a value escaped for HTML inside of JSON inside of an address, and our own
//! answers quote it once more.

/// A text whose escapes were removed, and where in the original each of its bytes begins.
pub(super) struct Unescaped {
    pub(super) bytes: Vec<u8>,
    /// One more than there are bytes: the last is the end.
    from: Vec<u32>,
}

impl Unescaped {
    /// The text with one level of escapes removed. `None` if there are none.
    pub(super) fn of(text: &[u8]) -> Option<Self> {
        // No text is so long: an answer has at most 16 MiB.
        u32::try_from(text.len()).ok()?;
        #[expect(clippy::cast_possible_truncation, reason = "checked above")]
        once(text, |at| at as u32)
    }

    /// The same with one more level removed.
    pub(super) fn again(&self) -> Option<Self> {
        once(&self.bytes, |at| self.from[at])
    }

    /// The part of the original that became this part.
    pub(super) fn original(&self, start: usize, end: usize) -> (usize, usize) {
        (self.from[start] as usize, self.from[end] as usize)
    }
}

/// Nothing is copied if there is nothing to remove.
fn once(text: &[u8], place: impl Fn(usize) -> u32) -> Option<Unescaped> {
    let first = (0..text.len()).find(|at| escape(&text[*at..]).is_some())?;
    let mut plain = Unescaped {
        bytes: Vec::with_capacity(text.len()),
        from: Vec::with_capacity(text.len() + 1),
    };
    plain.bytes.extend_from_slice(&text[..first]);
    plain.from.extend((0..first).map(&place));
    let mut at = first;
    while at < text.len() {
        let mut utf8 = [0; 4];
        let (meant, length): (&[u8], usize) = match escape(&text[at..]) {
            Some((Literal::Byte(byte), length)) => {
                utf8[0] = byte;
                (&utf8[..1], length)
            }
            Some((Literal::Char(character), length)) => {
                (character.encode_utf8(&mut utf8).as_bytes(), length)
            }
            None => (&text[at..=at], 1),
        };
        plain.bytes.extend_from_slice(meant);
        plain.from.extend(meant.iter().map(|_| place(at)));
        at += length;
    }
    plain.from.push(place(text.len()));
    Some(plain)
}

pub(super) enum Literal {
    Byte(u8),
    Char(char),
}

/// What the escape at the beginning means, and its length.
pub(super) fn escape(text: &[u8]) -> Option<(Literal, usize)> {
    match text.first()? {
        b'%' => Some((Literal::Byte(u8::try_from(hex(text.get(1..3)?)?).ok()?), 3)),
        b'\\' => backslash(text),
        b'&' => entity(text),
        _ => None,
    }
}

fn backslash(text: &[u8]) -> Option<(Literal, usize)> {
    match text.get(1)? {
        byte @ (b'"' | b'\\' | b'/' | b'\'') => Some((Literal::Byte(*byte), 2)),
        b'x' => Some((Literal::Char(char::from_u32(hex(text.get(2..4)?)?)?), 4)),
        b'u' => {
            let unit = hex(text.get(2..6)?)?;
            if let Some(character) = char::from_u32(unit) {
                return Some((Literal::Char(character), 6));
            }
            let low = hex(text.get(6..12)?.strip_prefix(b"\\u")?)?;
            let both = [u16::try_from(unit).ok()?, u16::try_from(low).ok()?];
            let character = char::decode_utf16(both).next()?.ok()?;
            Some((Literal::Char(character), 12))
        }
        _ => None,
    }
}

fn entity(text: &[u8]) -> Option<(Literal, usize)> {
    let end = text
        .iter()
        .take(LONGEST_ENTITY)
        .position(|byte| *byte == b';')?;
    let name = std::str::from_utf8(&text[1..end]).ok()?;
    let character = match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => '\u{a0}',
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(digits) => hex(digits.as_bytes())?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)?
        }
    };
    Some((Literal::Char(character), end + 1))
}

fn hex(digits: &[u8]) -> Option<u32> {
    let is_number = (1..=6).contains(&digits.len()) && digits.iter().all(u8::is_ascii_hexdigit);
    let text = std::str::from_utf8(digits).ok().filter(|_| is_number)?;
    u32::from_str_radix(text, 16).ok()
}

const LONGEST_ENTITY: usize = 10;
