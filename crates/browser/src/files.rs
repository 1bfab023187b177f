//! Where a client may read and write files: only in its own folders and in its session's output folder. All file work
//! runs on threads that may block, with a deadline.

mod blocking;
mod draft;
mod masking;
mod output;
mod quota;
mod roots;
mod saved;

pub(crate) use blocking::FileThreads;
pub use draft::Draft;
pub use output::{OutputFolder, OutputRoot};
pub use quota::Quota;
pub use roots::Roots;
pub use saved::{SavedFile, SavedPart};

use crate::error::ToolError;
use draft::Open;
use roots::{Refusal, Resolved};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// The files of one client.
#[derive(Clone, Debug)]
pub struct Files {
    roots: Arc<Roots>,
    output: OutputFolder,
    /// Whether paths are names in the session's own folder.
    is_remote: bool,
    /// Whether files without a path go there, too, even if the client has another folder for them.
    is_private: bool,
    /// The number of the file that was written last.
    last: LastSaved,
}

/// Shared by the clones that one call uses.
#[derive(Clone, Debug, Default)]
struct LastSaved(Arc<OnceLock<u64>>);

/// Where a tool writes its file.
#[derive(Clone, Debug)]
pub struct Destination {
    path: Option<String>,
    overwrite: bool,
    extension: &'static str,
}

impl Destination {
    /// At `path`, or under a new name with this extension. An existing file is replaced only with `overwrite`.
    pub fn new(path: Option<&str>, overwrite: Option<bool>, extension: &'static str) -> Self {
        Self {
            path: path.map(str::to_owned),
            overwrite: overwrite == Some(true),
            extension,
        }
    }
}

impl Files {
    /// The files of a client with these folders, in a session with this output folder.
    pub fn new(roots: Roots, output: OutputFolder) -> Self {
        Self {
            roots: Arc::new(roots),
            output,
            is_remote: false,
            is_private: false,
            last: LastSaved::default(),
        }
    }

    /// The same for a client on another machine: its paths are names in the session's folder.
    #[must_use]
    pub fn of_remote_client(self) -> Self {
        Self {
            is_remote: true,
            ..self
        }
    }

    /// The same for a call whose file is read once: it does not go to a folder of the client.
    #[must_use]
    pub fn private(self) -> Self {
        Self {
            is_private: true,
            ..self
        }
    }

    /// The number of the first file that was written, or found, by the call that these are for.
    pub fn last_saved(&self) -> Option<u64> {
        self.last.0.get().copied()
    }

    /// Makes a file that is there already the result of the call, if the client may read it.
    pub(crate) async fn hand_out(&self, path: &str) -> Result<(), ToolError> {
        let number = match self.output.number_of(Path::new(path)) {
            Some(number) => number,
            None => self.output.note_saved(&self.readable(path).await?),
        };
        let _ = self.last.0.set(number);
        Ok(())
    }

    /// A file of the client that another program will read, such as one to upload.
    pub async fn readable(&self, path: &str) -> Result<PathBuf, ToolError> {
        let look = |place: &Path| draft::open_to_read(place).map(drop);
        self.reading(path, look).await.map(|(place, ())| place)
    }

    /// The contents of a client's file, at most `most` bytes.
    pub async fn read(&self, path: &str, most: u64) -> Result<Vec<u8>, ToolError> {
        let read = move |place: &Path| draft::read_whole(place, most);
        self.reading(path, read).await.map(|(_, bytes)| bytes)
    }

    /// Starts a file that is written in parts.
    pub async fn create(&self, to: Destination) -> Result<Draft, ToolError> {
        let opened = self.writing(to, Ok).await?;
        Ok(Draft::new(opened, self.clone()))
    }

    /// Writes a whole file, or nothing.
    pub async fn save(&self, to: Destination, bytes: Vec<u8>) -> Result<PathBuf, ToolError> {
        let save = move |mut open: Open| match open.write(&bytes).and_then(|()| open.keep()) {
            Ok(()) => Ok(open.place().to_owned()),
            Err(error) => {
                open.discard();
                Err(Problem::from(error))
            }
        };
        let place = self.writing(to, save).await?;
        self.note(&place);
        Ok(place)
    }

    /// A path as the client may see it.
    fn shown(&self, place: &Path) -> String {
        let name = place.file_name().filter(|_| self.is_remote);
        name.map_or(place.as_os_str(), |name| name)
            .to_string_lossy()
            .into_owned()
    }

    /// A file is complete.
    fn note(&self, place: &Path) {
        let _ = self.last.0.set(self.output.note_saved(place));
    }

    /// The folder of the client's session.
    pub(crate) fn output(&self) -> &OutputFolder {
        &self.output
    }

