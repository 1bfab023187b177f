//! The flags for scripts and permissions of pages in a launched browser.

use anyhow::{Context, bail};
use std::path::PathBuf;

/// The contents of the files.
pub(super) fn read(files: &[PathBuf]) -> anyhow::Result<Vec<String>> {
    let scripts = files.iter().map(|file| {
        std::fs::read_to_string(file)
            .with_context(|| format!("--initScript: {} cannot be read", file.display()))
    });
    let scripts: Vec<String> = scripts.collect::<Result<_, _>>()?;
    if scripts.iter().map(String::len).sum::<usize>() > MOST {
        bail!("--initScript: the files are larger than 1 MB in all");
    }
    Ok(scripts)
}

/// Checks the name of a permission.
pub(super) fn permission(name: &str) -> Result<String, String> {
    match KNOWN.contains(&name) {
        true => Ok(name.to_owned()),
        false => Err(format!("choose from {}", KNOWN.join(", "))),
    }
}

const MOST: usize = 1_000_000;

/// The names of the web's Permissions API, and `midi-sysex`.
const KNOWN: [&str; 17] = [
    "accelerometer",
    "ambient-light-sensor",
    "background-sync",
    "camera",
    "clipboard-read",
    "clipboard-write",
    "geolocation",
    "gyroscope",
    "local-fonts",
    "local-network-access",
    "magnetometer",
    "microphone",
    "midi",
    "midi-sysex",
    "notifications",
    "payment-handler",
    "storage-access",
];
