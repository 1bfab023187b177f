//! The list of what is in the binary, in CycloneDX format.

use std::collections::HashMap;
use std::process::Command;

use anyhow::Result;
use serde_json::{Value, json};

use super::dependency_graph::{self, Package};
use super::files::Made;
use super::project::{DESCRIPTION, Project};
use super::target::Target;

pub(super) fn make(project: &Project, target: &Target) -> Result<Made> {
    let packages = dependency_graph::packages(project, target)?;
    let sums = checksums(&project.text_file("Cargo.lock")?);
    let (own, rest): (Vec<_>, Vec<_>) = packages
        .iter()
        .partition(|package| package.name == "tabmux");
    let components: Vec<_> = rest
        .iter()
        .map(|package| component(package, &sums))
        .collect();
    let uses = packages.iter().map(|package| {
        let on: Vec<_> = package.uses.iter().map(|id| reference(id)).collect();
        json!({"ref": reference(&package.id()), "dependsOn": on})
    });
    let main = own.first().map(|package| {
        json!({
            "type": "application", "bom-ref": reference(&package.id()), "name": "tabmux",
            "version": project.version, "description": DESCRIPTION,
            "licenses": [{"expression": package.license}], "purl": reference(&package.id()),
            "externalReferences": [{"type": "vcs", "url": project.repository}],
        })
    });
    let bom = json!({
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "metadata": {
            "component": main,
            "properties": [
                {"name": "tabmux:commit", "value": project.commit},
                {"name": "tabmux:rustc", "value": rustc()},
                {"name": "tabmux:target", "value": target.triple},
            ],
        },
        "components": components,
        "dependencies": uses.collect::<Vec<_>>(),
    });
    Ok(Made {
        name: format!("tabmux-{}.cdx.json", project.version),
        bytes: format!("{bom:#}\n").into_bytes(),
    })
}

fn component(package: &Package, sums: &HashMap<String, String>) -> Value {
    let id = package.id();
    let mut component = json!({
        "type": "library", "bom-ref": reference(&id), "name": package.name, "version": package.version,
        "licenses": [{"expression": package.license}], "purl": reference(&id),
    });
    if let Some(description) = &package.description {
        component["description"] = description.trim().into();
    }
    if let Some(sum) = sums.get(&id) {
        component["hashes"] = json!([{"alg": "SHA-256", "content": sum}]);
    }
    if let Some(repository) = &package.repository {
        component["externalReferences"] = json!([{"type": "vcs", "url": repository}]);
    }
    component
}

/// The address of a crate in a list of packages.
fn reference(id: &str) -> String {
    format!("pkg:cargo/{}", id.replace('+', "%2B"))
}

/// The checksums of the lock file, by `name@version`.
fn checksums(lock: &str) -> HashMap<String, String> {
    let value = |block: &str, key: &str| {
        let line = block
            .lines()
            .find_map(|line| line.strip_prefix(key)?.strip_prefix(" = \""));
        line.map(|text| text.trim_end_matches('"').to_owned())
    };
    let packages = lock.split("[[package]]").filter_map(|block| {
        let id = format!("{}@{}", value(block, "name")?, value(block, "version")?);
        Some((id, value(block, "checksum")?))
    });
    packages.collect()
}

fn rustc() -> String {
    let output = Command::new("rustc").arg("--version").output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    text.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_names_every_crate_once_with_license_and_checksum() {
        let project = Project::read().unwrap();
        let target = Target::of_this_machine().unwrap();
        let made = make(&project, target).unwrap();
        let bom: Value = serde_json::from_slice(&made.bytes).unwrap();
        let components = bom["components"].as_array().unwrap();
        let named = |name: &str| components.iter().filter(|one| one["name"] == name).count();
        assert_eq!(
            (named("tokio"), named("tabmux-core"), named("proptest")),
            (1, 1, 0)
        );
        for component in components {
            assert!(
                component["licenses"][0]["expression"]
                    .as_str()
                    .is_some_and(|text| !text.is_empty())
            );
            let is_own = component["name"].as_str().unwrap().starts_with("tabmux-");
            assert_eq!(component["hashes"].is_null(), is_own, "{component}");
        }
        assert_eq!(bom["metadata"]["component"]["version"], *project.version);
    }
}
