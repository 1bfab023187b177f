//! How many tab numbers have been used, in a separate file of fixed length that is overwritten in place, so it needs
//! no new disk space. So no number is used twice, even if the disk is full and the daemon is killed.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::path::Path;
use tabmux_platform::files::{Refused, SafeOptions, is_own, overwrite_start};

/// The count, and the file while it can be written.
#[derive(Debug)]
pub(super) struct Counter {
    file: Option<File>,
    count: u32,
}

/// The contents of the file.
enum Known {
    /// The file did not exist.
    Nothing,
    Count(u32),
    /// It is incomplete: its daemon could not write it.
    Broken,
}

impl Counter {
    /// Continues the count of an earlier daemon, or `told` if there is no such file yet. If the count is unknown or
    /// cannot be stored for the next daemon, continues in a random high range.
    pub(super) fn open(path: &Path, told: u32) -> Self {
        let opened = open(path).and_then(|(file, known)| {
            let count = match known {
                Known::Nothing => told,
                Known::Count(count) => count.max(told),
                Known::Broken => random_start(),
            };
            store(&file, count).map(|()| (file, count))
        });
        match opened {
            Ok((file, count)) => Self {
                file: Some(file),
                count,
            },
            Err(error) => {
                tracing::warn!(
                    %error, path = %path.display(),
                    "the tab counter cannot be stored, so new tabs get high numbers"
                );
                Self {
                    file: None,
                    count: random_start(),
                }
            }
        }
    }

    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// Stores the count.
    pub(super) fn store(&mut self, count: u32) {
        if count == self.count {
            return;
        }
        self.count = count;
        if let Some(Err(error)) = self.file.as_ref().map(|file| store(file, count)) {
            tracing::warn!(%error, "the tab counter could not be stored");
        }
    }
}

/// The file and its contents. Does not follow links, and refuses files of other users.
fn open(path: &Path) -> io::Result<(File, Known)> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).private();
    options.refusing(Refused::LinksAndWaiting);
    let mut file = match options.open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let file = options.create_new(true).open(path)?;
            return Ok((file, Known::Nothing));
        }
        opened => opened?,
    };
    let about = file.metadata()?;
    if !about.is_file() || !is_own(&about) {
        return Err(io::Error::other("it is not a file of this user"));
    }
    let mut text = Vec::new();
    Read::by_ref(&mut file)
        .take(2 * SIZE)
        .read_to_end(&mut text)?;
    let known = parse(&text).map_or(Known::Broken, Known::Count);
    Ok((file, known))
}

/// Overwrites the file. If that fails, empties it, which needs no space, so that an old count is not used.
fn store(file: &File, count: u32) -> io::Result<()> {
    let stored = overwrite_start(file, text(count).as_bytes());
    if stored.is_err()
        && let Err(error) = file.set_len(0)
    {
        tracing::warn!(%error, "the next daemon may reuse tab numbers");
    }
    stored
}

/// The count, twice, to detect an incomplete write.
fn text(count: u32) -> String {
    format!("{count:010} {count:010}\n")
}

fn parse(bytes: &[u8]) -> Option<u32> {
    let all = std::str::from_utf8(bytes).ok()?;
    let count = all.get(..10)?.parse().ok()?;
    (text(count) == all).then_some(count)
}

/// A random start in a range so large that two daemons do not collide.
fn random_start() -> u32 {
    let mut bytes = [0; 4];
    // The daemon cannot run without random numbers: its secrets need them, too.
    let _ = getrandom::fill(&mut bytes);
    RANDOM_FIRST + u32::from_le_bytes(bytes) % RANDOM_RANGE
}

const SIZE: u64 = 22;
const RANDOM_FIRST: u32 = 1_000_000;
const RANDOM_RANGE: u32 = 1_000_000_000;
