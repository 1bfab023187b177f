//! A file while it is being written: it gets its final name when it is complete, and is removed otherwise.

use super::blocking::Stuck;
use super::output::fresh_name;
use super::{Files, Problem, masking};
use crate::error::ToolError;
use serde::Serialize;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tabmux_platform::files::{Refused, SafeOptions, plain_permissions};

/// A file that is written in parts. It is removed unless it is [kept](Self::keep); an existing file is replaced only
/// then.
#[derive(Debug)]
pub struct Draft {
    open: Option<Open>,
    place: PathBuf,
    files: Files,
}

impl Draft {
    pub(super) fn new(open: Open, files: Files) -> Self {
        Self {
            place: open.place.clone(),
            open: Some(open),
            files,
        }
    }

    /// The final path of the file.
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// Appends bytes.
    pub async fn write(&mut self, bytes: Vec<u8>) -> Result<(), ToolError> {
        let write = move |open: &mut Open| open.write(&bytes);
        self.with(super::blocking::LIMIT, write).await
    }

    /// Writes a value as pretty JSON, without holding the whole text in memory.
    pub(crate) async fn write_json(
        &mut self,
        value: impl Serialize + Send + 'static,
    ) -> Result<(), ToolError> {
        let write = move |open: &mut Open| {
            let mut file = BufWriter::new(open.file()?);
            serde_json::to_writer_pretty(&mut file, &value)?;
            file.flush()
        };
        self.with(super::blocking::LIMIT, write).await
    }

    /// Reads what has been written so far, from the start.
    pub(crate) async fn read_back<T: Send + 'static>(
        &mut self,
        read: impl FnOnce(&mut File) -> T + Send + 'static,
    ) -> Result<T, ToolError> {
        let read = move |open: &mut Open| {
            let file = open.file()?;
            file.rewind()?;
            Ok(read(file))
        };
        self.with(READ_LIMIT, read).await
    }

    /// Moves the file to its final path.
    pub async fn keep(mut self) -> Result<PathBuf, ToolError> {
        self.with(super::blocking::LIMIT, Open::keep).await?;
        self.files.note(&self.place);
        Ok(std::mem::take(&mut self.place))
    }

    async fn with<T: Send + 'static>(
        &mut self,
        limit: Duration,
        work: impl FnOnce(&mut Open) -> io::Result<T> + Send + 'static,
    ) -> Result<T, ToolError> {
        let fail = |why: String| {
            let name = self.files.shown(&self.place);
            ToolError::File(format!("{name} cannot be written: {why}"))
        };
        let mut open = self
            .open
            .take()
            .ok_or_else(|| fail(Stuck::Slow.to_string()))?;
        let work = move || {
            let done = work(&mut open);
            (open, done)
        };
        let threads = self.files.output().threads();
        let done = threads.run_within(limit, work).await;
        let (open, done) = done.map_err(|stuck| fail(stuck.to_string()))?;
        self.open = Some(open);
        done.map_err(|error| fail(format!("{error}.")))
    }
}

/// The file itself. Its methods block, except drop.
#[derive(Debug)]
pub(super) struct Open {
    file: Option<File>,
    /// Its path until it is complete.
    at: PathBuf,
    place: PathBuf,
}

impl Open {
    /// Creates a new file, or a temporary one that will replace an existing file.
    pub(super) fn begin(place: PathBuf, overwrite: bool) -> Result<Self, Problem> {
        let old = match fs::symlink_metadata(&place) {
            Ok(old) if !old.is_file() => return Err(Problem::NotRegular),
            Ok(_) if !overwrite => return Err(Problem::Taken),
            Ok(old) => old,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Self::at(place.clone(), place).map_err(Problem::from);
            }
            Err(error) => return Err(error.into()),
        };
        // The old file stays complete until the new one is.
        let temporary = place.with_file_name(format!(".tabmux-{}", fresh_name()?));
        let open = Self::at(temporary, place)?;
        if let Some(file) = &open.file {
            file.set_permissions(plain_permissions(&old))?;
        }
        Ok(open)
    }

    fn at(at: PathBuf, place: PathBuf) -> io::Result<Self> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .private()
            .refusing(Refused::LinksAndWaiting)
            .open(&at)?;
        Ok(Self {
            file: Some(file),
            at,
            place,
        })
    }

    pub(super) fn place(&self) -> &Path {
        &self.place
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file()?.write_all(bytes)
    }

    fn file(&mut self) -> io::Result<&mut File> {
        let file = self.file.as_mut();
        file.ok_or_else(|| io::Error::other("it is closed"))
    }

    pub(super) fn keep(&mut self) -> io::Result<()> {
        if let Some(file) = self.file.as_mut() {
            masking::mask(file)?;
        }
        if self.at != self.place {
            fs::rename(&self.at, &self.place)?;
        }
        self.file = None;
        Ok(())
    }

    /// Removes it now.
    pub(super) fn discard(mut self) {
        if self.file.take().is_some() {
            let _ = fs::remove_file(&self.at);
        }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let Some(file) = self.file.take() else {
            return;
        };
        let at = std::mem::take(&mut self.at);
        let remove = move || {
            drop(file);
            let _ = fs::remove_file(at);
        };
        // A drop can happen on a worker thread of the runtime, which must not block.
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(remove)),
            Err(_) => remove(),
        }
    }
}

/// Opens a regular file for reading. Does not wait for a FIFO.
pub(super) fn open_to_read(place: &Path) -> Result<File, Problem> {
    let file = OpenOptions::new()
        .read(true)
        .refusing(Refused::LinksAndWaiting)
        .open(place)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(Problem::NotRegular),
    }
}

/// Reads a whole file, at most `most` bytes.
pub(super) fn read_whole(place: &Path, most: u64) -> Result<Vec<u8>, Problem> {
    let mut bytes = Vec::new();
    let file = open_to_read(place)?;
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > most {
        true => Err(Problem::TooLong(most)),
        false => Ok(bytes),
    }
}

/// Reading a large file, such as a trace, takes longer.
const READ_LIMIT: Duration = Duration::from_secs(60);
