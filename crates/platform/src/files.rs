//! Files and folders that only this user can access, and what is known about others.

use crate::user::own_uid;
use std::fs::{DirBuilder, File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{
    DirBuilderExt, FileExt, FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt,
};

/// How a file is opened.
pub trait SafeOptions {
    /// If it is created, only this user can read and write it, from the first moment.
    fn private(&mut self) -> &mut Self;

    /// What is not opened as a plain file. Of several calls, the last one counts.
    fn refusing(&mut self, what: Refused) -> &mut Self;
}

/// What is in the place of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// A link is an error; its target is not opened.
    Links,
    /// A pipe without another end does not block.
    Waiting,
    /// Both.
    LinksAndWaiting,
}

impl SafeOptions for OpenOptions {
    fn private(&mut self) -> &mut Self {
        self.mode(0o600)
    }

    fn refusing(&mut self, what: Refused) -> &mut Self {
        self.custom_flags(match what {
            Refused::Links => libc::O_NOFOLLOW,
            Refused::Waiting => libc::O_NONBLOCK,
            Refused::LinksAndWaiting => libc::O_NOFOLLOW | libc::O_NONBLOCK,
        })
    }
}

/// Folders that this creates can be accessed by this user only, from the first moment.
pub fn private_folders() -> DirBuilder {
    let mut builder = DirBuilder::new();
    builder.mode(0o700);
    builder
}

/// The permissions of a folder that only this user can access.
pub fn private_folder_permissions() -> Permissions {
    Permissions::from_mode(0o700)
}

/// The permissions of a file, without bits that change who runs it.
pub fn plain_permissions(of: &Metadata) -> Permissions {
    Permissions::from_mode(of.mode() & 0o777)
}

/// Whether it belongs to this user.
pub fn is_own(meta: &Metadata) -> bool {
    meta.uid() == own_uid()
}

/// Whether no other user can access it, apart from root.
pub fn is_private(meta: &Metadata) -> bool {
    meta.mode() & 0o077 == 0
}

/// Whether other users can write to it.
pub fn others_can_write(meta: &Metadata) -> bool {
    meta.mode() & 0o022 != 0
}

/// Whether users can remove only their own files in this folder, as in `/tmp`.
pub fn is_shared_folder(meta: &Metadata) -> bool {
    meta.mode() & 0o1000 != 0
}

/// The permissions, as the user's tools show them.
pub fn permissions_text(meta: &Metadata) -> String {
    format!("{:04o}", meta.mode() & 0o7777)
}

/// Whether it is a program.
pub fn is_executable(meta: &Metadata) -> bool {
    meta.is_file() && meta.mode() & 0o111 != 0
}

/// Whether it is a socket.
pub fn is_socket(meta: &Metadata) -> bool {
    meta.file_type().is_socket()
}

/// What distinguishes a file from another one that has its name later.
pub fn identity(meta: &Metadata) -> u64 {
    meta.ino()
}

/// When it was last changed: seconds, and nanoseconds of the second.
pub fn changed_at(meta: &Metadata) -> (i64, i64) {
    (meta.mtime(), meta.mtime_nsec())
}

/// Overwrites the beginning of a file.
///
/// # Errors
/// Those of the system.
pub fn overwrite_start(file: &File, bytes: &[u8]) -> io::Result<()> {
    file.write_all_at(bytes, 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn what_is_created_is_private_and_links_and_pipes_are_noticed() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("a/b");
        private_folders().recursive(true).create(&folder).unwrap();
        let path = folder.join("file");
        let options = |what| {
            let mut options = OpenOptions::new();
            options.write(true).create(true).private().refusing(what);
            options
        };
        options(Refused::Links).open(&path).unwrap();
        for made in [home.path().join("a"), folder.clone(), path.clone()] {
            let meta = fs::symlink_metadata(&made).unwrap();
            assert!(
                is_own(&meta) && is_private(&meta) && !others_can_write(&meta),
                "{made:?}"
            );
        }
        let link = folder.join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(options(Refused::Links).open(&link).is_err());
        assert!(options(Refused::LinksAndWaiting).open(&link).is_err());
        assert!(options(Refused::Waiting).open(&link).is_ok());
        let pipe = folder.join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        // Without the refusal, this would wait for a reader for ever.
        assert!(options(Refused::Waiting).open(&pipe).is_err());
        assert!(options(Refused::LinksAndWaiting).open(&pipe).is_err());
    }
}
