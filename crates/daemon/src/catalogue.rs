//! Every tool as it is published to clients: the five core tools of the specification, and the page actions.

#[cfg(test)]
mod tests;

use serde_json::{Map, Value, json};
use std::sync::{Arc, LazyLock};
use tabmux_browser::tools::{self, Access, Category, ToolSpec};
use tabmux_core::{Mode, ToolName};
use tabmux_protocol::{ToolHints, ToolInfo};

/// A tool as it is published to sessions of this mode, with one browser or with `several`.
pub fn info(name: ToolName, mode: Mode, several: bool) -> Option<ToolInfo> {
    let info = match mode {
        Mode::Progressive => progressive_info(name)?,
        Mode::Static => find(&STATIC_INFOS, name)?,
    };
    let chooses = match mode {
        Mode::Progressive => name == ToolName::CONNECT_BROWSER,
        Mode::Static => takes_index(&info.name),
    };
    Some(match several && chooses {
        true => with_index(info),
        false => info,
    })
}

/// Besides the default tools: the page actions that can be added, and those that are listed together with tools of
/// the page library.
fn progressive_info(name: ToolName) -> Option<ToolInfo> {
    let added = || tools::find(name.as_str()).map(page_action);
    let beside = || find(&STATIC_INFOS, name).filter(|_| name == ToolName::LIST_BROWSER_TABS);
    find(&INFOS, name).or_else(added).or_else(beside)
}

fn find(list: &[ToolInfo], name: ToolName) -> Option<ToolInfo> {
    let mut list = list.iter();
    list.find(|info| info.name == name.as_str()).cloned()
}

/// A tool of the fixed list, if its category is enabled.
pub fn in_fixed_list(name: &str, several: bool) -> Option<ToolInfo> {
    info(ToolName::new(name), Mode::Static, several)
}

/// A tool of `--slim`, with one browser or with `several`.
pub(crate) fn slim_info(name: ToolName, several: bool) -> Option<ToolInfo> {
    let mut slim = tools::slim().iter();
    let info = page_action(slim.find(|spec| spec.name == name.as_str())?);
    Some(match several {
        true => with_index(info),
        false => info,
    })
}

/// The names of the tools of `--slim`, in the order in which they are published.
pub(crate) fn slim_tools() -> Vec<ToolName> {
    let slim = tools::slim().iter();
    slim.map(|spec| ToolName::new(spec.name)).collect()
}

/// Whether a tool works in a browser, so that it needs `browserIndex` if there are several.
pub fn takes_index(tool: &str) -> bool {
    !matches!(
        tool,
        "list_browsers"
            | "add_browser"
            | "browser_get_connection_status"
            | "list_browser_tabs"
            | "list_page_tools"
            | "call_page_tool"
            | "more_tools"
    )
}

/// Fixed by the specification.
const BROWSER_INDEX: &str = "Index of the browser to use (1-based). When multiple browsers are configured via --browserUrl or --wsEndpoint, this parameter is REQUIRED to specify which browser to target. When only one browser is configured, this parameter can be omitted. Use list_browsers to see available browser indices.";

/// Adds `browserIndex` as the first argument of a tool.
fn with_index(mut info: ToolInfo) -> ToolInfo {
    let schema = Arc::make_mut(&mut info.input_schema);
    let index = json!({"type": "integer", "exclusiveMinimum": 0, "description": BROWSER_INDEX});
    let properties = schema
        .entry("properties")
        .or_insert_with(|| Value::Object(Map::new()));
    if let Value::Object(properties) = properties {
        // Some tools have it already, in another position.
        properties.shift_remove("browserIndex");
        properties.shift_insert(0, "browserIndex".to_owned(), index);
    }
    info
}

/// The core tools in the order of the specification, then the page actions by name.
pub fn all() -> &'static [ToolInfo] {
    &INFOS
}

/// The tools that only the fixed list has, in the order in which they are published.
pub fn only_static() -> impl Iterator<Item = &'static ToolInfo> {
    let is_for_all = |name: &str| INFOS.iter().any(|info| info.name == name);
    STATIC_INFOS
        .iter()
        .filter(move |info| !is_for_all(&info.name))
}

/// Whether a tool exists only if its category is requested.
pub fn is_opt_in(tool: &str) -> bool {
    tools::find(tool).is_some_and(|spec| spec.opt_in)
}

