//! Generates the committed generated files, or reports which are stale.

mod emit;
mod fetch;
mod model;
mod names;
mod schema;
mod select;

use std::{
    collections::BTreeMap,
    env, fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail, ensure};

use crate::{files::project_root, say};

/// What to do with a generated file that differs from the committed one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Rewrite the file.
    Write,
    /// Report it and fail.
    Check,
}

/// Runs every generator.
pub(crate) fn run(mode: Mode) -> Result<()> {
    generate(
        mode,
        &[CDP_TYPES, EXTENSION_MESSAGES, PAGE_MESSAGES, TOOL_REFERENCE],
    )
}

fn generate(mode: Mode, generators: &[Generator]) -> Result<()> {
    let root = project_root();
    let mut stale = Vec::new();
    // In order: the output of the first is compiled into the program that the next one runs.
    for generator in generators {
        let files = (generator.generate)(&root)?;
        for path in stale_files(&root, &files, generator.folder)? {
            if mode == Mode::Write {
                refresh(&root.join(&path), files.get(&path).map(String::as_str))
                    .with_context(|| format!("{} cannot be rewritten", path.display()))?;
            }
            stale.push(path.display().to_string());
        }
    }
    match (stale.join(", "), mode) {
        (names, _) if names.is_empty() => {}
        (names, Mode::Write) => say(&format!("rewrote {names}")),
        (names, Mode::Check) => {
            bail!("these generated files are stale, run `cargo xtask codegen`: {names}")
        }
    }
    Ok(())
}

/// Generated texts, by path under the project's root.
type Files = BTreeMap<PathBuf, String>;

/// A generator of files.
struct Generator {
    generate: fn(&Path) -> Result<Files>,
    /// The folder that holds only generated files, if there is one.
    folder: Option<&'static str>,
}

const CDP_TYPES: Generator = Generator {
    generate: cdp_types,
    folder: Some(PROTOCOL_FOLDER),
};

const EXTENSION_MESSAGES: Generator = Generator {
    generate: extension_messages,
    folder: None,
};

const PAGE_MESSAGES: Generator = Generator {
    generate: page_messages,
    folder: None,
};

const TOOL_REFERENCE: Generator = Generator {
    generate: tool_reference,
    folder: None,
};

/// The types of Chrome's protocol.
fn cdp_types(root: &Path) -> Result<Files> {
    let protocol = fetch::protocol(root)?;
    let model = select::select(&protocol, DOMAINS)?;
    let folder = Path::new(PROTOCOL_FOLDER);
    let index = format_rust(&emit::index(&model))?;
    let mut files = Files::from([(folder.with_extension("rs"), index)]);
    for domain in model.domains() {
        let path = folder.join(names::snake_case(domain)).with_extension("rs");
        files.insert(path, format_rust(&emit::domain(&model, domain))?);
    }
    Ok(files)
}

/// The messages of the extension and the daemon, as TypeScript.
fn extension_messages(_root: &Path) -> Result<Files> {
    let text = tabmux_protocol::extension::typescript();
    Ok(Files::from([(EXTENSION_MESSAGES_FILE.into(), text)]))
}

/// The messages between a page's worker and the daemon, as TypeScript.
fn page_messages(_root: &Path) -> Result<Files> {
    let text = tabmux_protocol::page::typescript();
    Ok(Files::from([(PAGE_MESSAGES_FILE.into(), text)]))
}

/// The reference of all tools, printed by the program itself.
fn tool_reference(root: &Path) -> Result<Files> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["run", "--quiet", "--package", "tabmux", "--", "__tools-md"])
        .current_dir(root)
        .stderr(Stdio::inherit())
        .output()
        .context("cargo cannot be started")?;
    ensure!(
        output.status.success(),
        "tabmux could not print the reference of its tools"
    );
    let text = String::from_utf8(output.stdout)?;
    Ok(Files::from([(TOOL_REFERENCE_FILE.into(), text)]))
}

/// The files that differ from `files`: changed, missing or, in `folder`, no longer generated.
fn stale_files(root: &Path, files: &Files, folder: Option<&str>) -> Result<Vec<PathBuf>> {
    let mut stale = Vec::new();
    for (path, text) in files {
        if fs::read_to_string(root.join(path)).ok().as_ref() != Some(text) {
            stale.push(path.clone());
        }
    }
    let Some(folder) = folder.map(Path::new) else {
        return Ok(stale);
    };
    if let Ok(entries) = fs::read_dir(root.join(folder)) {
        for entry in entries {
            let path = folder.join(entry?.file_name());
            if !files.contains_key(&path) {
                stale.push(path);
            }
        }
    }
    Ok(stale)
}

/// Writes a generated file, or removes one that is no longer generated.
fn refresh(path: &Path, text: Option<&str>) -> Result<()> {
    match text {
        Some(text) => {
            fs::create_dir_all(path.parent().unwrap_or(path))?;
            fs::write(path, text)?;
        }
        None => fs::remove_file(path)?,
    }
    Ok(())
}

fn format_rust(source: &str) -> Result<String> {
    let mut rustfmt = Command::new("rustfmt")
        .args(["--edition", "2024", "--config", "style_edition=2024"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("rustfmt cannot be started, install it with `rustup component add rustfmt`")?;
    // Writing everything first is safe: rustfmt prints nothing before it has read all its input.
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

/// The reference of all tools.
const TOOL_REFERENCE_FILE: &str = "docs/tools.md";

/// The messages of the page library.
const PAGE_MESSAGES_FILE: &str = "packages/page/src/daemon-messages.ts";

/// The messages of the extension.
const EXTENSION_MESSAGES_FILE: &str = "packages/extension/src/messages.ts";

/// The folder of the generated types; everything in it is generated.
const PROTOCOL_FOLDER: &str = "crates/cdp-types/src/protocol";

/// The domains whose commands and events are generated. Types of other domains are included when these use them.
const DOMAINS: &[&str] = &[
    "Browser",
    "DOM",
    "DOMDebugger",
    "Emulation",
    "Fetch",
    "HeapProfiler",
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

#[cfg(test)]
mod tests {
    use super::*;

    // The test of the tool reference is in crates/cli, which saves building the program again.
    #[test]
    fn committed_types_are_what_the_generator_makes() {
        generate(Mode::Check, &[CDP_TYPES, EXTENSION_MESSAGES, PAGE_MESSAGES]).unwrap();
    }

    #[test]
    fn changed_missing_and_left_over_files_are_stale_until_they_are_refreshed() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        let path = |name: &str| Path::new(PROTOCOL_FOLDER).join(name);
        let file = |name: &str| (path(name), format!("text of {name}"));
        let files = Files::from([file("same.rs"), file("changed.rs"), file("missing.rs")]);
        refresh(&root.join(path("same.rs")), Some("text of same.rs")).unwrap();
        refresh(&root.join(path("changed.rs")), Some("another text")).unwrap();
        refresh(&root.join(path("left_over.rs")), Some("text")).unwrap();

        let stale = stale_files(root, &files, Some(PROTOCOL_FOLDER)).unwrap();
        assert_eq!(
            stale,
            [path("changed.rs"), path("missing.rs"), path("left_over.rs")]
        );
        for path in &stale {
            refresh(&root.join(path), files.get(path).map(String::as_str)).unwrap();
        }
        assert!(
            stale_files(root, &files, Some(PROTOCOL_FOLDER))
                .unwrap()
                .is_empty()
        );
        assert!(!root.join(path("left_over.rs")).exists());
    }
}
