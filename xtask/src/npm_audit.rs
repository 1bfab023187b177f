//! `cargo xtask npm-audit`: asks the npm registry for known vulnerabilities in the packages of every folder that has a
//! `package-lock.json`.
//!
//! All of them count, those of tests, too: they see the sources, and some run on machines that publish.

use std::{fs, path::Path, process::Command};

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde_json::Value;

use crate::{
    files::{SourceFile, project_root, source_files},
    say,
};

/// Prints every finding that is not tolerated, and fails if there is one. Without the registry nothing is checked.
pub(crate) fn run() -> Result<()> {
    let root = project_root();
    let tolerated: Vec<Tolerated> = serde_json::from_str(&fs::read_to_string(root.join(LIST))?)
        .with_context(|| format!("{LIST} cannot be read"))?;
    let files = source_files(&root)?;
    let mut problems = Vec::new();
    for file in files.iter().filter(|file| file.is_named(LOCK)) {
        let folder = Folder::of(file)?;
        problems.extend(folder.outdated(&tolerated));
        match findings(&audit(&root.join(&folder.path))?) {
            Some(found) => problems.extend(folder.refused(&found, &tolerated)),
            None => say(&format!(
                "Vulnerabilities of the npm packages in {} are not checked: the npm registry does not answer.",
                folder.path
            )),
        }
    }
    for line in &problems {
        say(line);
    }
    match problems.len() {
        0 => Ok(()),
        count => bail!(
            "findings in packages from npm: {count}; take other versions, or list what does no harm with its reason in {LIST}"
        ),
    }
}

/// `npm audit` ends with 1 both for a finding and without a network, but only an answer has a report.
fn audit(folder: &Path) -> Result<Value> {
    let output = Command::new("npm")
        .args(["audit", "--json", "--fetch-retries=1"])
        .current_dir(folder)
        .output()
        .context("npm did not start: install Node.js with npm")?;
    Ok(serde_json::from_slice(&output.stdout).unwrap_or_default())
}

/// A finding that is accepted in one version of a package, in one folder.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tolerated {
    folder: String,
    package: String,
    version: String,
    /// All of this version, if there are none.
    #[serde(default)]
    advisories: Vec<String>,
    #[expect(dead_code, reason = "for those who read the list; it must be there")]
    reason: String,
}

/// What is known about a package.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Finding {
    package: String,
    /// `GHSA-…`
    advisory: String,
    severity: String,
    title: String,
}

/// The findings of a report; `None` if it is an error instead.
fn findings(report: &Value) -> Option<Vec<Finding>> {
    let packages = report["vulnerabilities"].as_object()?;
    let mut found = Vec::new();
    for (name, package) in packages {
        // A text names another package of the report, on which this one depends.
        let via = package["via"].as_array().into_iter().flatten();
        let own = via.filter(|cause| !cause.is_string());
        found.extend(own.map(|cause| Finding::of(name, cause)));
    }
    if found.is_empty() {
        found.extend(packages.keys().map(|name| Finding::of(name, &Value::Null)));
    }
    Some(found)
}

impl Finding {
    fn of(package: &str, cause: &Value) -> Self {
        let text = |key: &str| cause[key].as_str().unwrap_or("?").to_owned();
        let address = text("url");
        Self {
            package: package.to_owned(),
            advisory: address.rsplit('/').next().unwrap_or(&address).to_owned(),
            severity: text("severity"),
            title: text("title"),
        }
    }
}

/// A folder with packages.
struct Folder {
    /// Below the project's root; `.` is the root.
    path: String,
    lock: Value,
}

impl Folder {
    fn of(file: &SourceFile) -> Result<Self> {
        let path = file.path.parent().and_then(Path::to_str);
        let path = path.filter(|path| !path.is_empty()).unwrap_or(".");
        let lock = serde_json::from_str(&file.text).with_context(|| format!("{path}/{LOCK}"))?;
        Ok(Self {
            path: path.to_owned(),
            lock,
        })
    }

    /// The findings that nothing tolerates, as lines.
    fn refused(&self, found: &[Finding], tolerated: &[Tolerated]) -> Vec<String> {
        let is_tolerated = |finding: &&Finding| {
            tolerated.iter().any(|entry| {
                let names_it =
                    entry.advisories.is_empty() || entry.advisories.contains(&finding.advisory);
                entry.package == finding.package && names_it && self.has_only(entry)
            })
        };
        let refused = found.iter().filter(|finding| !is_tolerated(finding));
        let line = |finding: &Finding| {
            let Finding {
                package,
                advisory,
                severity,
                title,
            } = finding;
            format!("{}: {package}: {title} ({advisory}, {severity})", self.path)
        };
        refused.map(line).collect()
    }

