//! The pairing secret of this user, which the daemon and the extension share: a file that only this user can read.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tabmux_platform::files::{SafeOptions, is_own, is_private};

/// 256 random bits.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret([u8; 32]);

/// Why the secret cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    /// The file cannot be read or created.
    #[error("the pairing secret {path} cannot be used ({error})", path = .path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// Other users may know it.
    #[error(
        "the pairing secret {path} can be read by other users, so it is not safe; run `tabmux extension rotate`",
        path = .path.display()
    )]
    Open {
        /// Where.
        path: PathBuf,
    },
    /// The file contains something else.
    #[error(
        "{path} holds no pairing secret (64 hex digits); run `tabmux extension rotate`",
        path = .path.display()
    )]
    Malformed {
        /// Where.
        path: PathBuf,
    },
}

/// The path of this user's secret.
pub fn secret_file() -> PathBuf {
    tabmux_browser::profile::data_home().join("pairing-secret")
}

impl Secret {
    /// Reads the secret, and creates one first if there is none.
    pub fn load_or_make(path: &Path) -> Result<Self, SecretError> {
        match Self::load(path) {
            Err(SecretError::Io { error, .. }) if error.kind() == io::ErrorKind::NotFound => {
                match Self::make(path) {
                    // Another process created one first; use that.
                    Err(SecretError::Io { error, .. })
                        if error.kind() == io::ErrorKind::AlreadyExists =>
                    {
                        Self::load(path)
                    }
                    made => made,
                }
            }
            loaded => loaded,
        }
    }

    /// Reads the secret. Refuses a file that other users can read.
    pub fn load(path: &Path) -> Result<Self, SecretError> {
        let (error, path) = (|error| failed(path, error), path.to_owned());
        let facts = fs::symlink_metadata(&path).map_err(error)?;
        let ours = facts.is_file() && is_own(&facts);
        if !ours || !is_private(&facts) {
            return Err(SecretError::Open { path });
        }
        if facts.len() > 1_000 {
            return Err(SecretError::Malformed { path });
        }
        let text = fs::read_to_string(&path).map_err(|error| failed(&path, error))?;
        let bytes = from_hex(text.trim()).and_then(|bytes| bytes.try_into().ok());
        bytes.map(Self).ok_or(SecretError::Malformed { path })
    }

    /// Replaces the secret with a new one.
    pub fn rotate(path: &Path) -> Result<Self, SecretError> {
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(path, error)),
            _ => Self::make(path),
        }
    }

    fn make(path: &Path) -> Result<Self, SecretError> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|error| failed(path, io::Error::other(error)))?;
        let secret = Self(bytes);
        let write = || {
            if let Some(folder) = path.parent() {
                tabmux_browser::profile::private_dir(folder)?;
            }
            // The file appears complete or not at all, and never replaces another.
            let draft = path.with_extension(format!("new-{}", std::process::id()));
            let mut options = fs::OpenOptions::new();
            let mut file = options
                .write(true)
                .create(true)
                .truncate(true)
                .private()
                .open(&draft)?;
            writeln!(file, "{}", secret.to_hex())?;
            file.sync_all()?;
            let linked = fs::hard_link(&draft, path);
            fs::remove_file(&draft)?;
            linked
        };
        write().map_err(|error| failed(path, error))?;
        Ok(secret)
    }

    /// The form in which it is stored.
    pub fn to_hex(&self) -> String {
        to_hex(&self.0)
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    /// Keeps the secret out of logs.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

pub(super) fn to_hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

pub(super) fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = text
        .chars()
        .map(|c| c.to_digit(16).map(|d| d as u8))
        .collect();
    let digits = digits.filter(|digits| digits.len() % 2 == 0)?;
    Some(
        digits
            .chunks(2)
            .map(|pair| pair.iter().fold(0, |sum, digit| sum * 16 + digit))
            .collect(),
    )
}

fn failed(path: &Path, error: io::Error) -> SecretError {
    SecretError::Io {
        path: path.to_owned(),
        error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    /// Spec: security 5.
    #[test]
    fn the_secret_is_256_bits_for_its_owner_alone_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tabmux/pairing-secret");
        let secret = Secret::load_or_make(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(
            fs::metadata(path.parent().unwrap()).unwrap().mode() & 0o777,
            0o700
        );
        assert_eq!(Secret::load_or_make(&path).unwrap(), secret);
        assert_eq!(secret.to_hex().len(), 64);
        assert_eq!(format!("{secret:?}"), "Secret");
        let other = Secret::rotate(&path).unwrap();
        assert_ne!(other, secret);
        assert_eq!(Secret::load(&path).unwrap(), other);
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn a_secret_that_others_can_read_or_that_is_none_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        Secret::load_or_make(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let error = Secret::load_or_make(&path).unwrap_err().to_string();
        assert!(
            error.contains("can be read by other users") && error.contains("rotate"),
            "{error}"
        );
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        for nonsense in ["", "xyz", &"f".repeat(63), &"f".repeat(2_000)] {
            fs::write(&path, nonsense).unwrap();
            assert!(
                matches!(Secret::load(&path), Err(SecretError::Malformed { .. })),
                "{nonsense}"
            );
        }
        fs::remove_file(&path).unwrap();
        let elsewhere = folder.path().join("t");
        Secret::load_or_make(&elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
        assert!(matches!(Secret::load(&path), Err(SecretError::Open { .. })));
    }
}
