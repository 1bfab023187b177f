//! Where files without a given path go: one folder for each session, readable only by its user, with a random name,
//! removed when the session ends.

use super::blocking::FileThreads;
use super::quota::{Quota, Usage};
use super::saved::SavedFiles;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tabmux_platform::files::{Refused, SafeOptions, identity, is_own, is_private, private_folders};
use tabmux_platform::user::own_uid;

/// The output folders of one process. Created when the first is needed; a lock file next to them tells later
/// processes that this one is alive.
#[derive(Clone, Debug)]
pub struct OutputRoot(Arc<Process>);

#[derive(Debug)]
struct Process {
    /// Possible parent folders, the best first.
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
    /// A folder of the client's own: files without a path go there and are kept.
    kept: Option<PathBuf>,
    threads: FileThreads,
    quota: Quota,
    usage: Mutex<Usage>,
    saved: Mutex<SavedFiles>,
    over: AtomicBool,
}

#[derive(Debug)]
enum State {
    NotYet,
    Made(PathBuf),
    Over,
}

impl OutputRoot {
    /// In the user's cache folder; in the temporary folder if that is not writable.
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

    /// Like [`Self::session`]; files without a path go to `kept`, if given, and stay there.
    pub fn session_with(&self, kept: Option<PathBuf>, quota: Quota) -> OutputFolder {
        OutputFolder(Arc::new(Folder {
            root: self.clone(),
            state: Mutex::new(State::NotYet),
            kept,
            threads: FileThreads::new(),
            quota,
            usage: Mutex::default(),
            saved: Mutex::default(),
            over: AtomicBool::new(false),
        }))
    }

    /// Removes the folders of processes that died without removing them.
    pub async fn sweep(&self) {
        let bases = self.0.bases.clone();
        let sweep = move || bases.iter().for_each(|base| sweep(base));
        let _ = FileThreads::new().run(sweep).await;
    }

    /// Removes all remaining folders, when the process ends.
    pub async fn end(&self) {
        let root = self.clone();
        let _ = FileThreads::new().run(move || root.remove()).await;
    }

    /// A folder with a new random name. Blocks.
    pub(crate) fn make(&self) -> io::Result<PathBuf> {
        let mut run = lock(&self.0.run);
        let run = match &mut *run {
            Some(run) if run.is_there() => run,
            // There is none yet, or the cache was cleared.
            run => run.insert(Run::begin(&self.0.bases)?),
        };
        let folder = run.folder.join(fresh_name()?);
        private_folder(&folder)?;
        Ok(folder)
    }

    /// The parent folders of all output folders, including those of other processes. Blocks.
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
        let mut last = io::Error::other("there is no writable folder");
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
        // A concurrent sweep may remove the file between these steps; then another one is created.
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
        Err(io::Error::other("another program keeps removing the files"))
    }
}

impl Run {
    fn is_there(&self) -> bool {
        self.is_locked() && self.folder.is_dir()
    }

    /// Whether our lock is still the file that other processes see.
    fn is_locked(&self) -> bool {
        let seen = fs::symlink_metadata(&self.lock);
        let held = self.held.metadata();
        matches!((seen, held), (Ok(seen), Ok(held)) if identity(&seen) == identity(&held))
    }
}

impl OutputFolder {
    /// The folder's path, if it exists. Never blocks for long.
    pub(super) fn path(&self) -> Option<PathBuf> {
        match &*lock(&self.0.state) {
            State::Made(path) => Some(path.clone()),
            State::NotYet | State::Over => None,
        }
    }

    /// The folder's path; created if it does not exist. Blocks.
    pub(crate) fn make(&self) -> io::Result<PathBuf> {
        let mut state = lock(&self.0.state);
        match &*state {
            State::Made(path) if path.is_dir() => Ok(path.clone()),
            State::Over => Err(io::Error::other("the session is over")),
            // A folder that was removed is created again, under another name.
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
            Some(_) if self.0.over.load(Ordering::Relaxed) => {
                Err(io::Error::other("the session is over"))
            }
            Some(kept) => Ok(kept.clone()),
            None => self.make(),
        }
    }

