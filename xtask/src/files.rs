//! Where the project is, and its files.

use std::path::{Path, PathBuf};

/// The folder of the workspace.
pub(crate) fn project_root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest).to_path_buf()
}