/// The names of the page actions that are listed for a focused tab.
pub(crate) fn page_actions() -> Vec<ToolName> {
    focused_actions()
        .map(|spec| ToolName::new(spec.name))
        .collect()
}

/// The page actions that are listed for a focused tab.
fn focused_actions() -> impl Iterator<Item = &'static ToolSpec> {
    tools::all().iter().filter(|spec| spec.progressive)
}

/// The names of all page actions except those of `--slim`: other sessions neither have nor can add those, and pages
/// may use their names.
pub(crate) fn page_tools() -> Vec<ToolName> {
    let all = tools::all().iter();
    all.map(|spec| ToolName::new(spec.name)).collect()
}

/// The tools that are disabled for a session whose user chose its categories.
pub(crate) fn withheld(categories: Option<&[String]>) -> Vec<ToolName> {
    let is_off = |category: Category| {
        categories.is_some_and(|wanted| wanted.iter().all(|name| name != category.name()))
    };
    let specs = tools::all().iter().filter(|spec| is_off(spec.category));
    let specs = specs.map(|spec| ToolName::new(spec.name));
    let pages = PAGES.into_iter().filter(|_| is_off(Category::Navigation));
    pages.chain(specs).collect()
}

/// The tools that must be requested, with their categories, for a session whose user chose no categories.
pub(crate) fn on_request(categories: Option<&[String]>) -> Vec<(ToolName, Arc<str>)> {
    let specs = tools::all().iter();
    let specs = specs.filter(|spec| spec.opt_in && categories.is_none());
    let named = specs.map(|spec| (ToolName::new(spec.name), spec.category.name().into()));
    named.collect()
}

/// The page actions of the given categories.
pub(crate) fn of_categories(categories: &[String]) -> Vec<ToolName> {
    let specs = tools::all().iter();
    let specs = specs.filter(|spec| categories.iter().any(|name| name == spec.category.name()));
    specs.map(|spec| ToolName::new(spec.name)).collect()
}

/// The categories that `more_tools` can add for a focused tab, and their contents.
const MORE: [(Category, &str); 8] = [
    (Category::Debugging, "console messages, PDF"),
    (Category::Emulation, "device, network, size"),
    (Category::Input, "drag, upload, click at a point"),
    (Category::Network, "requests and their bodies"),
    (Category::Performance, "traces, heap snapshots"),
    (Category::Rules, "block and change requests"),
    (Category::Screencast, "film the page"),
    (Category::Storage, "cookies, local and session storage"),
];

/// The names of the categories that `more_tools` can add.
pub(crate) fn more_categories() -> impl Iterator<Item = &'static str> {
    MORE.iter().map(|(category, _)| category.name())
}

fn more_tools() -> ToolInfo {
    let contents = MORE.map(|(category, what)| format!("{} ({what})", category.name()));
    let names: Vec<_> = more_categories().collect();
    core_tool(
        ToolName::MORE_TOOLS,
        &format!("Add tools to this list: {}.", contents.join(", ")),
        json!({
            "type": "object",
            "properties": {"category": {"type": "string", "enum": names}},
            "required": ["category"]
        }),
    )
}

/// The category of a tool. Tools that every agent needs have none.
pub fn category(tool: &str) -> Option<Category> {
    let of_pages = PAGES.iter().any(|name| name.as_str() == tool);
    let spec = || tools::all().iter().find(|spec| spec.name == tool);
    match of_pages {
        true => Some(Category::Navigation),
        false => spec().map(|spec| spec.category),
    }
}

/// The tools that manage pages.
const PAGES: [ToolName; 4] = [
    ToolName::LIST_PAGES,
    ToolName::NEW_PAGE,
    ToolName::SELECT_PAGE,
    ToolName::CLOSE_PAGE,
];

/// The names of the fixed list, in the order in which they are published.
pub(crate) fn static_tools() -> Vec<ToolName> {
    let infos = STATIC_INFOS.iter();
    infos.map(|info| ToolName::new(&info.name)).collect()
}

