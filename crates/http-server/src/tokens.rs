//! The tokens of clients. The file has only their hashes, so who reads it cannot connect.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tabmux_mcp::http::TokenLimits;
use tabmux_platform::files::{
    Refused, SafeOptions, changed_at, identity, is_own, is_private, private_folders,
};

/// Tells two contents of the file apart.
pub(crate) type FileVersion = (u64, (i64, i64));

/// The file with the tokens.
#[derive(Clone, Debug)]
pub struct TokenFile(PathBuf);

/// The name of a token: who uses it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TokenName(String);

/// What is known about a token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenEntry {
    /// Its name.
    pub name: TokenName,
    /// SHA-256 of the token, in Base64.
    hash: String,
    /// Seconds since 1970.
    created: u64,
    /// When it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires: Option<u64>,
    /// What it allows.
    #[serde(default, flatten)]
    pub limits: TokenLimits,
}

/// All tokens, as they were when the file was read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokens {
    /// In the order in which they were added.
    pub tokens: Vec<TokenEntry>,
}

/// Why tokens cannot be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The system refused.
    #[error("{} cannot be {what} ({error})", path.display())]
    System {
        /// The file.
        path: PathBuf,
        /// What was tried.
        what: &'static str,
        /// What the system said.
        error: io::Error,
    },
    /// Others could read or change it.
    #[error("{} must belong to you alone; run `chmod 600` on it", .0.display())]
    NotPrivate(PathBuf),
    /// It is no list of tokens.
    #[error("{} is damaged ({why}); remove it and add the tokens again", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// There is one already.
    #[error("there is a token `{0}` already; revoke it first with `tabmux token revoke {0}`")]
    Taken(TokenName),
    /// There is none.
    #[error("there is no token `{0}`; `tabmux token list` shows the tokens")]
    Missing(TokenName),
    /// Another command does not end.
    #[error("{} is being changed by another `tabmux token`; try again", .0.display())]
    Busy(PathBuf),
    /// There are enough.
    #[error("there are {MOST_TOKENS} tokens already; revoke one first")]
    TooMany,
}

impl TokenFile {
    /// The tokens in this file, which need not exist.
    pub fn at(path: PathBuf) -> Self {
        Self(path)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Which file it is, and when it was last changed; `None` if it is not there. Each change makes another file.
    pub(crate) fn version(&self) -> Result<Option<FileVersion>, TokenError> {
        match fs::metadata(&self.0) {
            Ok(about) => Ok(Some((identity(&about), changed_at(&about)))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.failed("read", error)),
        }
    }

    /// All tokens.
    ///
    /// # Errors
    /// When the file cannot be trusted.
    pub fn read(&self) -> Result<Tokens, TokenError> {
        let opened = OpenOptions::new()
            .read(true)
            .refusing(Refused::LinksAndWaiting)
            .open(&self.0);
        let mut file = match opened {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Tokens::default()),
            Err(error) => return Err(self.failed("read", error)),
        };
        let about = file
            .metadata()
            .map_err(|error| self.failed("read", error))?;
        if !about.is_file() || !is_own(&about) || !is_private(&about) {
            return Err(TokenError::NotPrivate(self.0.clone()));
        }
        let mut text = String::new();
        let mut bounded = Read::by_ref(&mut file).take(MOST_BYTES);
        bounded
            .read_to_string(&mut text)
            .map_err(|error| self.failed("read", error))?;
        serde_json::from_str(&text).map_err(|error| TokenError::Damaged {
            path: self.0.clone(),
            why: error.to_string(),
        })
    }

    /// Makes a token, which is shown once.
    ///
    /// # Errors
    /// When there is one of this name, or the file cannot be written.
    pub fn add(
        &self,
        name: TokenName,
        lives: Option<Duration>,
        limits: TokenLimits,
    ) -> Result<String, TokenError> {
        let mut bytes = [0; TOKEN_BYTES];
        getrandom::fill(&mut bytes)
            .map_err(|error| self.failed("written", io::Error::other(error)))?;
        let token = format!("{PREFIX}{}", BASE64_URL_SAFE_NO_PAD.encode(bytes));
        let now = seconds(SystemTime::now());
        let entry = TokenEntry {
            name,
            hash: hash(&token),
            created: now,
            expires: lives.map(|lives| now.saturating_add(lives.as_secs())),
            limits,
        };
        self.change(|tokens| {
            if tokens.iter().any(|token| token.name == entry.name) {
                return Err(TokenError::Taken(entry.name));
            }
            if tokens.len() >= MOST_TOKENS {
                return Err(TokenError::TooMany);
            }
            tokens.push(entry);
            Ok(())
        })?;
        Ok(token)
    }

    /// Removes a token. Its sessions end within a second.
    ///
    /// # Errors
    /// When there is none of this name, or the file cannot be written.
    pub fn revoke(&self, name: &TokenName) -> Result<(), TokenError> {
        self.change(|tokens| {
            let before = tokens.len();
            tokens.retain(|token| token.name != *name);
            match tokens.len() == before {
                true => Err(TokenError::Missing(name.clone())),
                false => Ok(()),
            }
        })
    }

