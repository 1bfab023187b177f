//! Login state by name: cookies and local storage that sessions load when they start and save when they end.
//!
//! A state is a file that only its user can read, encrypted if there is a key. One session at a time has it, so none
//! overwrites what another one saves.

mod sealing;

use crate::files::FileThreads;
use crate::tools::StorageState;
use sealing::{Sealed, SealingError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tabmux_platform::files::{Refused, SafeOptions, private_folders};

/// A name for a state, which is also the name of its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateName(String);

impl FromStr for StateName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let fits = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
        let is_name = (1..=64).contains(&text.len()) && text.chars().all(fits);
        match is_name && !text.starts_with(['.', '-']) {
            true => Ok(Self(text.to_owned())),
            false => Err(
                "Name a state with 1 to 64 letters, digits, `_`, `-` and `.`, such as `work`."
                    .to_owned(),
            ),
        }
    }
}

impl fmt::Display for StateName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A state, and the key that it is encrypted with.
#[derive(Clone, PartialEq, Eq)]
pub struct NamedState {
    name: StateName,
    key: Option<Arc<str>>,
    folder: PathBuf,
}

/// Without the key.
impl fmt::Debug for NamedState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("NamedState").field(&self.name).finish()
    }
}

/// What is in a state, without any value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StateSummary {
    /// The number of cookies of each domain.
    pub cookies: BTreeMap<String, usize>,
    /// The number of entries in the local storage of each origin.
    pub local_storage: BTreeMap<String, usize>,
}

/// The file of a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateFile {
    /// Its name.
    pub name: StateName,
    /// When it was saved.
    pub saved: SystemTime,
    /// Its length in bytes.
    pub bytes: u64,
}

/// While this exists, no other session has the state.
#[derive(Debug)]
pub(crate) struct StateLock {
    _file: File,
}

/// The file as it is on the disk.
#[derive(Serialize, Deserialize)]
struct OnDisk {
    version: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sealed: Option<Sealed>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    state: Option<StorageState>,
}

impl NamedState {
    /// The state of this name in the user's own folder for states.
    pub fn new(name: StateName, key: Option<&str>) -> Self {
        Self::in_folder(name, key, folder())
    }

    pub(crate) fn in_folder(name: StateName, key: Option<&str>, folder: PathBuf) -> Self {
        let key = key.map(Into::into);
        Self { name, key, folder }
    }

    /// What is in it. The error is a sentence.
    ///
    /// # Errors
    /// When there is no such state, or it cannot be read.
    pub fn summary(&self) -> Result<StateSummary, String> {
        let state = self.read_now()?;
        let state = state.ok_or_else(|| no_such(&self.name))?;
        Ok(state.summary())
    }

