//! How much a session may download, and where its downloads go.

use super::output::OutputFolder;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use tabmux_platform::files::{Refused, SafeOptions};

/// A limit on downloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// Bytes in all.
    pub bytes: u64,
    /// Files in all.
    pub files: usize,
}

impl Default for Quota {
    fn default() -> Self {
        Self {
            bytes: MOST_BYTES,
            files: MOST_FILES,
        }
    }
}

/// What a session has downloaded and is downloading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    bytes: u64,
    files: usize,
}

impl Usage {
    /// Counts a new file. The error is a sentence, if the quota is reached.
    pub(super) fn begin(&mut self, quota: Quota) -> Result<(), String> {
        if self.files >= quota.files {
            return Err(format!(
                "this session has reached its limit of {} downloads. Use another session.",
                quota.files
            ));
        }
        if self.bytes >= quota.bytes {
            return Err(too_much(quota));
        }
        self.files += 1;
        Ok(())
    }

    /// Counts a file that grew from `before` to `now` bytes, and will have `whole` if that is known.
    pub(super) fn grow(
        &mut self,
        before: u64,
        now: u64,
        whole: u64,
        quota: Quota,
    ) -> Result<(), String> {
        self.bytes = self.bytes.saturating_sub(before).saturating_add(now);
        let coming = whole.saturating_sub(now);
        match self.bytes.saturating_add(coming) > quota.bytes {
            true => Err(too_much(quota)),
            false => Ok(()),
        }
    }

    /// Gives back the bytes of a file that still counts.
    pub(super) fn give_back_bytes(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_sub(bytes);
    }

    /// A file with so many bytes was cancelled and removed.
    pub(super) fn give_back(&mut self, bytes: u64) {
        self.give_back_bytes(bytes);
        self.files = self.files.saturating_sub(1);
    }
}

impl OutputFolder {
    /// Stores a complete download where files without a path go, under its own name or a similar one that is free.
    /// Blocks.
    pub(crate) fn take_in(&self, from: &Path, name: &str) -> io::Result<PathBuf> {
        let folder = self.for_fresh_files()?;
        let name = safe_name(name);
        let (stem, ending) = match name.rfind('.') {
            Some(dot) if dot > 0 => name.split_at(dot),
            _ => (name.as_str(), ""),
        };
        for number in 1..=MOST_OF_ONE_NAME {
            let place = folder.join(match number {
                1 => name.clone(),
                _ => format!("{stem}-{number}{ending}"),
            });
            match move_to_new(from, &place) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
                Ok(()) => {
                    self.note_saved(&place);
                    return Ok(place);
                }
            }
        }
        Err(io::Error::other("there are too many files of that name"))
    }
}

/// Moves a file, and never replaces another.
fn move_to_new(from: &Path, to: &Path) -> io::Result<()> {
    match fs::hard_link(from, to) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error),
        // Another file system, or one without links.
        Err(_) => copy_to_new(from, to)?,
    }
    // Otherwise it goes with its folder, at the end of the session.
    let _ = fs::remove_file(from);
    Ok(())
}

fn copy_to_new(from: &Path, to: &Path) -> io::Result<()> {
    let mut source = File::open(from)?;
    let mut target = OpenOptions::new()
        .write(true)
        .create_new(true)
        .private()
        .refusing(Refused::LinksAndWaiting)
        .open(to)?;
    let copied = io::copy(&mut source, &mut target);
    if copied.is_err() {
        let _ = fs::remove_file(to);
    }
    copied.map(drop)
}

/// The last part of a name that a page proposed, without anything that could change the folder or hide the file.
fn safe_name(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let last = last.trim_start_matches('.').trim();
    let clean = |c: char| if c.is_control() { '_' } else { c };
    let mut safe = String::new();
    for c in last.chars().map(clean) {
        if safe.len() + c.len_utf8() > LONGEST_NAME {
            break;
        }
        safe.push(c);
    }
    match safe.is_empty() {
        true => "download".to_owned(),
        false => safe,
    }
}

