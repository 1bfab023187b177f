//! Installs the peers at fixed versions in Cargo's target folder.

use super::super::cargo;
use super::dialect::Peer;
use anyhow::{Context, Result, bail};
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use std::process::Command;

/// Installs all peers from npm; returns their folder.
pub(in crate::bench) fn install() -> Result<PathBuf> {
    let shelf = target_folder()?.join("peers");
    std::fs::create_dir_all(&shelf)?;
    let packages = Peer::ALL.iter().filter_map(|peer| peer.package());
    let wanted: Map<String, Value> = packages
        .map(|(name, version)| (name.to_owned(), version.into()))
        .collect();
    let manifest = json!({"private": true, "dependencies": wanted}).to_string();
    std::fs::write(shelf.join("package.json"), manifest)?;
    let status = Command::new("npm")
        .args(["install", "--no-audit", "--no-fund", "--loglevel=error"])
        .current_dir(&shelf)
        // All of them use the browser that is already installed.
        .env("PUPPETEER_SKIP_DOWNLOAD", "1")
        .env("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")
        .status()
        .context("npm did not start: install Node.js with npm")?;
    match status.success() {
        true => Ok(shelf),
        false => bail!("npm could not install the peers"),
    }
}

fn target_folder() -> Result<PathBuf> {
    let output = Command::new(cargo())
        .args(["metadata", "--format-version=1", "--no-deps"])
        .output()
        .context("cargo did not start")?;
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let folder = metadata["target_directory"].as_str();
    Ok(folder.context("cargo names no target folder")?.into())
}
