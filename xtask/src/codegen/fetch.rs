//! Fetches the description of the protocol, at the version of the committed code.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{self, Command},
};

use anyhow::{Context, Result, ensure};

use super::schema::Protocol;

/// The protocol of [`VERSION`]; npm fetches it into the target folder the first time.
/// `DEVTOOLS_PROTOCOL` may name a folder that has the unpacked package already.
pub(super) fn protocol(root: &Path) -> Result<Protocol> {
    let package = match env::var_os("DEVTOOLS_PROTOCOL") {
        Some(folder) => PathBuf::from(folder),
        None => installed_package(&root.join("target/codegen"))?,
    };
    let mut protocol = Protocol::default();
    for file in ["browser_protocol.json", "js_protocol.json"] {
        let path = package.join("json").join(file);
        let text = fs::read_to_string(&path)
            .with_context(|| format!("{} cannot be read", path.display()))?;
        let part: Protocol = serde_json::from_str(&text)
            .with_context(|| format!("{} is not a protocol description", path.display()))?;
        protocol.domains.extend(part.domains);
    }
    Ok(protocol)
}

fn installed_package(folder: &Path) -> Result<PathBuf> {
    let installed = folder.join(format!("{PACKAGE}-{VERSION}"));
    let package = installed.join("node_modules").join(PACKAGE);
    if package.join("json/js_protocol.json").exists() {
        return Ok(package);
    }
    // Installed to another folder and renamed, so that concurrent runs never see an incomplete one.
    let aside = folder.join(format!("{PACKAGE}-{VERSION}-{}", process::id()));
    fs::create_dir_all(&aside)?;
    let status = Command::new("npm")
        .args(["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund"])
        .args(["--loglevel", "error", "--prefix"])
        .arg(&aside)
        .arg(format!("{PACKAGE}@{VERSION}"))
        .status()
        .context("npm cannot be started: install Node.js, or set DEVTOOLS_PROTOCOL to the unpacked package")?;
    ensure!(status.success(), "npm could not fetch {PACKAGE}@{VERSION}");
    if fs::rename(&aside, &installed).is_err() {
        fs::remove_dir_all(&aside)?;
    }
    ensure!(
        package.exists(),
        "npm did not leave the package in {}",
        package.display()
    );
    Ok(package)
}

const PACKAGE: &str = "devtools-protocol";

/// To use a newer protocol, change this line and run `cargo xtask codegen`.
const VERSION: &str = "0.0.1734725";
