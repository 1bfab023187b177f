//! The checksums of the files of a release.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

use super::files::Made;

/// SHA-256 in hex digits, by file name.
pub(super) type Sums = BTreeMap<String, String>;

/// The checksums of all files in the folder, but not of their list.
pub(super) fn of_folder(folder: &Path) -> Result<Sums> {
    let mut sums = Sums::new();
    for entry in
        fs::read_dir(folder).with_context(|| format!("{} cannot be listed", folder.display()))?
    {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type()?.is_file() && name != FILE {
            sums.insert(name, hex(&fs::read(entry.path())?));
        }
    }
    Ok(sums)
}

/// The list that `sha256sum --check` reads.
pub(super) fn file(sums: &Sums) -> Made {
    let lines = sums.iter().map(|(name, sum)| format!("{sum}  {name}\n"));
    Made {
        name: FILE.to_owned(),
        bytes: lines.collect::<String>().into_bytes(),
    }
}

pub(super) fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

const FILE: &str = "SHA256SUMS";