/// The fixed list: pages instead of tabs, and page actions with an optional `tabId`.
static STATIC_INFOS: LazyLock<Vec<ToolInfo>> = LazyLock::new(|| {
    let page_id = json!({"type": "number", "description": "From list_pages."});
    let one_page =
        json!({"type": "object", "properties": {"pageId": page_id}, "required": ["pageId"]});
    let pages = [
        reading(core_tool(
            ToolName::LIST_PAGES,
            "Get a list of pages open in the browser.",
            json!({"type": "object", "properties": {}}),
        )),
        core_tool(
            ToolName::NEW_PAGE,
            "Open a URL in a new page and select it.",
            json!({
                "type": "object",
                "properties": {
                    "url": {"type": "string", "description": "URL to open"},
                    "background": {"type": "boolean"},
                    "isolatedContext": {
                        "type": "string",
                        "description": "Pages of one name share cookies and storage with each other only."
                    },
                    "timeout": {"type": "integer", "description": "In milliseconds."}
                },
                "required": ["url"]
            }),
        ),
        core_tool(
            ToolName::SELECT_PAGE,
            "Select the page that tools without tabId (its number) work on.",
            json!({
                "type": "object",
                "properties": {
                    "pageId": page_id,
                    "bringToFront": {"type": "boolean", "description": "Also show it to the user."}
                },
                "required": ["pageId"]
            }),
        ),
        core_tool(
            ToolName::CLOSE_PAGE,
            "Close a page. The last one cannot be closed.",
            one_page,
        ),
        reading(core_tool(
            ToolName::LIST_BROWSERS,
            "List all browsers with their index and status.",
            json!({"type": "object", "properties": {}}),
        )),
        core_tool(
            ToolName::RECONNECT_BROWSER,
            "Connect a lost browser again.",
            json!({
                "type": "object",
                "properties": {
                    "force": {"type": "boolean", "description": "Retry now, ignoring the cooldown"}
                }
            }),
        ),
        core_tool(
            ToolName::ADD_BROWSER,
            "Attach to one more browser.",
            json!({
                "type": "object",
                "properties": {
                    "url": {"type": "string", "description": "Such as http://127.0.0.1:9222"},
                    "name": {"type": "string"}
                },
                "required": ["url"]
            }),
        ),
        core_tool(
            ToolName::DISCONNECT_BROWSER,
            "Disconnect a browser. An attached one keeps running.",
            json!({"type": "object", "properties": {}}),
        ),
        core_tool(
            ToolName::SELECT_DEFAULT_BROWSER,
            "Choose the browser that tools without browserIndex use.",
            json!({
                "type": "object",
                "properties": {"browserIndex": {"type": "integer", "exclusiveMinimum": 0}},
                "required": ["browserIndex"]
            }),
        ),
        reading(core_tool(
            ToolName::LIST_BROWSER_TABS,
            "List the tabs whose pages offer tools.",
            json!({"type": "object", "properties": {}}),
        )),
        reading(core_tool(
            ToolName::LIST_PAGE_TOOLS,
            "List the tools that open pages offer themselves.",
            json!({"type": "object", "properties": {"tabId": {"type": "number"}}}),
        )),
        core_tool(
            ToolName::CALL_PAGE_TOOL,
            "Call a tool that a page offers.",
            json!({
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "arguments": {"type": "object"},
                    "tabId": {"type": "number"}
                },
                "required": ["name"]
            }),
        ),
        reading(core_tool(
            ToolName::CONNECTION_STATUS,
            "Tell whether a browser is connected.",
            json!({"type": "object", "properties": {}}),
        )),
    ];
    pages
        .into_iter()
        .chain(tools::all().iter().map(|spec| with_tab(page_action(spec))))
        .collect()
});

fn reading(info: ToolInfo) -> ToolInfo {
    ToolInfo {
        hints: Some(ToolHints::READS),
        ..info
    }
}

/// Adds the optional `tabId` to a page action.
fn with_tab(mut info: ToolInfo) -> ToolInfo {
    let schema = Arc::make_mut(&mut info.input_schema);
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        // The description is in select_page only; repeating it in twenty tools would cost every client tokens.
        properties.insert("tabId".to_owned(), json!({"type": "number"}));
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
    let mut actions: Vec<_> = focused_actions().map(page_action).collect();
    actions.push(more_tools());
    actions.sort_by(|one, other| one.name.cmp(&other.name));
    core.into_iter().chain(actions).collect()
});

fn core_tool(name: ToolName, description: &str, schema: Value) -> ToolInfo {
    let Value::Object(schema) = schema else {
        unreachable!("the schemas above are objects")
    };
    published(name.as_str(), description, schema, None)
}

fn page_action(spec: &ToolSpec) -> ToolInfo {
    let reads = spec.access == Access::Read;
    let hints = reads.then_some(ToolHints::READS);
    published(spec.name, spec.description, spec.schema(), hints)
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