fn too_much(quota: Quota) -> String {
    format!(
        "downloads of one session may have {} MB in all. Use another session, or fetch the file without the browser.",
        quota.bytes / 1_000_000
    )
}

/// Enough for agents, too little to fill a disk: a page can start downloads by itself.
const MOST_BYTES: u64 = 512_000_000;

/// A page can also fill a folder with empty files.
const MOST_FILES: usize = 100;

/// A folder of the client's own keeps those of many sessions.
const MOST_OF_ONE_NAME: usize = 1_000;

/// File systems allow 255 bytes; a number may be added.
const LONGEST_NAME: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::OutputRoot;

    const SMALL: Quota = Quota {
        bytes: 1_000,
        files: 2,
    };

    #[test]
    fn bytes_and_files_are_limited_and_returned_when_a_download_is_cancelled() {
        let mut usage = Usage::default();
        usage.begin(SMALL).unwrap();
        usage.grow(0, 600, 0, SMALL).unwrap();
        usage.begin(SMALL).unwrap();
        assert!(usage.begin(SMALL).is_err(), "a third file");
        // An announced size counts before the bytes have arrived.
        assert!(usage.grow(0, 10, 500, SMALL).is_err());
        assert!(usage.grow(10, 500, 0, SMALL).is_err());
        usage.give_back(500);
        usage.begin(SMALL).unwrap();
        usage.grow(0, 400, 400, SMALL).unwrap();
        assert!(usage.begin(SMALL).is_err());
    }

    #[test]
    fn names_from_pages_stay_in_the_folder() {
        for (proposed, safe) in [
            ("report.csv", "report.csv"),
            ("../../.ssh/authorized_keys", "authorized_keys"),
            ("..\\.bashrc", "bashrc"),
            ("a\nb", "a_b"),
            ("...", "download"),
            ("", "download"),
        ] {
            assert_eq!(safe_name(proposed), safe, "{proposed:?}");
        }
        assert_eq!(safe_name(&"ü".repeat(300)).len(), 200);
    }

    #[tokio::test]
    async fn a_download_never_replaces_another() {
        let home = tempfile::tempdir().unwrap();
        let folder = OutputRoot::at(home.path().join("output")).session();
        let staged = home.path().join("staged");
        for name in ["a.tar.gz", "a.tar-2.gz", "a.tar-3.gz"] {
            fs::write(&staged, name).unwrap();
            let place = folder.take_in(&staged, "a.tar.gz").unwrap();
            assert!(place.ends_with(name), "{place:?}");
            assert_eq!(fs::read_to_string(place).unwrap(), name);
        }
        folder.end().await;
        fs::write(&staged, "late").unwrap();
        assert!(folder.take_in(&staged, "late").is_err());
    }

    #[tokio::test]
    async fn a_download_is_kept_in_the_folder_that_the_client_named() {
        let home = tempfile::tempdir().unwrap();
        let named = home.path().join("named");
        fs::create_dir(&named).unwrap();
        fs::write(named.join("a.csv"), "of an earlier session").unwrap();
        let output = OutputRoot::at(home.path().join("output"));
        let folder = output.session_with(Some(named.clone()), SMALL);
        let staged = home.path().join("staged");
        fs::write(&staged, "a,b").unwrap();
        let place = folder.take_in(&staged, "a.csv").unwrap();
        assert_eq!(place, named.join("a-2.csv"));
        folder.end().await;
        assert_eq!(fs::read(&place).unwrap(), b"a,b");
        fs::write(&staged, "late").unwrap();
        assert!(
            folder.take_in(&staged, "late.csv").is_err(),
            "the session is over"
        );
    }

    #[test]
    fn a_copy_never_replaces_a_file() {
        let home = tempfile::tempdir().unwrap();
        let (from, to) = (home.path().join("from"), home.path().join("to"));
        fs::write(&from, "new").unwrap();
        copy_to_new(&from, &to).unwrap();
        assert_eq!(fs::read(&to).unwrap(), b"new");
        fs::write(&from, "newer").unwrap();
        let refused = copy_to_new(&from, &to).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&to).unwrap(), b"new");
    }
}
