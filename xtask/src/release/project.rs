//! The facts that all packages share: version, place, commit, time.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::files::project_root;

#[derive(Debug)]
pub(super) struct Project {
    pub(super) root: PathBuf,
    pub(super) version: String,
    /// The address of the repository, from `Cargo.toml`.
    pub(super) repository: String,
    /// The first digits of the commit, with `-modified` if files differ from it.
    pub(super) commit: String,
    /// The time of the commit, in seconds since 1970: the time of every packaged file.
    pub(super) time: u64,
}

impl Project {
    pub(super) fn read() -> Result<Self> {
        let root = project_root();
        let manifest = std::fs::read_to_string(root.join("Cargo.toml"))?;
        let digits = git(&root, &["rev-parse", "--short=12", "HEAD"])?;
        let modified = match git(&root, &["status", "--porcelain"])?.is_empty() {
            true => "",
            false => "-modified",
        };
        let time = match std::env::var("SOURCE_DATE_EPOCH") {
            Ok(time) => time,
            Err(_) => git(&root, &["show", "--no-patch", "--format=%ct", "HEAD"])?,
        };
        Ok(Self {
            version: workspace_value(&manifest, "version")?,
            repository: workspace_value(&manifest, "repository")?,
            commit: format!("{digits}{modified}"),
            time: time
                .parse()
                .context("the time of the commit is not a number")?,
            root,
        })
    }

    /// The name in the registry of MCP servers; its owner proves to be the repository's owner.
    pub(super) fn registry_name(&self) -> Result<String> {
        let path = self.repository.strip_prefix("https://github.com/");
        let (owner, name) = path
            .and_then(|path| path.split_once('/'))
            .context("the repository is not on GitHub, so its name in the registry is unknown")?;
        Ok(format!("io.github.{owner}/{name}"))
    }

    /// Where the files of this release can be downloaded.
    pub(super) fn download(&self, file: &str) -> String {
        format!(
            "{}/releases/download/v{}/{file}",
            self.repository, self.version
        )
    }

    pub(super) fn text_file(&self, path: &str) -> Result<String> {
        let path = self.root.join(path);
        std::fs::read_to_string(&path).with_context(|| format!("{} cannot be read", path.display()))
    }
}

/// One line for the lists of packages. The registry of MCP servers takes at most 100 characters.
pub(super) const DESCRIPTION: &str =
    "Many AI agents share one browser, and every page's own tools become their tools.";

/// A value of `[workspace.package]`.
fn workspace_value(manifest: &str, name: &str) -> Result<String> {
    let (_, section) = manifest
        .split_once("[workspace.package]\n")
        .context("Cargo.toml has no [workspace.package]")?;
    let value = section
        .lines()
        .take_while(|line| !line.starts_with('['))
        .find_map(|line| {
            let (key, value) = line.split_once(" = ")?;
            (key == name).then(|| value.trim_matches('"').to_owned())
        });
    value.with_context(|| format!("Cargo.toml has no {name} for the workspace"))
}

fn git(root: &Path, arguments: &[&str]) -> Result<String> {
    let output = Command::new("git")
        .arg("-C")
        .arg(root)
        .args(arguments)
        .output();
    let output = output.context("git does not run; a release needs a checkout and git")?;
    ensure!(
        output.status.success(),
        "git {}: {}",
        arguments.join(" "),
        String::from_utf8_lossy(&output.stderr).trim()
    );
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn every_package_has_the_version_and_the_place_of_the_workspace() {
        let project = Project::read().unwrap();
        for file in [
            "packages/page/package.json",
            "packages/extension/package.json",
            "packages/extension/manifest.json",
        ] {
            let json: Value = serde_json::from_str(&project.text_file(file).unwrap()).unwrap();
            assert_eq!(json["version"], *project.version, "{file}");
        }
        let page: Value =
            serde_json::from_str(&project.text_file("packages/page/package.json").unwrap())
                .unwrap();
        let expected = format!("git+{}.git", project.repository);
        assert_eq!(page["repository"]["url"], *expected);
        let manifest = project.text_file("Cargo.toml").unwrap();
        let own = manifest
            .lines()
            .filter(|line| line.contains("path = \"crates/"));
        for line in own.filter(|line| !line.starts_with("tabmux-testkit")) {
            let version = format!("version = \"{}\"", project.version);
            assert!(line.contains(&version), "{line}");
        }
    }

    #[test]
    fn files_that_llms_txt_names_exist() {
        let project = Project::read().unwrap();
        let text = project.text_file("llms.txt").unwrap();
        let start = format!("]({}/blob/main/", project.repository);
        let files: Vec<_> = text
            .split(&start)
            .skip(1)
            .filter_map(|rest| rest.split(')').next())
            .collect();
        assert!(files.len() > 5, "{files:?}");
        for file in files {
            assert!(project.root.join(file).is_file(), "{file}");
        }
        assert_eq!(text.matches("](http").count(), text.matches(&start).count());
    }

    #[test]
    fn the_registry_name_is_that_of_the_repository() {
        assert_eq!(
            Project::read().unwrap().registry_name().unwrap(),
            "io.github.tabmux/tabmux"
        );
    }
}
