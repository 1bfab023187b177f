//! Names of tools: our own, and valid names made from what pages chose.

use std::fmt;

/// The name of a tool as it is published: one to 64 of the characters `A-Z a-z 0-9 _ -`.
///
/// It is stored inline: it is `Copy`, and names of pages that come and go allocate nothing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ToolName {
    /// Padded with zeros, so comparing the bytes compares the names.
    bytes: [u8; LONGEST],
}

impl ToolName {
    /// A name that we chose. Invalid characters are dropped.
    pub const fn new(name: &str) -> Self {
        let (from, mut bytes) = (name.as_bytes(), [0; LONGEST]);
        let (mut read, mut written) = (0, 0);
        while read < from.len() && written < LONGEST {
            #[expect(
                clippy::indexing_slicing,
                reason = "both are below the lengths, and const"
            )]
            if is_name_byte(from[read]) {
                bytes[written] = from[read];
                written += 1;
            }
            read += 1;
        }
        Self { bytes }
    }

    /// The name that a client wrote, if it is valid.
    pub fn parse(name: &str) -> Option<Self> {
        (!name.is_empty() && name.len() <= LONGEST && name.bytes().all(is_name_byte))
            .then(|| Self::new(name))
    }

    /// The published name of a tool that a page calls `given`. Always the same for the same text.
    ///
    /// Invalid characters become `_`. If nothing is left, or the name is too long, a hash of the whole text is
    /// appended to keep different names apart.
    pub(crate) fn published(given: &str) -> Self {
        if let Some(name) = Self::parse(given) {
            return name;
        }
        let mut words = given.split(|c: char| !u8::try_from(c).is_ok_and(is_name_byte));
        let mut reduced = String::new();
        while let Some(word) = words.next()
            && reduced.len() <= LONGEST
        {
            if !word.is_empty() && !reduced.is_empty() {
                reduced.push('_');
            }
            reduced.push_str(word.get(..word.len().min(LONGEST + 1)).unwrap_or_default());
        }
        match reduced.len() {
            0 => Self::new("tool").ending_in(&format!("_{:08x}", digest(given))),
            1..=LONGEST => Self::new(&reduced),
            _ => Self::new(&reduced).ending_in(&format!("_{:08x}", digest(given))),
        }
    }

    /// This name with a prefix, for when the name itself is taken.
    pub(crate) fn beginning_with(&self, beginning: &str) -> Self {
        let long = format!("{beginning}{self}");
        match long.len() {
            0..=LONGEST => Self::new(&long),
            _ => Self::new(&long).ending_in(&format!("_{:08x}", digest(&long))),
        }
    }

    /// This name with a suffix, shortened if the result would be too long.
    pub(crate) fn ending_in(&self, end: &str) -> Self {
        let kept = self.as_str().len().min(LONGEST.saturating_sub(end.len()));
        let kept = self.as_str().get(..kept).unwrap_or_default();
        Self::new(&format!("{kept}{end}"))
    }

    /// The name as it is published.
    pub fn as_str(&self) -> &str {
        let length = self.bytes.iter().position(|byte| *byte == 0);
        let name = self.bytes.get(..length.unwrap_or(LONGEST));
        name.and_then(|name| std::str::from_utf8(name).ok())
            .unwrap_or_default()
    }
}

impl fmt::Debug for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ToolName({self})")
    }
}

impl fmt::Display for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

const fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// FNV-1a: it only has to tell names apart, and must never change.
fn digest(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}

const LONGEST: usize = 64;