    /// The folder of the client's own for files without a path, after links were resolved. Blocks.
    pub(super) fn kept(&self) -> Option<PathBuf> {
        self.0.kept.as_ref()?.canonicalize().ok()
    }

    pub(super) fn root(&self) -> &OutputRoot {
        &self.0.root
    }

    pub(crate) fn threads(&self) -> &FileThreads {
        &self.0.threads
    }

    /// Equal for clones, different for all other folders.
    pub(crate) fn number(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    pub(super) fn saved_files(&self) -> MutexGuard<'_, SavedFiles> {
        lock(&self.0.saved)
    }

    /// The downloads of the session.
    pub(crate) fn downloads(&self) -> Downloading<'_> {
        Downloading(&self.0)
    }

    /// Removes the folder with its contents, because the session has ended.
    pub async fn end(&self) {
        let folder = Arc::clone(&self.0);
        folder.over.store(true, Ordering::Relaxed);
        let remove = move || {
            let was = std::mem::replace(&mut *lock(&folder.state), State::Over);
            if let State::Made(path) = was {
                let _ = fs::remove_dir_all(path);
            }
        };
        // Separate threads: those of the session may all be stuck.
        let _ = FileThreads::new().run(remove).await;
    }
}

/// The downloads of one session, counted. Never blocks.
pub(crate) struct Downloading<'a>(&'a Folder);

impl Downloading<'_> {
    /// Counts a new download. The error is a sentence, if the quota is reached.
    pub(crate) fn begin(&self) -> Result<(), String> {
        if self.0.over.load(Ordering::Relaxed) {
            return Err(OVER.to_owned());
        }
        lock(&self.0.usage).begin(self.0.quota)
    }

    /// Counts the bytes of a download that grew from `before` to `now`, and will have `whole` if that is known.
    pub(crate) fn grow(&self, before: u64, now: u64, whole: u64) -> Result<(), String> {
        if self.0.over.load(Ordering::Relaxed) {
            return Err(OVER.to_owned());
        }
        lock(&self.0.usage).grow(before, now, whole, self.0.quota)
    }

    /// A download with so many bytes was cancelled because there were too many; the file still counts.
    pub(crate) fn give_back_bytes(&self, bytes: u64) {
        lock(&self.0.usage).give_back_bytes(bytes);
    }

    /// A download with so many bytes was cancelled and removed.
    pub(crate) fn give_back(&self, bytes: u64) {
        lock(&self.0.usage).give_back(bytes);
    }
}

/// Creates a folder that only we can access. An existing one must be like that, too: in a shared folder another user
/// could have created it first.
pub(super) fn private_folder(folder: &Path) -> io::Result<()> {
    match private_folders().create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let meta = fs::symlink_metadata(folder)?;
    let ours = meta.is_dir() && is_own(&meta) && is_private(&meta);
    ours.then_some(())
        .ok_or_else(|| io::Error::other("other users can access the folder; remove it"))
}

/// Removes folders of processes that no longer hold their lock. The lock is created before the folder and removed
/// after it, so a folder without a lock is stale, too.
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
        // Not earlier: a process that opens a lock of that name now waits for it, and then sees that it was removed.
        drop(held);
    }
}

fn open_lock(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    options
        .write(true)
        .private()
        .refusing(Refused::LinksAndWaiting)
        .open(path)
}

/// 128 random bits, for names that cannot be guessed.
pub(super) fn fresh_name() -> io::Result<String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn is_fresh_name(name: &str) -> bool {
    name.len() == 32 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// `$XDG_CACHE_HOME/tabmux/output`, or its default below the home folder. Not the runtime folder: that is in memory,
/// and small.
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
