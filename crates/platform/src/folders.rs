//! Folders that the system has for each user.

use crate::files::{is_own, is_private};
use std::fs;
use std::path::{Path, PathBuf};

/// The folder for sockets and the like of this user, if the system has one that only this user can access: the usual
/// value of `XDG_RUNTIME_DIR`, for processes that were started without their environment. macOS has none.
pub fn runtime_folder() -> Option<PathBuf> {
    let usual = format!("/run/user/{}", crate::user::own_uid());
    runtime_folder_at(Path::new(&usual))
}

/// This folder, if only this user can access it.
pub fn runtime_folder_at(folder: &Path) -> Option<PathBuf> {
    let meta = fs::symlink_metadata(folder).ok()?;
    let is_safe = meta.is_dir() && is_own(&meta) && is_private(&meta);
    is_safe.then(|| folder.to_owned())
}
