//! `server.json`: the entry in the registry of MCP servers, which names the packages of this release.

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::checksums::Sums;
use super::files::Made;
use super::project::{DESCRIPTION, Project};
use super::target::Target;

pub(super) fn make(project: &Project, targets: &[&Target], sums: &Sums) -> Result<Made> {
    let mut packages = vec![
        from_registry(project, "npm", "npx"),
        from_registry(project, "pypi", "uvx"),
    ];
    for target in targets {
        let file = target.mcpb_name(&project.version);
        let sum = sums
            .get(&file)
            .with_context(|| format!("{file} is missing"))?;
        packages.push(json!({
            "registryType": "mcpb",
            "identifier": project.download(&file),
            "fileSha256": sum,
            "transport": {"type": "stdio"},
        }));
    }
    let entry = json!({
        "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
        "name": project.registry_name()?,
        "title": "tabmux",
        "description": DESCRIPTION,
        "version": project.version,
        "repository": {"url": project.repository, "source": "github"},
        "websiteUrl": project.repository,
        "packages": packages,
    });
    Ok(Made {
        name: "server.json".to_owned(),
        bytes: format!("{entry:#}\n").into_bytes(),
    })
}

fn from_registry(project: &Project, registry: &str, runner: &str) -> Value {
    json!({
        "registryType": registry,
        "identifier": "tabmux",
        "version": project.version,
        "runtimeHint": runner,
        "packageArguments": [{"type": "positional", "value": "mcp"}],
        "transport": {"type": "stdio"},
    })
}
