//! Where the project is, and its files.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

/// A text file of the project.
#[derive(Debug)]
pub(crate) struct SourceFile {
    /// The path under the project's root.
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

impl SourceFile {
    /// Whether the file's name ends with one of these.
    pub(crate) fn has_extension(&self, extensions: &[&str]) -> bool {
        let extension = self
            .path
            .extension()
            .and_then(|extension| extension.to_str());
        extension.is_some_and(|extension| extensions.contains(&extension))
    }

    /// Whether this is the file's own name.
    pub(crate) fn is_named(&self, name: &str) -> bool {
        self.path.file_name().is_some_and(|own| own == name)
    }

    /// Whether the file is part of tests only.
    pub(crate) fn is_test(&self) -> bool {
        let mut folders = self.path.iter();
        folders.any(|folder| {
            ["tests", "tests.rs", "test"]
                .iter()
                .any(|test| folder == *test)
        })
    }
}

/// The folder of the workspace.
pub(crate) fn project_root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest).to_path_buf()
}

/// Every text file under `root` that people write.
pub(crate) fn source_files(root: &Path) -> Result<Vec<SourceFile>> {
    let mut files = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder)
            .with_context(|| format!("{} cannot be listed", folder.display()))?;
        for entry in entries {
            let entry = entry?;
            let path = entry.path();
            let kind = entry.file_type()?;
            if SKIPPED.iter().any(|skipped| entry.file_name() == *skipped) {
                continue;
            }
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file()
                && let Ok(text) = fs::read_to_string(&path)
            {
                files.push(SourceFile {
                    path: path.strip_prefix(root)?.to_path_buf(),
                    text,
                });
            }
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

/// What programs made: folders, and in a worktree the file that stands for `.git`.
const SKIPPED: &[&str] = &[".git", "dist", "node_modules", "out", "target"];
