//! Finds and masks all spellings of the secret values, in texts and in streams of bytes.

use super::unescaped::{Unescaped, escape};
use super::{MASK, Masking, NotMasked, SHORTEST, spellings};
use aho_corasick::{AhoCorasick, MatchKind};
use serde_json::Value;
use std::borrow::Cow;
use std::io::{self, Read, Write};
use std::ops::Range;
use std::sync::Arc;

/// One search for all spellings of all values.
pub(super) struct Search {
    whole: AhoCorasick,
    /// The longest spelling, in bytes.
    longest: usize,
    /// The beginnings of spellings, for values that were cut.
    heads: AhoCorasick,
    /// The spelling of each beginning.
    cut: Vec<String>,
}

impl Search {
    pub(super) fn of(values: &[Arc<str>]) -> Result<Self, NotMasked> {
        let mut cut: Vec<_> = values.iter().flat_map(|it| spellings::of(it)).collect();
        cut.sort_unstable();
        cut.dedup();
        let texts = cut.iter().map(|spelling| spelling.as_bytes().to_vec());
        let wide = values.iter().flat_map(|it| spellings::in_utf16(it));
        let mut patterns: Vec<_> = texts.chain(wide).collect();
        patterns.sort_unstable();
        patterns.dedup();
        let whole = build(&patterns)?;
        let longest = patterns.iter().map(Vec::len).max().unwrap_or(1);
        cut.retain(|spelling| head(spelling).is_some());
        let heads = build(&cut.iter().filter_map(|it| head(it)).collect::<Vec<_>>())?;
        Ok(Self {
            whole,
            longest,
            heads,
            cut,
        })
    }

    /// The longest spelling, in bytes.
    pub(super) fn longest(&self) -> usize {
        self.longest
    }

    /// Where the values are.
    pub(super) fn places(&self, text: &str) -> Vec<Range<usize>> {
        let found = self.found(text).into_iter();
        found.map(|(start, end)| start..end).collect()
    }