    async fn reading<T: Send + 'static>(
        &self,
        path: &str,
        read: impl FnOnce(&Path) -> Result<T, Problem> + Send + 'static,
    ) -> Result<(PathBuf, T), ToolError> {
        let (files, named) = (self.clone(), PathBuf::from(path));
        let work = move || {
            let place = files.resolve().to_read(&named)?;
            let read = read(&place)?;
            Ok((place, read))
        };
        self.run(path, "read", work).await
    }

    async fn writing<T: Send + 'static>(
        &self,
        to: Destination,
        write: impl FnOnce(Open) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, ToolError> {
        let files = self.clone();
        let named = to.path.clone();
        let work = move || {
            let open = match &to.path {
                Some(path) => {
                    let place = files.resolve().to_write(Path::new(path))?;
                    Open::begin(place, to.overwrite)?
                }
                None => fresh(&files.for_fresh_files()?, to.extension)?,
            };
            write(open)
        };
        let what = named.as_deref().unwrap_or("A new file");
        self.run(what, "written", work).await
    }

    async fn run<T: Send + 'static>(
        &self,
        path: &str,
        done: &str,
        work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, ToolError> {
        let path = tabmux_text::one_line(path, LONGEST_SHOWN);
        let fail = |why: String| ToolError::File(format!("{path} cannot be {done}: {why}"));
        match self.output.threads().run(work).await {
            Ok(result) => result.map_err(|problem| fail(problem.to_string())),
            Err(stuck) => Err(fail(stuck.to_string())),
        }
    }

    fn for_fresh_files(&self) -> io::Result<PathBuf> {
        match self.is_private {
            true => self.output.make(),
            false => self.output.for_fresh_files(),
        }
    }

    fn resolve(&self) -> Resolved {
        Resolved {
            is_remote: self.is_remote,
            roots: self.roots.resolve(),
            named: self.roots.resolve_named(),
            own: match self.is_remote {
                // Its relative paths start there.
                true => self.output.make().ok(),
                false => self.output.path(),
            },
            kept: self.output.kept(),
            outputs: self.output.root().bases(),
        }
    }
}

impl Resolved {
    /// The path of a file to read, after links were resolved. A remote client does not learn what else there is.
    fn to_read(&self, path: &Path) -> Result<PathBuf, Problem> {
        let place = match self.is_remote {
            true => {
                let place = self.lexical(path).map_err(|refusal| self.told(refusal))?;
                place.canonicalize().map_err(|_| Problem::Missing)?
            }
            false => self.whole(path)?.canonicalize()?,
        };
        self.may_use(&place)?;
        Ok(place)
    }

    /// The path of a file to write, in an existing folder.
    fn to_write(&self, path: &Path) -> Result<PathBuf, Problem> {
        let whole = self.whole(path)?;
        let (Some(folder), Some(name)) = (whole.parent(), whole.file_name()) else {
            return Err(Problem::NoName);
        };
        let folder = folder.canonicalize().map_err(Problem::Folder)?;
        let place = folder.join(name);
        self.may_use(&place)?;
        Ok(place)
    }

    fn whole(&self, path: &Path) -> Result<PathBuf, Problem> {
        if self.is_remote {
            // It writes nowhere else, not even in the folders that it reads.
            if !roots::is_name(path) {
                return Err(self.told(Refusal::Outside));
            }
            let own = self.own.as_ref().ok_or(Problem::NoFolder)?;
            return Ok(own.join(path));
        }
        match self.roots.first() {
            Some(first) => Ok(first.join(path)),
            None if path.is_absolute() => Ok(path.to_owned()),
            None => Err(Problem::NoFolder),
        }
    }

    fn may_use(&self, place: &Path) -> Result<(), Problem> {
        self.check(place).map_err(|refusal| self.told(refusal))
    }

    fn told(&self, refusal: Refusal) -> Problem {
        match refusal {
            Refusal::Outside => Problem::Outside(self.words()),
            Refusal::Hidden(name) => Problem::Hidden(name),
        }
    }
}

/// The content of a file that a flag names, in any folder, unless it is longer than `max`.
pub(crate) async fn read_by_flag(path: &Path, max: u64) -> Result<Vec<u8>, ToolError> {
    let named = path.to_owned();
    let work = move || draft::read_whole(&named.canonicalize()?, max);
    let why = match FileThreads::new().run(work).await {
        Ok(Ok(bytes)) => return Ok(bytes),
        Ok(Err(problem)) => problem.to_string(),
        Err(stuck) => stuck.to_string(),
    };
    let path = tabmux_text::one_line(&path.to_string_lossy(), LONGEST_SHOWN);
    Err(ToolError::File(format!("{path} cannot be read: {why}")))
}

/// A new file, under the next free number.
fn fresh(folder: &Path, extension: &str) -> Result<Open, Problem> {
    for number in 1..=MOST_FRESH_FILES {
        match Open::begin(folder.join(format!("tabmux-{number}.{extension}")), false) {
            Err(Problem::Taken | Problem::NotRegular) => {}
            Err(Problem::Io(error)) if error.kind() == io::ErrorKind::AlreadyExists => {}
            opened => return opened,
        }
    }
    Err(Problem::Full)
}

/// Why a file cannot be used; the text completes the sentence.
#[derive(Debug, thiserror::Error)]
enum Problem {
    #[error("it is outside {0}.")]
    Outside(String),
    #[error(
        "it is hidden ({0}), and agents may not use hidden files and folders. Use another path, or start tabmux with a \
         --filesystemRoot inside that folder."
    )]
    Hidden(String),
    #[error("it exists already. Pass overwrite: true to replace it, or use another path.")]
    Taken,
    #[error("there is no such file.")]
    Missing,
    #[error("it is not a regular file.")]
    NotRegular,
    #[error("it is longer than {0} bytes.")]
    TooLong(u64),
    #[error(
        "this client has no folder of its own. Omit the path, or start tabmux in a project folder."
    )]
    NoFolder,
    #[error("it names no file.")]
    NoName,
    #[error("its folder does not exist ({0}).")]
    Folder(io::Error),
    #[error("there are {MOST_FRESH_FILES} already. Name a path.")]
    Full,
    #[error("{0}.")]
    Io(#[from] io::Error),
}

/// How many unnamed files of one kind a session may have; this limits the search for a free name.
const MOST_FRESH_FILES: u32 = 10_000;

/// How much of a path an error repeats.
const LONGEST_SHOWN: usize = 300;

#[cfg(test)]
mod tests;
