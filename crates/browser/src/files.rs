//! Where a client may read and write files: its own folders and our output folder, nowhere else.

use crate::error::ToolError;
use crate::user::own_uid;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The folders of one client.
#[derive(Clone, Debug)]
pub struct Files(Arc<Folders>);

#[derive(Debug)]
struct Folders {
    /// Relative paths start here; absolute ones must lie in one of these.
    roots: Vec<PathBuf>,
    /// What the client did not name a path for goes here.
    output: PathBuf,
}

impl Files {
    /// A client that works in `folder`. A working folder of `/` or the home folder does not count:
    /// that is where programs start that were not started anywhere.
    pub fn new(folder: Option<PathBuf>, more_roots: &[PathBuf]) -> Self {
        let own = folder.filter(|folder| !is_everywhere(folder));
        let roots = own
            .iter()
            .chain(more_roots)
            .filter_map(|root| root.canonicalize().ok());
        Self(Arc::new(Folders {
            roots: roots.collect(),
            output: output_folder(),
        }))
    }

    /// The folder for what browsers of ours download.
    pub(crate) fn downloads() -> std::io::Result<PathBuf> {
        let output = output_folder();
        private_folder(&output)?;
        let downloads = output.join("downloads");
        private_folder(&downloads)?;
        Ok(downloads)
    }

    /// A file of the client's that may be read, such as one to upload.
    pub fn readable(&self, path: &str) -> Result<PathBuf, ToolError> {
        let fail = |why: &str| ToolError::File(format!("{path} cannot be read: {why}"));
        let roots = self.0.roots.iter().chain([&self.0.output]);
        let first = roots.clone().next().unwrap_or(&self.0.output);
        let place = first
            .join(path)
            .canonicalize()
            .map_err(|error| fail(&format!("{error}.")))?;
        let allowed = roots
            .filter_map(|root| root.canonicalize().ok())
            .any(|root| place.starts_with(root));
        match place.is_file() {
            _ if !allowed => Err(fail(&format!("it lies outside {}.", self.named_roots()))),
            false => Err(fail("it is not a file.")),
            true => Ok(place),
        }
    }

    /// Opens a file to be written bit by bit: where `path` says, or under a fresh name.
    pub fn create(
        &self,
        path: Option<&str>,
        extension: &str,
    ) -> Result<(fs::File, PathBuf), ToolError> {
        let place = self.save(path, extension, b"")?;
        let file = OpenOptions::new()
            .write(true)
            .custom_flags(libc::O_NOFOLLOW)
            .open(&place)
            .map_err(|error| {
                ToolError::File(format!("{} cannot be written: {error}.", place.display()))
            })?;
        Ok((file, place))
    }

    /// Writes a file: where `path` says, or under a fresh name with `extension` in our output folder.
    pub fn save(
        &self,
        path: Option<&str>,
        extension: &str,
        bytes: &[u8],
    ) -> Result<PathBuf, ToolError> {
        match path {
            Some(path) => self.save_at(Path::new(path), bytes),
            None => self.save_fresh(extension, bytes),
        }
    }

    fn save_at(&self, path: &Path, bytes: &[u8]) -> Result<PathBuf, ToolError> {
        let fail =
            |why: String| ToolError::File(format!("{} cannot be written: {why}", path.display()));
        let Some(first) = self.0.roots.first() else {
            return Err(fail(
                "this client has no folder of its own. Leave filePath out, or start tabmux in a \
                 project folder."
                    .into(),
            ));
        };
        let whole = first.join(path);
        let (Some(folder), Some(name)) = (whole.parent(), whole.file_name()) else {
            return Err(fail("it names no file.".into()));
        };
        let folder = folder
            .canonicalize()
            .map_err(|error| fail(format!("its folder does not exist ({error}).")))?;
        if !self.0.roots.iter().any(|root| folder.starts_with(root)) {
            return Err(fail(format!("it lies outside {}.", self.named_roots())));
        }
        let place = folder.join(name);
        write(
            OpenOptions::new().write(true).create(true).truncate(true),
            &place,
            bytes,
        )
        .map_err(|error| fail(format!("{error}.")))?;
        Ok(place)
    }

    /// The client's folders, or the first of them.
    fn named_roots(&self) -> String {
        let roots = &self.0.roots;
        let some: Vec<_> = roots.iter().take(NAMED_ROOTS).collect();
        let named = some.iter().map(|root| root.display().to_string());
        let named = named.collect::<Vec<_>>().join(", ");
        match roots.len() - some.len() {
            _ if roots.is_empty() => self.0.output.display().to_string(),
            0 => named,
            more => format!("{named} and {more} more"),
        }
    }

