//! Where files go that nobody named a path for: a folder for each session that only its user can read, with a
//! name that cannot be guessed, gone with the session.

use super::blocking::FileThreads;
use super::quota::{Quota, Usage};
use crate::user::own_uid;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The output folders of one process. Made when the first is needed; a lock beside them tells later processes
/// that this one lives.
#[derive(Clone, Debug)]
pub struct OutputRoot(Arc<Process>);

#[derive(Debug)]
struct Process {
    /// Where it may be, the best first.
    bases: Vec<PathBuf>,
    run: Mutex<Option<Run>>,
}

#[derive(Debug)]
struct Run {
    folder: PathBuf,
    lock: PathBuf,
    /// Locked as long as it is open.
    held: File,
}

/// The output folder of one session. Clones are the same folder.
#[derive(Clone, Debug)]
pub struct OutputFolder(Arc<Folder>);

#[derive(Debug)]
struct Folder {
    root: OutputRoot,
    state: Mutex<State>,
    /// A folder of the client's own, in which files without a path go and stay.
    kept: Option<PathBuf>,
    threads: FileThreads,
    quota: Quota,
    usage: Mutex<Usage>,
    over: AtomicBool,
}

#[derive(Debug)]
enum State {
    NotYet,
    Made(PathBuf),
    Over,
}

impl OutputRoot {
    /// In the user's cache folder, or where that cannot be written, in the temporary folder.
    pub fn usual() -> Self {
        let temporary = std::env::temp_dir().join(format!("tabmux-output-{}", own_uid()));
        Self::among(cache_home().into_iter().chain([temporary]).collect())
    }

    /// In this folder only.
    pub fn at(base: PathBuf) -> Self {
        Self::among(vec![base])
    }

    fn among(bases: Vec<PathBuf>) -> Self {
        let run = Mutex::new(None);
        Self(Arc::new(Process { bases, run }))
    }

    /// The folder of a new session.
    pub fn session(&self) -> OutputFolder {
        self.session_with(None, Quota::default())
    }

    /// The same; files without a path go to `kept`, if there is one, and stay there.
    pub fn session_with(&self, kept: Option<PathBuf>, quota: Quota) -> OutputFolder {
        OutputFolder(Arc::new(Folder {
            root: self.clone(),
            state: Mutex::new(State::NotYet),
            kept,
            threads: FileThreads::new(),
            quota,
            usage: Mutex::default(),
            over: AtomicBool::new(false),
        }))
    }

    /// Removes what processes left that ended without removing it.
    pub async fn sweep(&self) {
        let bases = self.0.bases.clone();
        let sweep = move || bases.iter().for_each(|base| sweep(base));
        let _ = FileThreads::new().run(sweep).await;
    }

    /// Removes everything that is still there, at the end of the process.
    pub async fn end(&self) {
        let root = self.clone();
        let _ = FileThreads::new().run(move || root.remove()).await;
    }

    /// A folder with a fresh name. Blocks.
    pub(crate) fn make(&self) -> io::Result<PathBuf> {
        let mut run = lock(&self.0.run);
        let run = match &mut *run {
            Some(run) if run.is_there() => run,
            // None yet, or somebody has cleared the cache.
            run => run.insert(Run::begin(&self.0.bases)?),
        };
        let folder = run.folder.join(fresh_name()?);
        private_folder(&folder)?;
        Ok(folder)
    }

    /// Where output folders are, also those of other processes. Blocks.
    pub(super) fn bases(&self) -> Vec<PathBuf> {
        let bases = self.0.bases.iter();
        bases.filter_map(|base| base.canonicalize().ok()).collect()
    }

    fn remove(&self) {
        if let Some(run) = lock(&self.0.run).take() {
            let _ = fs::remove_dir_all(&run.folder);
            let _ = fs::remove_file(&run.lock);
        }
    }
}