    /// The entries of the list for packages that are not here, or are in another version.
    fn outdated(&self, tolerated: &[Tolerated]) -> Vec<String> {
        let here = tolerated.iter().filter(|entry| entry.folder == self.path);
        let outdated = here.filter(|entry| !self.has_only(entry));
        let line = |entry: &Tolerated| {
            let Tolerated {
                package, version, ..
            } = entry;
            format!(
                "{}: {package} {version} is not installed; remove it from {LIST}",
                self.path
            )
        };
        outdated.map(line).collect()
    }

    /// Whether the entry is about this folder, and its version is the only one of the package here.
    fn has_only(&self, entry: &Tolerated) -> bool {
        let end = format!("node_modules/{}", entry.package);
        let packages = self.lock["packages"].as_object().into_iter().flatten();
        let mut versions = packages
            .filter(|(path, _)| **path == end || path.ends_with(&format!("/{end}")))
            .map(|(_, package)| &package["version"])
            .peekable();
        let is_here = entry.folder == self.path && versions.peek().is_some();
        is_here && versions.all(|version| *version == entry.version)
    }
}

const LIST: &str = "scripts/tolerated-findings.json";
const LOCK: &str = "package-lock.json";

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_finding_is_refused_unless_it_is_listed() {
        let folder = folder("fixtures/agents", "1.8.3");
        let found = findings(&report()).unwrap();
        let all = [
            "fixtures/agents: angular: slow (GHSA-1, high)",
            "fixtures/agents: angular: worse (GHSA-2, critical)",
        ];
        assert_eq!(folder.refused(&found, &[]), all);
        assert_eq!(
            folder.refused(&found, &[listed(&["GHSA-1"])]),
            [all[1].to_owned()]
        );
        assert!(folder.refused(&found, &[listed(&[])]).is_empty());
    }

    #[test]
    fn another_version_or_folder_is_not_tolerated() {
        let found = findings(&report()).unwrap();
        let newer = folder("fixtures/agents", "1.9.0");
        assert_eq!(newer.refused(&found, &[listed(&[])]).len(), 2);
        assert_eq!(newer.outdated(&[listed(&[])]).len(), 1);
        let elsewhere = folder("clients", "1.8.3");
        assert_eq!(elsewhere.refused(&found, &[listed(&[])]).len(), 2);
        assert!(elsewhere.outdated(&[listed(&[])]).is_empty());
    }

    #[test]
    fn an_error_is_no_report() {
        let error = json!({"message": "405 Method Not Allowed", "statusCode": 405});
        assert_eq!(findings(&error), None);
        assert_eq!(findings(&Value::Null), None);
        assert_eq!(findings(&json!({"vulnerabilities": {}})), Some(Vec::new()));
    }

    #[test]
    fn a_finding_without_a_cause_counts() {
        let found = findings(&json!({"vulnerabilities": {"a": {"via": ["b"]}}}));
        assert_eq!(found.unwrap().len(), 1);
    }

    #[test]
    fn the_list_fits_the_packages() {
        let root = project_root();
        let list = fs::read_to_string(root.join(LIST)).unwrap();
        let list: Vec<Tolerated> = serde_json::from_str(&list).unwrap();
        for entry in &list {
            let path = Path::new(&entry.folder).join(LOCK);
            let text = fs::read_to_string(root.join(&path)).unwrap();
            let folder = Folder::of(&SourceFile { path, text }).unwrap();
            assert!(folder.has_only(entry), "{entry:?}");
        }
    }

    /// As npm prints it: a package with two advisories, and one that depends on it.
    fn report() -> Value {
        let cause = |id: &str, title: &str, severity: &str| {
            let url = format!("https://github.com/advisories/{id}");
            json!({"source": 1, "name": "angular", "title": title, "url": url, "severity": severity})
        };
        let causes = [
            cause("GHSA-1", "slow", "high"),
            cause("GHSA-2", "worse", "critical"),
        ];
        json!({"auditReportVersion": 2, "vulnerabilities": {
            "angular": {"name": "angular", "via": causes},
            "angular-more": {"name": "angular-more", "via": ["angular"]},
        }})
    }

    fn folder(path: &str, version: &str) -> Folder {
        Folder {
            path: path.into(),
            lock: json!({"packages": {"": {}, "node_modules/angular": {"version": version}}}),
        }
    }

    fn listed(advisories: &[&str]) -> Tolerated {
        Tolerated {
            folder: "fixtures/agents".into(),
            package: "angular".into(),
            version: "1.8.3".into(),
            advisories: advisories.iter().map(|id| (*id).to_owned()).collect(),
            reason: String::new(),
        }
    }
}
