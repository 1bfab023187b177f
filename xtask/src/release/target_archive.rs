//! The archive of one target: the program, completions, manual pages, licenses.

use std::fs;

use anyhow::Result;

use super::files::{Entry, Made, Parts};
use super::tar_gz;

pub(super) fn make(parts: &Parts<'_>) -> Result<Made> {
    let version = &parts.project.version;
    let name = parts.target.archive_name(version);
    let folder = name.trim_end_matches(".tar.gz");
    let mut entries = vec![Entry::program("tabmux", parts.binary.bytes.clone())];
    for file in ["README.md", "CHANGELOG.md", "SECURITY.md"] {
        entries.push(Entry::text(file, parts.project.text_file(file)?));
    }
    entries.extend(parts.license_files()?);
    for (shell, file) in COMPLETIONS {
        let script = parts.binary.output(&["completions", shell])?;
        entries.push(Entry::text(format!("completions/{file}"), script));
    }
    entries.extend(manual_pages(parts)?);
    let entries: Vec<_> = entries
        .into_iter()
        .map(|entry| entry.within(folder))
        .collect();
    let bytes = tar_gz::make(&entries, parts.project.time, parts.level)?;
    Ok(Made { name, bytes })
}

fn manual_pages(parts: &Parts<'_>) -> Result<Vec<Entry>> {
    let folder = tempfile::tempdir()?;
    parts
        .binary
        .output(&["__man", &folder.path().to_string_lossy()])?;
    let mut pages = Vec::new();
    for file in fs::read_dir(folder.path())? {
        let file = file?;
        let name = file.file_name().to_string_lossy().into_owned();
        pages.push(Entry::text(format!("man/{name}"), fs::read(file.path())?));
    }
    pages.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(pages)
}

const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "tabmux.bash"),
    ("fish", "tabmux.fish"),
    ("zsh", "_tabmux"),
];