    /// Changes the tokens. One command at a time does, so that none loses what another one wrote.
    fn change(
        &self,
        change: impl FnOnce(&mut Vec<TokenEntry>) -> Result<(), TokenError>,
    ) -> Result<(), TokenError> {
        let failed = |error| self.failed("written", error);
        let folder = self.0.parent().unwrap_or_else(|| Path::new("."));
        private_folders()
            .recursive(true)
            .create(folder)
            .map_err(failed)?;
        let _lock = self.lock()?;
        let mut tokens = self.read()?;
        change(&mut tokens.tokens)?;
        self.write(&tokens)
    }

    /// The lock for changes. The system frees it when this command ends, however it ends.
    fn lock(&self) -> Result<File, TokenError> {
        let failed = |error| self.failed("locked", error);
        let lock = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .private()
            .refusing(Refused::LinksAndWaiting)
            .open(self.0.with_extension("lock"))
            .map_err(failed)?;
        let give_up = Instant::now() + LOCK_LIMIT;
        loop {
            match lock.try_lock() {
                Ok(()) => return Ok(lock),
                Err(TryLockError::Error(error)) => return Err(failed(error)),
                Err(TryLockError::WouldBlock) if Instant::now() > give_up => {
                    return Err(TokenError::Busy(self.0.clone()));
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_PAUSE),
            }
        }
    }

    /// Replaces the file as a whole, so that no reader sees a part of it.
    fn write(&self, tokens: &Tokens) -> Result<(), TokenError> {
        let failed = |error| self.failed("written", error);
        let new = self.0.with_extension(format!("{}.new", std::process::id()));
        let text = serde_json::to_string_pretty(tokens).map_err(|error| failed(error.into()))?;
        let written = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .private()
            .refusing(Refused::Links)
            .open(&new)
            .and_then(|mut file| {
                file.write_all(text.as_bytes())?;
                file.sync_all()
            })
            .and_then(|()| fs::rename(&new, &self.0));
        if written.is_err() {
            let _ = fs::remove_file(&new);
        }
        written.map_err(failed)
    }

    fn failed(&self, what: &'static str, error: io::Error) -> TokenError {
        TokenError::System {
            path: self.0.clone(),
            what,
            error,
        }
    }
}

impl Tokens {
    /// Whose token this is, if it is valid now. Takes the same time for every wrong token.
    pub(crate) fn holder(&self, token: &str) -> Option<&TokenEntry> {
        let hash = hash(token);
        let now = seconds(SystemTime::now());
        let mut found = None;
        for entry in &self.tokens {
            if is_same(entry.hash.as_bytes(), hash.as_bytes()) && entry.is_valid_at(now) {
                found = Some(entry);
            }
        }
        found
    }

    /// Whether this token is valid. A new token of the same name is another one.
    pub(crate) fn has(&self, key: &str) -> bool {
        let now = seconds(SystemTime::now());
        let mut valid = self.tokens.iter().filter(|entry| entry.is_valid_at(now));
        valid.any(|entry| entry.key() == key)
    }
}

impl TokenEntry {
    /// When it was made.
    pub fn created(&self) -> SystemTime {
        time(self.created)
    }

    /// When it ends, if ever.
    pub fn expires(&self) -> Option<SystemTime> {
        self.expires.map(time)
    }

    /// What tells it from another token of the same name.
    pub(crate) fn key(&self) -> &str {
        &self.hash
    }

    fn is_valid_at(&self, now: u64) -> bool {
        self.expires.is_none_or(|expires| now < expires)
    }
}

impl TokenName {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for TokenName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_good =
            |character: char| character.is_ascii_alphanumeric() || "._-".contains(character);
        match !text.is_empty() && text.len() <= LONGEST_NAME && text.chars().all(is_good) {
            true => Ok(Self(text.to_owned())),
            false => Err(format!(
                "a name has at most {LONGEST_NAME} letters, digits, dots, hyphens and underscores"
            )),
        }
    }
}

impl TryFrom<String> for TokenName {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<TokenName> for String {
    fn from(name: TokenName) -> Self {
        name.0
    }
}

impl fmt::Display for TokenName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A token is random, so a fast hash is enough: there is nothing to guess.
fn hash(token: &str) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(token))
}

/// Compares without ending at the first difference.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    let difference = one.iter().zip(other).fold(0, |all, (a, b)| all | (a ^ b));
    one.len() == other.len() && difference == 0
}

/// A time that can be written, even if the file says another one.
fn time(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(seconds.min(LAST_SECOND))
}

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs()
}

/// So that tools that search for leaked secrets recognise it.
const PREFIX: &str = "tabmux_";
const TOKEN_BYTES: usize = 32;
const LONGEST_NAME: usize = 64;
/// The end of the year 9999.
const LAST_SECOND: u64 = 253_402_300_799;
const LOCK_LIMIT: Duration = Duration::from_secs(5);
const LOCK_PAUSE: Duration = Duration::from_millis(5);
const MOST_TOKENS: usize = 256;
const MOST_BYTES: u64 = 1 << 20;

#[cfg(test)]
mod tests;
