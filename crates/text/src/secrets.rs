//! Secret values of this process, and texts without them: what leaves tabmux shows `•••` in their place.
//!
//! The values belong to sessions, but any session may come to see a page that shows one. So there is one set for the
//! whole process, and a value stays in it until the process ends. When it is full, sessions with other values are
//! refused: no value is given up for another one.

mod search;
mod spellings;
mod unescaped;

use search::Search;
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;
use std::io::{self, Read, Write};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// Shown in place of a secret value.
pub const MASK: &str = "•••";

/// Shorter values are too likely to be in other texts, too.
pub const SHORTEST: usize = 6;

/// Why values cannot be masked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotMasked {
    /// The process masks as many as it can already.
    Full,
    /// There are too many, or they are too long.
    TooLarge,
}

impl std::error::Error for NotMasked {}

impl fmt::Display for NotMasked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => write!(
                f,
                "More than {MOST} different secret values were given since tabmux started, and it masks each until it \
                 ends. Run `tabmux daemon stop`, then start the session again."
            ),
            Self::TooLarge => f.write_str(
                "There are too many secret values to mask them all. Use fewer or shorter ones.",
            ),
        }
    }
}

/// From now on these values are left out of everything that leaves this process. Shorter ones than [`SHORTEST`] are
/// ignored.
///
/// # Errors
/// When they cannot be masked. Those from before still are.
pub fn hide<'a>(values: impl IntoIterator<Item = &'a str>) -> Result<(), NotMasked> {
    let _turn = HIDING.lock().unwrap_or_else(PoisonError::into_inner);
    let before = hidden();
    let known = before.as_ref().map_or(&[][..], |it| &it.values);
    let (all, is_new) = with(known, values)?;
    let search = match (is_new, &before) {
        // Others mask what is known so far while this is built.
        (true, _) => Arc::new(Search::of(&all)?),
        (false, Some(before)) => Arc::clone(&before.search),
        (false, None) => return Ok(()),
    };
    let now = Hidden {
        values: all,
        search,
    };
    *HIDDEN.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(now));
    ANY.store(true, Ordering::Release);
    Ok(())
}

/// Whether there is a secret value at all. If not, nothing else here costs anything.
pub fn exist() -> bool {
    ANY.load(Ordering::Acquire)
}

/// The text without secret values, in whatever common way they are written.
pub fn masked(text: &str) -> Cow<'_, str> {
    match search() {
        Some(search) => search.masked(text),
        None => Cow::Borrowed(text),
    }
}

/// Masks secret values in a text.
pub fn mask(text: &mut String) {
    if let Cow::Owned(masked) = masked(text) {
        *text = masked;
    }
}

/// Masks secret values in all texts of a JSON value: in names, strings and numbers.
pub fn mask_json(value: &mut Value) {
    if let Some(search) = search() {
        search.mask_json(value);
    }
}

/// Whether a text has a secret value in it.
pub fn are_in(text: &str) -> bool {
    matches!(masked(text), Cow::Owned(_))
}

/// Where a text has secret values in it. The parts may overlap.
pub fn places(text: &str) -> Vec<Range<usize>> {
    search().map_or_else(Vec::new, |search| search.places(text))
}

/// Whether the bytes have a secret value in them. Reads no more than it needs.
///
/// # Errors
/// When the bytes cannot be read.
pub fn are_in_bytes(bytes: impl Read) -> io::Result<bool> {
    match search() {
        Some(search) => search.is_in(bytes),
        None => Ok(false),
    }
}

/// Overwrites secret values in bytes, each byte by a `*`, so that everything else stays where it is. Returns whether
/// there was one.
pub fn mask_in_place(bytes: &mut [u8]) -> bool {
    search().is_some_and(|search| search.mask_in_place(bytes))
}

/// How many bytes of a secret value can be before or after the place where bytes are cut.
pub fn longest() -> usize {
    search().map_or(0, |search| search.longest())
}

/// How secret values are masked in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Masking {
    /// By [`MASK`], in text.
    Shown,
    /// Each byte by a `*`, so that everything else stays where it is.
    InPlace,
}

/// Copies bytes without secret values.
///
/// # Errors
/// When the bytes cannot be read or written.
pub fn copy_masked(from: impl Read, mut to: impl Write, masking: Masking) -> io::Result<()> {
    match search() {
        Some(search) => search.copy_masked(from, to, masking),
        None => io::copy(&mut { from }, &mut to).map(drop),
    }
}

/// The values, and the search for all their spellings.
struct Hidden {
    values: Vec<Arc<str>>,
    search: Arc<Search>,
}

/// The known values and these, and whether some of them are new.
fn with<'a>(
    known: &[Arc<str>],
    values: impl IntoIterator<Item = &'a str>,
) -> Result<(Vec<Arc<str>>, bool), NotMasked> {
    let mut all = known.to_vec();
    for value in values {
        let is_known = || all.iter().any(|known| **known == *value);
        if value.chars().count() >= SHORTEST && !is_known() {
            all.push(value.into());
        }
    }
    match all.len() {
        count if count > MOST && count > known.len() => Err(NotMasked::Full),
        count => Ok((all, count > known.len())),
    }
}

fn search() -> Option<Arc<Search>> {
    if !exist() {
        return None;
    }
    hidden().map(|hidden| Arc::clone(&hidden.search))
}

fn hidden() -> Option<Arc<Hidden>> {
    let hidden = HIDDEN.read().unwrap_or_else(PoisonError::into_inner);
    hidden.clone()
}

static ANY: AtomicBool = AtomicBool::new(false);
static HIDDEN: RwLock<Option<Arc<Hidden>>> = RwLock::new(None);
/// Held while a new search is built, so that none is lost.
static HIDING: Mutex<()> = Mutex::new(());

/// How many values are kept. A session has at most 100, and most sessions have the same ones.
const MOST: usize = 1_000;

#[cfg(test)]
mod tests;
