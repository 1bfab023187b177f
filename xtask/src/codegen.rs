//! Generated files: they are committed, and this rewrites them or says which are stale.

mod emit;
mod fetch;
mod model;
mod names;
mod schema;
mod select;

use std::{
    collections::BTreeMap,
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail, ensure};

use crate::{files::project_root, say};

/// What to do with a generated file that differs from the committed one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Rewrite it.
    Write,
    /// Say so and fail.
    Check,
}

/// Generates everything that is generated.
pub(crate) fn run(mode: Mode) -> Result<()> {
    let root = project_root();
    let protocol = fetch::protocol(&root)?;
    let files = cdp_types(&protocol)?;
    let stale = stale_files(&root.join(CDP_TYPES), &files)?;
    if stale.is_empty() {
        return Ok(());
    }
    let names = stale
        .iter()
        .map(|path| path.display().to_string())
        .collect::<Vec<_>>()
        .join(", ");
    if mode == Mode::Check {
        bail!("these generated files are stale, run `cargo xtask codegen`: {names}");
    }
    write_files(&root.join(CDP_TYPES), &files)?;
    say(&format!("rewrote {names}"));
    Ok(())
}

/// The sources of the protocol's types, by path under [`CDP_TYPES`].
fn cdp_types(protocol: &schema::Protocol) -> Result<BTreeMap<PathBuf, String>> {
    let model = select::select(protocol, DOMAINS)?;
    let mut files = BTreeMap::new();
    files.insert(
        PathBuf::from("protocol.rs"),
        format_rust(&emit::index(&model))?,
    );
    for domain in model.domains() {
        let path = Path::new("protocol").join(format!("{}.rs", names::snake_case(domain)));
        files.insert(path, format_rust(&emit::domain(&model, domain))?);
    }
    Ok(files)
}

/// The files under `folder` that are not as `files` says: changed, missing or no longer generated.
fn stale_files(folder: &Path, files: &BTreeMap<PathBuf, String>) -> Result<Vec<PathBuf>> {
    let mut stale: Vec<PathBuf> = files
        .iter()
        .filter(|(path, text)| fs::read_to_string(folder.join(path)).ok().as_ref() != Some(*text))
        .map(|(path, _)| path.clone())
        .collect();
    stale.extend(left_overs(folder, files)?);
    Ok(stale)
}

fn write_files(folder: &Path, files: &BTreeMap<PathBuf, String>) -> Result<()> {
    fs::create_dir_all(folder.join("protocol"))?;
    for path in left_overs(folder, files)? {
        fs::remove_file(folder.join(path))?;
    }
    for (path, text) in files {
        fs::write(folder.join(path), text)
            .with_context(|| format!("{} cannot be written", path.display()))?;
    }
    Ok(())
}

/// Files in the generated folder that nothing generates any more.
fn left_overs(folder: &Path, files: &BTreeMap<PathBuf, String>) -> Result<Vec<PathBuf>> {
    let Ok(entries) = fs::read_dir(folder.join("protocol")) else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = Path::new("protocol").join(entry?.file_name());
        if !files.contains_key(&path) {
            found.push(path);
        }
    }
    Ok(found)
}

fn format_rust(source: &str) -> Result<String> {
    let mut rustfmt = Command::new("rustfmt")
        .args(["--edition", "2024", "--config", "style_edition=2024"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("rustfmt cannot be started, install it with `rustup component add rustfmt`")?;
    // Reading happens after all is written: rustfmt prints nothing before it has read everything.
    rustfmt
        .stdin
        .take()
        .context("rustfmt has no input")?
        .write_all(source.as_bytes())?;
    let output = rustfmt.wait_with_output()?;
    ensure!(
        output.status.success(),
        "rustfmt refused the generated source"
    );
    Ok(String::from_utf8(output.stdout)?)
}

/// Where the generated types live.
const CDP_TYPES: &str = "crates/cdp-types/src";

/// The domains whose commands and events are generated. Types of other domains come along when these use them.
const DOMAINS: &[&str] = &[
    "Browser",
    "DOM",
    "DOMDebugger",
    "Emulation",
    "Fetch",
    "IO",
    "Input",
    "Inspector",
    "Log",
    "Network",
    "Page",
    "Performance",
    "Runtime",
    "Security",
    "Target",
    "Tracing",
    "WebMCP",
];
