//! How many numbers of tabs are used up, in a file of its own that needs no new space on the disk: it is always
//! as long, and is written over in place. So a number is not used twice, also if the disk is full and the daemon
//! is killed.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use tabmux_browser::user::own_uid;

/// The count, and the file as long as it can be written.
#[derive(Debug)]
pub(super) struct Counter {
    file: Option<File>,
    count: u32,
}

/// What a file says.
enum Known {
    /// It was not there.
    Nothing,
    Count(u32),
    /// It is not whole: its daemon could not write it.
    Broken,
}

impl Counter {
    /// Goes on from where an earlier daemon was, which is `told` elsewhere if there is no such file yet. If that
    /// cannot be known, or could not be told to the next daemon, numbers go on where nobody was before.
    pub(super) fn open(path: &Path, told: u32) -> Self {
        let opened = open(path).and_then(|(file, known)| {
            let count = match known {
                Known::Nothing => told,
                Known::Count(count) => count.max(told),
                Known::Broken => elsewhere(),
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
                    "the number of tabs cannot be written down, so new ones have high numbers"
                );
                Self {
                    file: None,
                    count: elsewhere(),
                }
            }
        }
    }

    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// Writes down how many there are.
    pub(super) fn store(&mut self, count: u32) {
        if count == self.count {
            return;
        }
        self.count = count;
        if let Some(Err(error)) = self.file.as_ref().map(|file| store(file, count)) {
            tracing::warn!(%error, "the number of tabs could not be written down");
        }
    }
}

/// The file, and what it says. Links are not followed, and of another user's file nothing is taken.
fn open(path: &Path) -> io::Result<(File, Known)> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).mode(0o600);
    options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let mut file = match options.open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let file = options.create_new(true).open(path)?;
            return Ok((file, Known::Nothing));
        }
        opened => opened?,
    };
    let about = file.metadata()?;
    if !about.is_file() || about.uid() != own_uid() {
        return Err(io::Error::other("it is no file of this user's own"));
    }
    let mut text = Vec::new();
    Read::by_ref(&mut file)
        .take(2 * SIZE)
        .read_to_end(&mut text)?;
    let known = parse(&text).map_or(Known::Broken, Known::Count);
    Ok((file, known))
}

/// Writes the file over. If that fails it is emptied, which needs no space, so that nobody takes an old count
/// for this one.
fn store(file: &File, count: u32) -> io::Result<()> {
    let stored = file.write_all_at(text(count).as_bytes(), 0);
    if stored.is_err()
        && let Err(error) = file.set_len(0)
    {
        tracing::warn!(%error, "the next daemon may use numbers of tabs again");
    }
    stored
}

/// The count, twice: a half of it is not taken for all.
fn text(count: u32) -> String {
    format!("{count:010} {count:010}\n")
}

fn parse(bytes: &[u8]) -> Option<u32> {
    let all = std::str::from_utf8(bytes).ok()?;
    let count = all.get(..10)?.parse().ok()?;
    (text(count) == all).then_some(count)
}

/// Somewhere in a range so large that no two daemons meet there.
fn elsewhere() -> u32 {
    let mut bytes = [0; 4];
    // Without random numbers there is no daemon: its secrets need them, too.
    let _ = getrandom::fill(&mut bytes);
    FIRST_ELSEWHERE + u32::from_le_bytes(bytes) % RANGE_ELSEWHERE
}

const SIZE: u64 = 22;
const FIRST_ELSEWHERE: u32 = 1_000_000;
const RANGE_ELSEWHERE: u32 = 1_000_000_000;
