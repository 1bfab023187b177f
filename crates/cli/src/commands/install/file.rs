//! Reads a config file, and replaces it atomically with a backup.

use anyhow::{Context, bail};
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use tabmux_platform::files::{SafeOptions, private_folders};

/// The file's text, or `None` if there is no file.
pub(super) fn read(path: &Path) -> anyhow::Result<Option<String>> {
    match fs::read(path) {
        Ok(bytes) => match String::from_utf8(bytes) {
            Ok(text) => Ok(Some(text)),
            Err(_) => bail!(
                "{} is not text (UTF-8), so it was not changed. Fix it, then run this again.",
                path.display()
            ),
        },
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => bail!(
            "{} cannot be read ({error}). Make it a file that you may read, then run this again.",
            path.display()
        ),
    }
}

/// Replaces the file atomically, unless it has changed since it was read. Returns the path of the
/// backup.
pub(super) fn replace(
    path: &Path,
    before: Option<&str>,
    after: &str,
) -> anyhow::Result<Option<PathBuf>> {
    // The config may be a symbolic link; replace its target, not the link.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let context = || format!("{} cannot be written", path.display());
    if let Some(folder) = path.parent() {
        let made = private_folders().recursive(true).create(folder);
        made.with_context(context)?;
    }
    let backup = before.map(|_| with_suffix(&path, ".bak"));
    if let Some(backup) = &backup {
        fs::copy(&path, backup)
            .with_context(|| format!("{} cannot be backed up", path.display()))?;
    }
    let new = with_suffix(&path, &format!(".tabmux-{}", std::process::id()));
    let result = write_new(&new, &path, after).and_then(|()| {
        if read(&path)?.as_deref() != before {
            bail!(
                "another program just changed {}; run this again",
                path.display()
            );
        }
        fs::rename(&new, &path).with_context(context)
    });
    if result.is_err() {
        let _ = fs::remove_file(&new);
    }
    result.map(|()| backup)
}

fn write_new(new: &Path, like: &Path, text: &str) -> anyhow::Result<()> {
    let context = || format!("{} cannot be written", new.display());
    let mut options = OpenOptions::new();
    // Configs hold secrets, so a new file is readable by its user only.
    options.write(true).create_new(true).private();
    let mut file = options.open(new).with_context(context)?;
    if let Ok(meta) = fs::metadata(like) {
        file.set_permissions(meta.permissions())
            .with_context(context)?;
    }
    file.write_all(text.as_bytes()).with_context(context)?;
    file.sync_all().with_context(context)
}

fn with_suffix(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn the_old_file_is_kept_and_permissions_and_links_stay() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        fs::write(&real, "old").unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&real, &link).unwrap();
        let backup = replace(&link, Some("old"), "new").unwrap().unwrap();
        assert_eq!(fs::read_to_string(&real).unwrap(), "new");
        assert_eq!(fs::read_to_string(backup).unwrap(), "old");
        assert_eq!(
            fs::metadata(&real).unwrap().permissions().mode() & 0o777,
            0o640
        );
        assert_eq!(names(folder.path()), ["link", "real", "real.bak"]);
        assert!(link.is_symlink());
    }

    #[test]
    fn a_file_that_changed_meanwhile_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config");
        fs::write(&path, "theirs").unwrap();
        assert!(replace(&path, Some("old"), "new").is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "theirs");
        assert_eq!(names(folder.path()), ["config", "config.bak"]);
    }

    #[test]
    fn a_missing_file_is_made_with_its_folder_for_the_user_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b/config");
        assert_eq!(read(&path).unwrap(), None);
        assert_eq!(replace(&path, None, "new").unwrap(), None);
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600
        );
    }
}
