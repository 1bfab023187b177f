//! The crates that the binary of a target is made of, from `cargo metadata`.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::project::Project;
use super::target::Target;

/// A crate in the binary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Package {
    pub(super) name: String,
    pub(super) version: String,
    /// As SPDX writes it.
    pub(super) license: String,
    pub(super) authors: Vec<String>,
    pub(super) description: Option<String>,
    pub(super) repository: Option<String>,
    pub(super) folder: PathBuf,
    /// Whether it is one of ours.
    pub(super) is_own: bool,
    /// The crates that it uses, as `name@version`.
    pub(super) uses: Vec<String>,
}

impl Package {
    pub(super) fn id(&self) -> String {
        format!("{}@{}", self.name, self.version)
    }
}

/// All crates in the binary, by name and version.
pub(super) fn packages(project: &Project, target: &Target) -> Result<Vec<Package>> {
    let mut command = Command::new("cargo");
    command.current_dir(&project.root);
    command.args([
        "metadata",
        "--format-version=1",
        "--locked",
        "--filter-platform",
    ]);
    let output = command
        .arg(target.triple)
        .output()
        .context("cargo does not run")?;
    ensure!(
        output.status.success(),
        "cargo metadata failed: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    from_metadata(&metadata)
}

fn from_metadata(metadata: &Value) -> Result<Vec<Package>> {
    let mut found = BTreeSet::new();
    let mut next = vec![root(metadata)?];
    while let Some(id) = next.pop() {
        if found.insert(id) {
            next.extend(uses(metadata, id));
        }
    }
    let mut packages: Vec<_> = found
        .into_iter()
        .filter_map(|id| package(metadata, id))
        .collect();
    packages.sort_by_key(Package::id);
    Ok(packages)
}

/// The crate of the binary.
fn root(metadata: &Value) -> Result<&str> {
    let root = list(&metadata["packages"]).find(|package| package["name"] == "tabmux");
    root.and_then(|package| package["id"].as_str())
        .context("cargo metadata has no package named tabmux")
}

/// The crates that one is linked with, without those of tests and build scripts.
fn uses<'a>(metadata: &'a Value, id: &str) -> Vec<&'a str> {
    let node = list(&metadata["resolve"]["nodes"]).find(|node| node["id"] == id);
    let is_linked = |use_: &&Value| list(&use_["dep_kinds"]).any(|kind| kind["kind"].is_null());
    let uses = node.into_iter().flat_map(|node| list(&node["deps"]));
    uses.filter(is_linked)
        .filter_map(|use_| use_["pkg"].as_str())
        .collect()
}

fn package(metadata: &Value, id: &str) -> Option<Package> {
    let of = |id: &str| list(&metadata["packages"]).find(|package| package["id"] == id);
    let package = of(id)?;
    let text = |name: &str| package[name].as_str().map(str::to_owned);
    let name_of = |id: &str| {
        let package = of(id)?;
        Some(format!(
            "{}@{}",
            package["name"].as_str()?,
            package["version"].as_str()?
        ))
    };
    let mut uses: Vec<_> = uses(metadata, id).into_iter().filter_map(name_of).collect();
    uses.sort();
    uses.dedup();
    Some(Package {
        name: text("name")?,
        version: text("version")?,
        license: text("license").unwrap_or_default().replace('/', " OR "),
        authors: list(&package["authors"])
            .filter_map(|author| author.as_str().map(str::to_owned))
            .collect(),
        description: text("description"),
        repository: text("repository"),
        folder: PathBuf::from(text("manifest_path")?).parent()?.to_owned(),
        is_own: package["source"].is_null(),
        uses,
    })
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn crates_of_tests_and_build_scripts_are_left_out() {
        let package = |name: &str| {
            json!({"id": name, "name": name, "version": "1.0.0", "license": "MIT/Apache-2.0", "authors": [],
                   "source": null, "manifest_path": format!("/x/{name}/Cargo.toml")})
        };
        let used = |name: &str, kind: Value| json!({"pkg": name, "dep_kinds": [{"kind": kind}]});
        let packages = ["tabmux", "linked", "deep", "test", "script"].map(package);
        let metadata = json!({
            "packages": packages,
            "resolve": {"nodes": [
                {"id": "tabmux", "deps": [
                    used("linked", Value::Null), used("test", json!("dev")), used("script", json!("build")),
                ]},
                {"id": "linked", "deps": [used("deep", Value::Null)]},
                {"id": "deep", "deps": []},
            ]},
        });
        let found = from_metadata(&metadata).unwrap();
        let ids: Vec<_> = found.iter().map(Package::id).collect();
        assert_eq!(ids, ["deep@1.0.0", "linked@1.0.0", "tabmux@1.0.0"]);
        assert_eq!(found[2].uses, ["linked@1.0.0"]);
        assert_eq!(found[0].license, "MIT OR Apache-2.0");
    }
}