    fn save_fresh(&self, extension: &str, bytes: &[u8]) -> Result<PathBuf, ToolError> {
        let output = &self.0.output;
        let fail = |error: std::io::Error| {
            ToolError::File(format!(
                "Nothing can be written to {}: {error}.",
                output.display()
            ))
        };
        private_folder(output).map_err(fail)?;
        let mut number = std::process::id();
        loop {
            let place = output.join(format!("{number}.{extension}"));
            match write(
                OpenOptions::new().write(true).create_new(true),
                &place,
                bytes,
            ) {
                Ok(()) => return Ok(place),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                    number = number.wrapping_add(1);
                }
                Err(error) => return Err(fail(error)),
            }
        }
    }
}

/// Where what has no other place goes; one folder per user.
fn output_folder() -> PathBuf {
    let user = own_uid();
    std::env::var_os("XDG_RUNTIME_DIR")
        .map_or_else(std::env::temp_dir, PathBuf::from)
        .join(format!("tabmux-output-{user}"))
}

/// Makes a folder that is ours alone. One that is there already must be: in a shared place
/// somebody else could have made it first.
fn private_folder(folder: &Path) -> std::io::Result<()> {
    match fs::DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let meta = fs::symlink_metadata(folder)?;
    let ours = meta.is_dir() && meta.uid() == own_uid() && meta.mode() & 0o077 == 0;
    ours.then_some(())
        .ok_or_else(|| std::io::Error::other("the folder is not ours alone; remove it"))
}

/// Writes without following a link in the last place.
fn write(options: &mut OpenOptions, place: &Path, bytes: &[u8]) -> std::io::Result<()> {
    options
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW)
        .open(place)?
        .write_all(bytes)
}

/// Whether a folder is where programs start that were not started anywhere.
pub fn is_everywhere(folder: &Path) -> bool {
    folder.parent().is_none() || std::env::home_dir().is_some_and(|home| home == folder)
}

/// How many folders a refusal names.
const NAMED_ROOTS: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_stay_in_the_clients_folder() {
        let folder = tempfile::tempdir().unwrap();
        let files = Files::new(Some(folder.path().into()), &[]);
        let place = files.save(Some("a.png"), "png", b"x").unwrap();
        assert_eq!(fs::read(place).unwrap(), b"x");
        for outside in ["../a.png", "/etc/a.png", "/", "nowhere/a.png"] {
            assert!(files.save(Some(outside), "png", b"x").is_err(), "{outside}");
        }
    }

    #[test]
    fn only_files_of_the_client_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let files = Files::new(Some(folder.path().into()), &[]);
        fs::write(folder.path().join("a.txt"), "x").unwrap();
        std::os::unix::fs::symlink("/etc/hostname", folder.path().join("link")).unwrap();
        assert!(files.readable("a.txt").unwrap().ends_with("a.txt"));
        for outside in ["../a.txt", "/etc/hostname", "link", ".", "nothing"] {
            assert!(files.readable(outside).is_err(), "{outside}");
        }
    }

    #[test]
    fn a_link_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::NamedTempFile::new().unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), folder.path().join("link.png")).unwrap();
        std::os::unix::fs::symlink("/tmp", folder.path().join("out")).unwrap();
        let files = Files::new(Some(folder.path().into()), &[]);
        assert!(files.save(Some("link.png"), "png", b"x").is_err());
        assert!(files.save(Some("out/a.png"), "png", b"x").is_err());
        assert_eq!(fs::read(elsewhere.path()).unwrap(), b"");
    }

    #[test]
    fn a_folder_that_others_could_have_made_is_not_used() {
        let home = tempfile::tempdir().unwrap();
        let real = home.path().join("real");
        private_folder(&real).unwrap();
        private_folder(&real).unwrap();
        let link = home.path().join("link");
        std::os::unix::fs::symlink(&real, &link).unwrap();
        assert!(private_folder(&link).is_err());
        fs::set_permissions(&real, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        assert!(private_folder(&real).is_err());
    }

    #[test]
    fn without_a_folder_only_our_own_output_is_written() {
        let files = Files::new(Some("/".into()), &[]);
        assert!(files.save(Some("a.png"), "png", b"x").is_err());
        let place = files.save(None, "png", b"x").unwrap();
        assert_eq!(fs::read(&place).unwrap(), b"x");
        fs::remove_file(place).unwrap();
    }
}
