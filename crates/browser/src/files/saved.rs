//! The files that tools and downloads of a session wrote, by number, so that clients can read them without their paths.

use super::blocking::FileThreads;
use super::draft;
use super::output::OutputFolder;
use std::collections::VecDeque;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedFile {
    /// Its number in the session, never used again.
    pub number: u64,
    /// Where it is.
    pub path: PathBuf,
}

/// A part of such a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedPart {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// How many bytes the file has in all.
    pub whole: u64,
}

/// The newest of them; older ones have no number any more.
#[derive(Debug, Default)]
pub(super) struct SavedFiles {
    counted: u64,
    kept: VecDeque<SavedFile>,
}

impl SavedFiles {
    /// The number of this file, which is new if it has none yet.
    fn add(&mut self, path: &Path) -> u64 {
        if let Some(known) = self.kept.iter().find(|known| known.path == path) {
            return known.number;
        }
        self.counted += 1;
        if self.kept.len() >= MOST_KEPT {
            self.kept.pop_front();
        }
        self.kept.push_back(SavedFile {
            number: self.counted,
            path: path.to_owned(),
        });
        self.counted
    }
}

impl OutputFolder {
    /// The files that the session wrote, the oldest first.
    pub fn saved(&self) -> Vec<SavedFile> {
        self.saved_files().kept.iter().cloned().collect()
    }

    /// The path of a file of the session.
    pub fn saved_path(&self, number: u64) -> Option<PathBuf> {
        let saved = self.saved_files();
        let mut kept = saved.kept.iter();
        let found = kept.find(|known| known.number == number);
        found.map(|known| known.path.clone())
    }

    /// The number of a file of the session, if it is one.
    pub(crate) fn number_of(&self, path: &Path) -> Option<u64> {
        let saved = self.saved_files();
        let mut kept = saved.kept.iter();
        kept.find(|known| known.path == path)
            .map(|known| known.number)
    }

    /// The session wrote a file.
    pub(crate) fn note_saved(&self, path: &Path) -> u64 {
        self.saved_files().add(path)
    }

    /// Reads at most `most` bytes of a file of the session, from `offset`. `None` if there is no such file. The error
    /// is a sentence.
    pub async fn read_saved(
        &self,
        number: u64,
        offset: u64,
        most: u64,
    ) -> Option<Result<SavedPart, String>> {
        let path = self.saved_path(number)?;
        let read = move || {
            let mut file = draft::open_to_read(&path)?;
            let whole = file.metadata()?.len();
            file.seek(SeekFrom::Start(offset))?;
            let mut bytes = Vec::new();
            file.take(most).read_to_end(&mut bytes)?;
            Ok::<_, super::Problem>(SavedPart { bytes, whole })
        };
        let told = |why: String| format!("The file cannot be read: {why}");
        Some(match self.threads().run(read).await {
            Ok(part) => part.map_err(|problem| told(problem.to_string())),
            Err(stuck) => Err(told(stuck.to_string())),
        })
    }

    /// Removes a file that was written only to be read once.
    pub async fn remove_saved(&self, number: u64) {
        let Some(path) = self.saved_path(number) else {
            return;
        };
        self.saved_files()
            .kept
            .retain(|known| known.number != number);
        let remove = move || drop(std::fs::remove_file(path));
        let _ = FileThreads::new().run(remove).await;
    }
}

/// More than agents use; each has a path of at most 4 kB.
const MOST_KEPT: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::{Destination, Files, OutputRoot, Roots};

    #[test]
    fn files_keep_their_numbers_and_only_the_newest_are_kept() {
        let mut saved = SavedFiles::default();
        let path = |n: u64| PathBuf::from(format!("/{n}"));
        for n in 1..=MOST_KEPT as u64 + 5 {
            assert_eq!(saved.add(&path(n)), n);
        }
        assert_eq!(saved.kept.len(), MOST_KEPT);
        assert_eq!(saved.add(&path(6)), 6, "it is known");
        assert_eq!(saved.add(&path(1)), 206, "it was forgotten");
    }

    #[tokio::test]
    async fn a_file_is_read_in_parts_by_its_session_only() {
        let home = tempfile::tempdir().unwrap();
        let root = OutputRoot::at(home.path().join("output"));
        let (own, other) = (root.session(), root.session());
        let files = Files::new(Roots::default(), own.clone());
        let to = Destination::new(None, None, "txt");
        files.save(to, b"0123456789".to_vec()).await.unwrap();
        let number = files.last_saved().unwrap();
        let part = own.read_saved(number, 8, 5).await.unwrap().unwrap();
        assert_eq!((&part.bytes[..], part.whole), (&b"89"[..], 10));
        assert!(other.read_saved(number, 0, 5).await.is_none());
        own.remove_saved(number).await;
        assert!(own.read_saved(number, 0, 5).await.is_none());
        assert_eq!(own.saved(), []);
    }

    #[tokio::test]
    async fn a_remote_client_names_files_of_its_session_and_no_others() {
        let home = tempfile::tempdir().unwrap();
        let kept = home.path().join("kept");
        std::fs::create_dir(&kept).unwrap();
        let root = OutputRoot::at(home.path().join("output"));
        let own = root.session_with(Some(kept.clone()), super::super::Quota::default());
        let files = Files::new(Roots::default(), own.clone()).of_remote_client();
        let save = async |path: Option<&str>, files: &Files| {
            let to = Destination::new(path, None, "txt");
            let saved = files.save(to, b"new".to_vec()).await;
            saved.map_err(|error| error.to_string())
        };
        let place = save(Some("shot.txt"), &files).await.unwrap();
        assert!(place.starts_with(home.path().join("output")), "{place:?}");
        assert_eq!(files.read("shot.txt", 100).await.unwrap(), b"new");
        assert!(save(None, &files).await.unwrap().starts_with(&kept));
        let place = save(None, &files.clone().private()).await.unwrap();
        assert!(!place.starts_with(&kept), "{place:?}");
        for outside in ["/etc/x.txt", "../x.txt", "../../kept/x.txt"] {
            let why = save(Some(outside), &files).await.unwrap_err();
            assert!(!why.contains(&*home.path().to_string_lossy()), "{why}");
        }
    }
}
