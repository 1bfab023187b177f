//! The MCP bundle of one target, which desktop applications install with a double click.

use anyhow::Result;
use serde_json::{Value, json};

use super::files::{Entry, Made, Parts};
use super::project::{DESCRIPTION, Project};
use super::target::Target;
use super::zip;

pub(super) fn make(parts: &Parts<'_>) -> Result<Made> {
    let project = parts.project;
    let icon = project.root.join("packages/extension/icons/icon-128.png");
    let mut entries = vec![
        Entry::text(
            "manifest.json",
            format!("{:#}\n", manifest(project, parts.target)),
        ),
        Entry::text("icon.png", std::fs::read(icon)?),
        Entry::program("server/tabmux", parts.binary.bytes.clone()),
    ];
    entries.extend(parts.license_files()?);
    Ok(Made {
        name: parts.target.mcpb_name(&project.version),
        bytes: zip::make(&entries, parts.level)?,
    })
}

fn manifest(project: &Project, target: &Target) -> Value {
    json!({
        "manifest_version": "0.3",
        "name": "tabmux",
        "display_name": "tabmux",
        "version": project.version,
        "description": DESCRIPTION,
        "long_description": "tabmux connects agents to Chrome, Chromium, Edge or Brave. Each agent works in its own \
            tabs, in a browser that tabmux launches or in the one that you use. Tools that a page offers become tools \
            of the agent.",
        "author": {"name": "The tabmux authors", "url": project.repository},
        "repository": {"type": "git", "url": format!("{}.git", project.repository)},
        "homepage": project.repository,
        "documentation": format!("{}/tree/main/docs", project.repository),
        "support": format!("{}/issues", project.repository),
        "icon": "icon.png",
        "license": "MIT OR Apache-2.0",
        "keywords": ["browser", "chrome", "webmcp", "automation"],
        "server": {
            "type": "binary",
            "entry_point": "server/tabmux",
            "mcp_config": {
                "command": "${__dirname}/server/tabmux",
                "args": ["mcp", "--headless=${user_config.headless}"],
                "env": {},
            },
        },
        "tools_generated": true,
        "user_config": {
            "headless": {
                "type": "boolean",
                "title": "Without a window",
                "description": "Launched browsers show no window.",
                "default": false,
                "required": false,
            },
        },
        "compatibility": {"platforms": [target.os]},
    })
}