impl Run {
    fn begin(bases: &[PathBuf]) -> io::Result<Self> {
        let mut last = io::Error::other("there is no place for it");
        for base in bases {
            match Self::begin_in(base) {
                Ok(run) => return Ok(run),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    fn begin_in(base: &Path) -> io::Result<Self> {
        if let Some(above) = base.parent() {
            crate::profile::private_dir(above)?;
        }
        private_folder(base)?;
        let base = base.canonicalize()?;
        // Whoever sweeps between these steps takes the file away, and another is made.
        for _ in 0..TRIES {
            let name = fresh_name()?;
            let lock = base.join(format!("{name}{LOCK}"));
            let held = open_lock(OpenOptions::new().create_new(true), &lock)?;
            held.lock()?;
            let run = Self {
                folder: base.join(name),
                lock,
                held,
            };
            if !run.is_locked() {
                continue;
            }
            private_folder(&run.folder)?;
            return Ok(run);
        }
        Err(io::Error::other(
            "somebody keeps removing what is made there",
        ))
    }
}

impl Run {
    fn is_there(&self) -> bool {
        self.is_locked() && self.folder.is_dir()
    }

    /// Whether the lock that is held is the one that others see.
    fn is_locked(&self) -> bool {
        let seen = fs::symlink_metadata(&self.lock);
        let held = self.held.metadata();
        matches!((seen, held), (Ok(seen), Ok(held)) if seen.ino() == held.ino())
    }
}

impl OutputFolder {
    /// The folder's path, if it is there. Never blocks for long.
    pub(super) fn path(&self) -> Option<PathBuf> {
        match &*lock(&self.0.state) {
            State::Made(path) => Some(path.clone()),
            State::NotYet | State::Over => None,
        }
    }

    /// The folder's path; it is made if it is not there. Blocks.
    pub(crate) fn make(&self) -> io::Result<PathBuf> {
        let mut state = lock(&self.0.state);
        match &*state {
            State::Made(path) if path.is_dir() => Ok(path.clone()),
            State::Over => Err(io::Error::other("the session is over")),
            // A folder that somebody has removed is made again, elsewhere.
            State::NotYet | State::Made(_) => {
                let path = self.0.root.make()?;
                *state = State::Made(path.clone());
                Ok(path)
            }
        }
    }

    /// Where files without a path go. Blocks.
    pub(super) fn for_fresh_files(&self) -> io::Result<PathBuf> {
        match &self.0.kept {
            Some(kept) => Ok(kept.clone()),
            None => self.make(),
        }
    }

    pub(super) fn root(&self) -> &OutputRoot {
        &self.0.root
    }

    pub(crate) fn threads(&self) -> &FileThreads {
        &self.0.threads
    }

    /// The same for its clones, and for no other folder.
    pub(crate) fn number(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    /// What the session downloads.
    pub(crate) fn downloads(&self) -> Downloading<'_> {
        Downloading(&self.0)
    }

    /// Removes the folder with all that is in it: the session is over.
    pub async fn end(&self) {
        let folder = Arc::clone(&self.0);
        folder.over.store(true, Ordering::Relaxed);
        let remove = move || {
            let was = std::mem::replace(&mut *lock(&folder.state), State::Over);
            if let State::Made(path) = was {
                let _ = fs::remove_dir_all(path);
            }
        };
        // Threads of its own: those of the session may all be stuck.
        let _ = FileThreads::new().run(remove).await;
    }
}

/// The downloads of one session, counted. Never blocks.
pub(crate) struct Downloading<'a>(&'a Folder);

impl Downloading<'_> {
    /// One more begins. Fails, in words, if it may not.
    pub(crate) fn begin(&self) -> Result<(), String> {
        if self.0.over.load(Ordering::Relaxed) {
            return Err(OVER.to_owned());
        }
        lock(&self.0.usage).begin(self.0.quota)
    }

    /// One that had `before` bytes has `now`, and will have `whole` if that is known.
    pub(crate) fn grow(&self, before: u64, now: u64, whole: u64) -> Result<(), String> {
        if self.0.over.load(Ordering::Relaxed) {
            return Err(OVER.to_owned());
        }
        lock(&self.0.usage).grow(before, now, whole, self.0.quota)
    }

    /// One that had so many bytes was stopped because there were too many, and counts as one of them.
    pub(crate) fn give_back_bytes(&self, bytes: u64) {
        lock(&self.0.usage).give_back_bytes(bytes);
    }

    /// One that had so many bytes was stopped, and is gone.
    pub(crate) fn give_back(&self, bytes: u64) {
        lock(&self.0.usage).give_back(bytes);
    }
}

/// Makes a folder that is ours alone. One that is there already must be: in a shared place
/// somebody else could have made it first.
pub(super) fn private_folder(folder: &Path) -> io::Result<()> {
    match fs::DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let meta = fs::symlink_metadata(folder)?;
    let ours = meta.is_dir() && meta.uid() == own_uid() && meta.mode() & 0o077 == 0;
    ours.then_some(())
        .ok_or_else(|| io::Error::other("the folder is not ours alone; remove it"))
}

/// Removes folders of processes whose lock nobody holds. The lock is made before the folder and removed after it,
/// so a folder without one is nobody's, either.
fn sweep(base: &Path) {
    let Ok(entries) = fs::read_dir(base) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        let run = name.strip_suffix(LOCK).unwrap_or(name);
        if !is_fresh_name(run) {
            continue;
        }
        let lock = base.join(format!("{run}{LOCK}"));
        let held = open_lock(&mut OpenOptions::new(), &lock);
        let is_alive = match &held {
            Ok(file) => file.try_lock().is_err(),
            Err(error) => error.kind() != io::ErrorKind::NotFound,
        };
        if !is_alive {
            let _ = fs::remove_dir_all(base.join(run));
            let _ = fs::remove_file(lock);
        }
        // Not before: who makes a lock of that name just now waits for it, and then sees that it is gone.
        drop(held);
    }
}

fn open_lock(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    options
        .write(true)
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
        .open(path)
}

/// 128 random bits, for names that nobody guesses.
pub(super) fn fresh_name() -> io::Result<String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn is_fresh_name(name: &str) -> bool {
    name.len() == 32 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// `$XDG_CACHE_HOME/tabmux/output`, or its usual place below the home folder. Not the runtime folder: that is
/// memory, and small.
fn cache_home() -> Option<PathBuf> {
    let named = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let usual = || std::env::home_dir().map(|home| home.join(".cache"));
    let cache = named.filter(|path| path.is_absolute()).or_else(usual)?;
    Some(cache.join("tabmux/output"))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

const OVER: &str = "the session is over.";
const LOCK: &str = ".lock";
const TRIES: usize = 10;

#[cfg(test)]
mod tests;
