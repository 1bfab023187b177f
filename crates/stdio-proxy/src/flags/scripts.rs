//! The flags about what pages of a launched browser get: scripts of the user's, and permissions.

use anyhow::{Context, bail};
use std::path::PathBuf;

/// What the files say.
pub(super) fn read(files: &[PathBuf]) -> anyhow::Result<Vec<String>> {
    let scripts = files.iter().map(|file| {
        std::fs::read_to_string(file)
            .with_context(|| format!("--initScript: {} cannot be read", file.display()))
    });
    let scripts: Vec<String> = scripts.collect::<Result<_, _>>()?;
    if scripts.iter().map(String::len).sum::<usize>() > MOST {
        bail!("--initScript: the files have more than 1 MB in all");
    }
    Ok(scripts)
}

/// A permission that browsers know by this name.
pub(super) fn permission(name: &str) -> Result<String, String> {
    match KNOWN.contains(&name) {
        true => Ok(name.to_owned()),
        false => Err(format!("there are {}", KNOWN.join(", "))),
    }
}

const MOST: usize = 1_000_000;

/// As the web's Permissions API names them, and `midi-sysex`.
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
