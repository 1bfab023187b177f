//! Every tool as clients are told about it: the five core tools of the seed, and the page actions.

use serde_json::{Map, Value, json};
use std::sync::{Arc, LazyLock};
use tabmux_browser::tools::{self, Access, ToolSpec};
use tabmux_core::{Mode, ToolName};
use tabmux_protocol::{ToolHints, ToolInfo};

/// A tool as it is published to sessions of that mode.
pub fn info(name: ToolName, mode: Mode) -> Option<ToolInfo> {
    let list = match mode {
        Mode::Progressive => &*INFOS,
        Mode::Static => &*STATIC_INFOS,
    };
    list.iter().find(|info| info.name == name.as_str()).cloned()
}

/// The core tools first, in the order of the seed, then the page actions by name.
pub fn all() -> &'static [ToolInfo] {
    &INFOS
}

/// The tools that only a session with a fixed list has.
pub fn only_static() -> &'static [ToolInfo] {
    &STATIC_INFOS[..STATIC_INFOS.len() - static_actions().count()]
}

/// The names of the page actions that a focused tab has.
pub(crate) fn page_actions() -> Vec<ToolName> {
    focused_actions()
        .map(|spec| ToolName::new(spec.name))
        .collect()
}

/// The page actions of a focused tab.
fn focused_actions() -> impl Iterator<Item = &'static ToolSpec> {
    tools::all().iter().filter(|spec| spec.progressive)
}

/// The page actions of the fixed list.
fn static_actions() -> impl Iterator<Item = &'static ToolSpec> {
    tools::all().iter().filter(|spec| !spec.opt_in)
}

/// The names of the fixed list, in the order it is published.
pub(crate) fn static_tools() -> Vec<ToolName> {
    let pages = [
        ToolName::LIST_PAGES,
        ToolName::NEW_PAGE,
        ToolName::SELECT_PAGE,
        ToolName::CLOSE_PAGE,
        ToolName::CONNECTION_STATUS,
    ];
    let actions = static_actions().map(|spec| ToolName::new(spec.name));
    pages.into_iter().chain(actions).collect()
}

/// The fixed list: pages instead of tabs, and page actions that can be told which page.
static STATIC_INFOS: LazyLock<Vec<ToolInfo>> = LazyLock::new(|| {
    let page_id =
        json!({"type": "number", "description": "The number of the page, from list_pages."});
    let one_page =
        json!({"type": "object", "properties": {"pageId": page_id}, "required": ["pageId"]});
    let pages = [
        reading(core_tool(
            ToolName::LIST_PAGES,
            "List the open pages with their numbers; the selected one is where tools work.",
            json!({"type": "object", "properties": {}}),
        )),
        core_tool(
            ToolName::NEW_PAGE,
            "Open a URL in a new page and select it.",
            json!({
                "type": "object",
                "properties": {"url": {"type": "string", "description": "URL to open"}},
                "required": ["url"]
            }),
        ),
        core_tool(
            ToolName::SELECT_PAGE,
            "Select the page that tools without a tabId work on from now on.",
            one_page.clone(),
        ),
        core_tool(
            ToolName::CLOSE_PAGE,
            "Close a page. The last one cannot be closed.",
            one_page,
        ),
        reading(core_tool(
            ToolName::CONNECTION_STATUS,
            "Tell whether a browser is connected, and who shares it.",
            json!({"type": "object", "properties": {}}),
        )),
    ];
    pages
        .into_iter()
        .chain(static_actions().map(|spec| with_tab(page_action(spec))))
        .collect()
});

fn reading(info: ToolInfo) -> ToolInfo {
    ToolInfo {
        hints: Some(ToolHints { read_only: true }),
        ..info
    }
}

/// A page action that can be told which page.
fn with_tab(mut info: ToolInfo) -> ToolInfo {
    let schema = Arc::make_mut(&mut info.input_schema);
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        let tab = json!({"type": "number"});
        properties.insert("tabId".to_owned(), tab);
    }
    info
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
    core.into_iter()
        .chain(focused_actions().map(page_action))
        .collect()
});

fn core_tool(name: ToolName, description: &str, schema: Value) -> ToolInfo {
    let Value::Object(schema) = schema else {
        unreachable!("the schemas above are objects")
    };
    published(name.as_str(), description, schema, None)
}

fn page_action(spec: &ToolSpec) -> ToolInfo {
    let hints = ToolHints {
        read_only: spec.access == Access::Read,
    };
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
        infos
            .iter()
            .map(|info| serde_json::to_string(info).unwrap().len())
            .sum()
    }

    #[test]
    fn the_lists_stay_within_their_budget() {
        let start = bytes(&[info(ToolName::CONNECT_BROWSER, Mode::Progressive).unwrap()]);
        assert!(start <= 400, "{start} bytes when disconnected");
        let focused: Vec<_> = all().iter().skip(1).cloned().collect();
        assert!(
            bytes(&focused) <= 12_000,
            "{} bytes when focused",
            bytes(&focused)
        );
    }

    #[test]
    fn the_fixed_list_stays_within_its_budget() {
        assert!(
            bytes(&STATIC_INFOS) <= 16_000,
            "{} bytes",
            bytes(&STATIC_INFOS)
        );
        assert_eq!(STATIC_INFOS.len(), static_tools().len());
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