    pub(super) fn masked<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut found = self.found(text);
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        found.sort_unstable();
        let mut masked = String::with_capacity(text.len());
        let mut done = 0;
        for (start, end) in found {
            if start >= done {
                masked.push_str(&text[done..start]);
                masked.push_str(MASK);
            }
            done = done.max(end);
        }
        masked.push_str(&text[done..]);
        Cow::Owned(masked)
    }

    pub(super) fn mask_json(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(masked) = self.masked(text) {
                    *text = masked;
                }
            }
            Value::Number(number) => {
                if let Cow::Owned(masked) = self.masked(&number.to_string()) {
                    *value = Value::String(masked);
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.mask_json(item)),
            Value::Object(fields) => {
                if fields.keys().any(|name| !self.found(name).is_empty()) {
                    let old = std::mem::take(fields).into_iter();
                    fields.extend(old.map(|(name, it)| (self.masked(&name).into_owned(), it)));
                }
                fields.values_mut().for_each(|field| self.mask_json(field));
            }
            Value::Null | Value::Bool(_) => {}
        }
    }

    /// Whether the bytes have a value in them.
    pub(super) fn is_in(&self, bytes: impl Read) -> io::Result<bool> {
        let first = self.whole.stream_find_iter(bytes).next();
        Ok(first.transpose()?.is_some())
    }

    /// Overwrites the values. Returns whether there was one.
    pub(super) fn mask_in_place(&self, bytes: &mut [u8]) -> bool {
        let found = self.found_in(bytes);
        for (start, end) in &found {
            bytes[*start..*end].fill(STAR);
        }
        !found.is_empty()
    }

    /// Copies bytes without the values, a part at a time. A match that begins in the last bytes of a part may go on, so
    /// these are searched again with the next part.
    pub(super) fn copy_masked(
        &self,
        mut from: impl Read,
        mut to: impl Write,
        masking: Masking,
    ) -> io::Result<()> {
        let mut bytes = Vec::new();
        // How many of them are masked already.
        let mut done = 0;
        loop {
            let before = bytes.len();
            from.by_ref().take(PART).read_to_end(&mut bytes)?;
            let is_last = bytes.len() == before;
            let sure = match is_last {
                true => bytes.len(),
                false => bytes.len().saturating_sub(self.longest - 1),
            };
            let found = self.whole.find_overlapping_iter(&bytes);
            let found = found.map(|it| (it.start(), it.end()));
            let mut found: Vec<_> = found.filter(|(start, _)| *start < sure).collect();
            found.sort_unstable();
            for (start, end) in found {
                if start >= done {
                    to.write_all(&bytes[done..start])?;
                }
                match masking {
                    Masking::Shown if start < done => {}
                    Masking::Shown => to.write_all(MASK.as_bytes())?,
                    Masking::InPlace => {
                        let length = end.saturating_sub(start.max(done));
                        to.write_all(&vec![STAR; length])?;
                    }
                }
                done = done.max(end);
            }
            if done < sure {
                to.write_all(&bytes[done..sure])?;
                done = sure;
            }
            if is_last {
                return Ok(());
            }
            bytes.drain(..sure);
            done -= sure;
        }
    }

    /// The parts to mask. All overlapping ones: one value may begin with another.
    fn found(&self, text: &str) -> Vec<(usize, usize)> {
        let mut found = self.found_in(text.as_bytes());
        found.retain(|(start, end)| text.is_char_boundary(*start) && text.is_char_boundary(*end));
        found
    }

    fn found_in(&self, text: &[u8]) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        self.find(text, &mut found, |start, end| (start, end));
        let mut plain = Unescaped::of(text);
        for _ in 0..DEEPEST {
            let Some(now) = plain else { break };
            self.find(&now.bytes, &mut found, |start, end| {
                now.original(start, end)
            });
            plain = now.again();
        }
        found
    }

    fn find(
        &self,
        text: &[u8],
        found: &mut Vec<(usize, usize)>,
        original: impl Fn(usize, usize) -> (usize, usize),
    ) {
        let whole = self.whole.find_overlapping_iter(text);
        found.extend(whole.map(|it| original(it.start(), it.end())));
        let cut = self.cut_off(text).into_iter();
        found.extend(cut.map(|(start, end)| original(start, end)));
    }

    /// Values that were cut: their beginnings before an ellipsis.
    fn cut_off(&self, text: &[u8]) -> Vec<(usize, usize)> {
        let ends: Vec<_> = ellipses(text).collect();
        if ends.is_empty() {
            return Vec::new();
        }
        let heads = self.heads.find_overlapping_iter(text);
        let cut = heads.filter_map(|head| {
            let end = *ends.get(ends.partition_point(|end| *end < head.end()))?;
            let spelling = &self.cut[head.pattern().as_usize()];
            let shown = text.get(head.start()..end)?;
            is_beginning(shown, spelling.as_bytes()).then_some((head.start(), end))
        });
        cut.collect()
    }
}

/// Only this kind of match can overlap and be searched for in a stream.
fn build(patterns: &[impl AsRef<[u8]>]) -> Result<AhoCorasick, NotMasked> {
    let mut builder = AhoCorasick::builder();
    let builder = builder.match_kind(MatchKind::Standard);
    builder.build(patterns).map_err(|_| NotMasked::TooLarge)
}

/// The first characters of a spelling that has more. Fewer say little, and masking them would tell a guesser how the
/// value begins.
fn head(spelling: &str) -> Option<&str> {
    let (end, _) = spelling.char_indices().nth(SHORTEST)?;
    Some(&spelling[..end])
}

/// Whether a spelling begins so. The last of the characters may be an escape that was cut itself.
fn is_beginning(shown: &[u8], spelling: &[u8]) -> bool {
    let pairs = shown.iter().zip(spelling);
    let same = pairs.take_while(|(one, other)| one == other).count();
    match &shown[same..] {
        [] => true,
        rest @ [b'%' | b'\\' | b'&', ..] => {
            rest.len() < LONGEST_ESCAPE && same < spelling.len() && escape(rest).is_none()
        }
        _ => false,
    }
}

fn ellipses(text: &[u8]) -> impl Iterator<Item = usize> {
    let ellipsis = "…".as_bytes();
    let at = text.windows(ellipsis.len()).enumerate();
    at.filter_map(move |(at, bytes)| (bytes == ellipsis).then_some(at))
}

/// In place of each byte of a value.
const STAR: u8 = b'*';
/// How many escapes inside of each other are looked through.
const DEEPEST: usize = 4;
/// `\ud834\udd1e`.
const LONGEST_ESCAPE: usize = 12;
/// How many bytes of a stream are read at a time.
const PART: u64 = 262_144;