    /// Removes it. The error is a sentence.
    ///
    /// # Errors
    /// When there is no such state, a session uses it, or it cannot be removed.
    pub fn delete(&self) -> Result<(), String> {
        let _lock = self.try_lock()?.ok_or_else(|| self.in_use())?;
        fs::remove_file(self.path()).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => no_such(&self.name),
            _ => self.failed("deleted", &error),
        })
    }

    /// Takes the state for a session. Waits a little for one that has just ended and is still saving.
    pub(crate) async fn lock(&self) -> Result<StateLock, String> {
        for _ in 0..LOCK_TRIES {
            let state = self.clone();
            if let Some(lock) = blocking(move || state.try_lock()).await? {
                return Ok(lock);
            }
            tokio::time::sleep(LOCK_PAUSE).await;
        }
        Err(self.in_use())
    }

    /// Reads it. `None` if it was never saved.
    pub(crate) async fn read(&self) -> Result<Option<StorageState>, String> {
        let state = self.clone();
        blocking(move || state.read_now()).await
    }

    /// Saves it: the whole file or nothing.
    pub(crate) async fn write(&self, content: StorageState) -> Result<(), String> {
        let state = self.clone();
        blocking(move || state.write_now(content)).await
    }

    /// Its file.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.join(format!("{}.json", self.name))
    }

    fn try_lock(&self) -> Result<Option<StateLock>, String> {
        let open = || -> io::Result<Option<StateLock>> {
            private_folders().recursive(true).create(&self.folder)?;
            let file = OpenOptions::new()
                .create(true)
                .truncate(false)
                .write(true)
                .private()
                .refusing(Refused::Links)
                .open(self.folder.join(format!(".{}.lock", self.name)))?;
            match file.try_lock() {
                Ok(()) => Ok(Some(StateLock { _file: file })),
                Err(TryLockError::WouldBlock) => Ok(None),
                Err(TryLockError::Error(error)) => Err(error),
            }
        };
        open().map_err(|error| self.failed("locked", &error))
    }

    fn read_now(&self) -> Result<Option<StorageState>, String> {
        let bytes = match self.bytes() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            bytes => bytes.map_err(|error| self.failed("read", &error))?,
        };
        #[derive(Deserialize)]
        struct Versioned {
            version: u32,
        }
        // Not the error's text: it can quote the file.
        let Versioned { version } = serde_json::from_slice(&bytes).map_err(|_| self.damaged())?;
        if version != VERSION {
            return Err(format!(
                "The state {} was saved by another version of tabmux (format {version}, and this one has {VERSION}). Use \
                 that version, or run `tabmux state delete {}` and log in again.",
                self.name, self.name
            ));
        }
        let on_disk: OnDisk = serde_json::from_slice(&bytes).map_err(|_| self.damaged())?;
        let state = match on_disk.sealed {
            Some(sealed) => self.opened(&sealed)?,
            None => on_disk.state.ok_or_else(|| self.damaged())?,
        };
        Ok(Some(state))
    }

    fn opened(&self, sealed: &Sealed) -> Result<StorageState, String> {
        let name = &self.name;
        let key = self.key.as_deref().ok_or_else(|| {
            format!("The state {name} is encrypted. Set TABMUX_STATE_KEY to the key that it was saved with.")
        })?;
        let plain = sealed.open(key, &name.0).map_err(|error| match error {
            SealingError::WrongKey => format!(
                "The state {name} was encrypted with another key. Set TABMUX_STATE_KEY to that one, or run `tabmux state \
                 delete {name}` and log in again."
            ),
            SealingError::Damaged => self.damaged(),
        })?;
        serde_json::from_slice(&plain).map_err(|_| self.damaged())
    }

    fn write_now(&self, state: StorageState) -> Result<(), String> {
        let failed = |error: &io::Error| self.failed("saved", error);
        let on_disk = match self.key.as_deref() {
            Some(key) => {
                let plain = serde_json::to_vec(&state).map_err(|error| failed(&error.into()))?;
                let sealed = Sealed::seal(key, &self.name.0, &plain);
                OnDisk {
                    version: VERSION,
                    sealed: Some(sealed.map_err(|error| failed(&error))?),
                    state: None,
                }
            }
            None => OnDisk {
                version: VERSION,
                sealed: None,
                state: Some(state),
            },
        };
        let bytes = serde_json::to_vec(&on_disk).map_err(|error| failed(&error.into()))?;
        self.replace(&bytes).map_err(|error| failed(&error))
    }

    /// Writes a new file and gives it the name, so that there is always a whole one.
    fn replace(&self, bytes: &[u8]) -> io::Result<()> {
        let draft = self.folder.join(format!(".{}.draft", self.name));
        match fs::remove_file(&draft) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = OpenOptions::new()
            .create_new(true)
            .write(true)
            .private()
            .refusing(Refused::Links)
            .open(&draft)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&draft, self.path())
    }

    fn bytes(&self) -> io::Result<Vec<u8>> {
        let file = OpenOptions::new()
            .read(true)
            .refusing(Refused::LinksAndWaiting)
            .open(self.path())?;
        let mut bytes = Vec::new();
        file.take(LONGEST).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn damaged(&self) -> String {
        format!(
            "The state {} is damaged. Run `tabmux state delete {}` and log in again.",
            self.name, self.name
        )
    }

    fn in_use(&self) -> String {
        format!(
            "Another session uses the state {}. End that session (`tabmux sessions` lists them), or use another name.",
            self.name
        )
    }

    fn failed(&self, done: &str, error: &io::Error) -> String {
        format!(
            "The state {} could not be {done}: {error}. Check the folder {}.",
            self.name,
            self.folder.display()
        )
    }
}

/// All states, by name. The error is a sentence.
///
/// # Errors
/// When the folder cannot be read.
pub fn list() -> Result<Vec<StateFile>, String> {
    list_in(&folder())
}

fn list_in(folder: &Path) -> Result<Vec<StateFile>, String> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => {
            entries.map_err(|error| format!("{} cannot be read: {error}.", folder.display()))?
        }
    };
    let mut states: Vec<_> = entries
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let about = entry.metadata().ok().filter(fs::Metadata::is_file)?;
            Some(StateFile {
                name: name.strip_suffix(".json")?.parse().ok()?,
                saved: about.modified().ok()?,
                bytes: about.len(),
            })
        })
        .collect();
    states.sort_by(|one, other| one.name.0.cmp(&other.name.0));
    Ok(states)
}

/// `$XDG_STATE_HOME/tabmux/states`.
fn folder() -> PathBuf {
    state_home().join("states")
}

/// `$XDG_STATE_HOME/tabmux`.
pub(crate) fn state_home() -> PathBuf {
    let named = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from);
    let home = || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".local/state");
    let base = named.filter(|path| path.is_absolute()).unwrap_or_else(home);
    base.join("tabmux")
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    let done = FileThreads::new().run(work).await;
    done.unwrap_or_else(|stuck| Err(format!("The folder of states cannot be used: {stuck}")))
}

fn no_such(name: &StateName) -> String {
    format!("There is no state {name}. `tabmux state list` shows all.")
}

/// The format of the file.
const VERSION: u32 = 1;
const LONGEST: u64 = 100_000_000;
const LOCK_TRIES: u32 = 25;
const LOCK_PAUSE: Duration = Duration::from_millis(200);

#[cfg(test)]
mod tests;
