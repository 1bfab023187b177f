//! Every tool as clients are told about it: the five core tools of the seed, and the page actions.

use serde_json::{Map, Value, json};
use std::sync::{Arc, LazyLock};
use tabmux_browser::tools::{self, Access, ToolSpec};
use tabmux_core::ToolName;
use tabmux_protocol::{ToolHints, ToolInfo};

/// A tool as it is published.
pub fn info(name: ToolName) -> Option<ToolInfo> {
    INFOS.iter().find(|info| info.name == name.as_str()).cloned()
}

/// The core tools first, in the order of the seed, then the page actions by name.
pub fn all() -> &'static [ToolInfo] {
    &INFOS
}

/// The names of the page actions.
pub(crate) fn page_actions() -> Vec<ToolName> {
    tools::all().iter().map(|spec| ToolName::new(spec.name)).collect()
}

static INFOS: LazyLock<Vec<ToolInfo>> = LazyLock::new(|| {
    let core = [
        core_tool(
            ToolName::CONNECT_BROWSER,
            "Establish connection to browser (attach to existing or launch new)",
            json!({
                "type": "object",
                "properties": {
                    "launch": {
                        "type": "boolean",
                        "description": "Launch new browser instance if none found",
                        "default": false
                    }
                }
            }),
        ),
        core_tool(
            ToolName::LIST_TABS,
            "See all open tabs without loading their tools",
            json!({"type": "object", "properties": {}}),
        ),
        core_tool(
            ToolName::OPEN_TAB,
            "Open a new browser tab",
            json!({
                "type": "object",
                "properties": {
                    "url": {"type": "string", "description": "URL to open"},
                    "focus": {
                        "type": "boolean",
                        "description": "Focus the new tab after opening",
                        "default": true
                    }
                },
                "required": ["url"]
            }),
        ),
        core_tool(
            ToolName::FOCUS_TAB,
            "Switch focus to a different tab, loading its tools",
            json!({
                "type": "object",
                "properties": {
                    "tabId": {"type": "number", "description": "ID of the tab to focus"}
                },
                "required": ["tabId"]
            }),
        ),
        core_tool(
            ToolName::CLOSE_TAB,
            "Close a tab",
            json!({
                "type": "object",
                "properties": {
                    "tabId": {
                        "type": "number",
                        "description": "ID of tab to close. Defaults to focused tab."
                    }
                }
            }),
        ),
    ];
    core.into_iter().chain(tools::all().iter().map(page_action)).collect()
});

fn core_tool(name: ToolName, description: &str, schema: Value) -> ToolInfo {
    let Value::Object(schema) = schema else { unreachable!("the schemas above are objects") };
    published(name.as_str(), description, schema, None)
}

fn page_action(spec: &ToolSpec) -> ToolInfo {
    let hints = ToolHints { read_only: spec.access == Access::Read };
    published(spec.name, spec.description, spec.schema(), Some(hints))
}

fn published(
    name: &str,
    description: &str,
    schema: Map<String, Value>,
    hints: Option<ToolHints>,
) -> ToolInfo {
    ToolInfo {
        name: name.to_owned(),
        description: description.to_owned(),
        input_schema: Arc::new(schema),
        hints,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(infos: &[ToolInfo]) -> usize {
        infos.iter().map(|info| serde_json::to_string(info).unwrap().len()).sum()
    }

    #[test]
    fn the_lists_stay_within_their_budget() {
        let start = bytes(&[info(ToolName::CONNECT_BROWSER).unwrap()]);
        assert!(start <= 400, "{start} bytes when disconnected");
        let focused: Vec<_> = all().iter().skip(1).cloned().collect();
        assert!(bytes(&focused) <= 12_000, "{} bytes when focused", bytes(&focused));
    }

    #[test]
    fn names_are_unique_and_portable() {
        let mut names: Vec<_> = all().iter().map(|info| info.name.as_str()).collect();
        for name in &names {
            assert!(name.len() <= 64 && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'));
        }
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all().len());
    }
}
