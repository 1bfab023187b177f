//! The licenses of all crates in the binary, as one text.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::dependency_graph::{self, Package};
use super::project::Project;
use super::target::Target;

/// The text: each license once, with the crates that have it.
pub(super) fn text(project: &Project, target: &Target) -> Result<String> {
    let packages = dependency_graph::packages(project, target)?;
    let mut foreign: Vec<_> = packages.iter().filter(|package| !package.is_own).collect();
    foreign.sort_by_key(|package| package.id());
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut without = Vec::new();
    for package in &foreign {
        let files = license_files(&package.folder)?;
        if files.is_empty() {
            without.push(*package);
        }
        for file in files {
            texts.entry(file).or_default().push(package.id());
        }
    }
    let mut out =
        String::from("tabmux is linked with these crates, each under the license in brackets:\n\n");
    for package in &foreign {
        out += &format!("  {} ({})\n", package.id(), package.license);
    }
    for (text, mut users) in texts {
        users.dedup();
        out += &format!(
            "\n{RULE}\n{}\n{RULE}\n\n{}\n",
            users.join(", "),
            text.trim()
        );
    }
    for package in without {
        out += &format!(
            "\n{RULE}\n{}\n{RULE}\n\n{}\n",
            package.id(),
            notice(package)
        );
    }
    Ok(out)
}

/// For a crate that has no text of its license.
fn notice(package: &Package) -> String {
    let authors = match package.authors.is_empty() {
        true => String::new(),
        false => format!(", by {}", package.authors.join(", ")),
    };
    format!(
        "Licensed under {}{authors}. The crate has no text of its license.",
        package.license
    )
}

/// The texts in the crate's folder.
fn license_files(folder: &Path) -> Result<Vec<String>> {
    let entries = fs::read_dir(folder).with_context(|| {
        format!(
            "{} cannot be listed; run `cargo fetch` first",
            folder.display()
        )
    })?;
    let mut files: Vec<_> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    files.sort();
    let is_license = |path: &&std::path::PathBuf| {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .to_uppercase();
        path.is_file() && NAMES.iter().any(|start| name.starts_with(start))
    };
    let text = |path: &std::path::PathBuf| fs::read_to_string(path).ok();
    Ok(files.iter().filter(is_license).filter_map(text).collect())
}

const NAMES: [&str; 5] = ["LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE"];
const RULE: &str = "------------------------------------------------------------------------";
