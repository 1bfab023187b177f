//! The npm packages: `tabmux` with the launcher, one package with the program for each target, and the page library.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use flate2::Compression;
use serde_json::{Value, json};

use super::files::{Entry, Made, Parts, own_licenses};
use super::project::{DESCRIPTION, Project};
use super::tar_gz;
use super::target::Target;
use crate::say;

/// The package with the program of one target. npm installs only that of its own system.
pub(super) fn platform_package(parts: &Parts<'_>) -> Result<Made> {
    let target = parts.target;
    let mut manifest = common(parts.project, &package_name(target));
    manifest["description"] = format!("The program of tabmux for {}.", target.triple).into();
    manifest["os"] = json!([target.os]);
    manifest["cpu"] = json!([target.cpu]);
    if let Some(libc) = target.libc {
        manifest["libc"] = json!([libc]);
    }
    manifest["preferUnplugged"] = true.into();
    let readme = format!(
        "The program of [tabmux]({}) for {}; install `tabmux`.\n",
        parts.project.repository, target.triple
    );
    let mut entries = vec![
        Entry::text("package.json", format!("{manifest:#}\n")),
        Entry::text("README.md", readme),
        Entry::program("tabmux", parts.binary.bytes.clone()),
    ];
    entries.extend(parts.license_files()?);
    let name = format!("tabmux-{}-{}.tgz", target.npm, parts.project.version);
    packed(name, entries, parts.project, parts.level)
}

/// The package that people name: it starts the program of their system.
pub(super) fn launcher(project: &Project, targets: &[&Target]) -> Result<Made> {
    let mut manifest = common(project, "tabmux");
    manifest["mcpName"] = project.registry_name()?.into();
    manifest["description"] = DESCRIPTION.into();
    manifest["keywords"] = json!([
        "mcp",
        "mcp-server",
        "browser",
        "chrome",
        "agents",
        "webmcp",
        "automation"
    ]);
    manifest["bin"] = json!({"tabmux": "bin/tabmux.js"});
    manifest["engines"] = json!({"node": ">=18"});
    let programs = targets
        .iter()
        .map(|target| (package_name(target), project.version.clone().into()));
    manifest["optionalDependencies"] = Value::Object(programs.collect());
    let script = project.text_file("packaging/npm/launcher.js")?;
    let mut entries = vec![
        Entry::text("package.json", format!("{manifest:#}\n")),
        Entry::text("README.md", readme(project)?),
        Entry::program("bin/tabmux.js", format!("#!/usr/bin/env node\n{script}")),
    ];
    entries.extend(own_licenses(project)?);
    let name = format!("tabmux-{}.tgz", project.version);
    packed(name, entries, project, Compression::best())
}

/// Packs the page library as npm does it for its users.
pub(super) fn pack_page_library(project: &Project, out: &Path) -> Result<()> {
    let folder = project.root.join("packages/page");
    if !folder.join("node_modules/.package-lock.json").is_file() {
        npm(&folder, &["ci", "--silent", "--no-audit", "--no-fund"])?;
    }
    let out = out.canonicalize()?;
    let out = out.to_string_lossy();
    npm(&folder, &["pack", "--silent", "--pack-destination", &out])?;
    say(&format!(
        "                  tabmux-page-{}.tgz",
        project.version
    ));
    Ok(())
}

/// What the pages of npm and PyPI say about tabmux. The registry of MCP servers looks for its name there.
pub(super) fn readme(project: &Project) -> Result<String> {
    let text = project.text_file("packaging/README.md")?;
    let text = text.replace("@REPOSITORY@", &project.repository);
    Ok(text.replace("@REGISTRY_NAME@", &project.registry_name()?))
}

fn npm(folder: &Path, arguments: &[&str]) -> Result<()> {
    let output = Command::new("npm")
        .args(arguments)
        .current_dir(folder)
        .output();
    let output = output.context("npm does not run; install Node.js")?;
    ensure!(
        output.status.success(),
        "npm {} failed in {}: {}",
        arguments.join(" "),
        folder.display(),
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(())
}

fn package_name(target: &Target) -> String {
    format!("@tabmux/{}", target.npm)
}

fn common(project: &Project, name: &str) -> Value {
    json!({
        "name": name,
        "version": project.version,
        "license": "MIT OR Apache-2.0",
        "homepage": project.repository,
        "repository": {"type": "git", "url": format!("git+{}.git", project.repository)},
        "bugs": format!("{}/issues", project.repository),
        "publishConfig": {"access": "public", "provenance": true},
    })
}

fn packed(
    name: String,
    entries: Vec<Entry>,
    project: &Project,
    level: Compression,
) -> Result<Made> {
    let entries: Vec<_> = entries
        .into_iter()
        .map(|entry| entry.within("package"))
        .collect();
    let bytes = tar_gz::make(&entries, project.time, level)?;
    Ok(Made { name, bytes })
}
