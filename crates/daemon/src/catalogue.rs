//! Every tool as it is published to clients: the session tools and the page actions.

#[cfg(test)]
mod tests;

use crate::tools::{self as session_tools, ListedIn, SessionToolSpec};
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
    let beside = || {
        let tool = session_tools::find(name.as_str())?;
        (tool.listed_in == ListedIn::FixedAndLibrary).then(|| tool.info())
    };
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

/// The schema of a tool's structured answers, if they are more than its text parsed as JSON or the client wants to know.
/// Published to clients on other machines only: for the others the list would become too long.
pub(crate) fn output_schema(name: &str) -> Option<Value> {
    match session_tools::find(name) {
        Some(tool) => (tool.output_schema)(),
        None => tools::find(name)?.output_schema(),
    }
}

/// Whether a tool works in a browser, so that it needs `browserIndex` if there are several.
pub fn takes_index(tool: &str) -> bool {
    session_tools::find(tool).is_none_or(|tool| tool.takes_index)
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

/// The tools of progressive sessions: the five of the specification in its order, then the others by name.
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
    let ours = session_tools::all().iter();
    let ours = ours.filter(|tool| tool.category.is_some_and(is_off));
    let ours = ours.map(|tool| ToolName::new(tool.name));
    ours.chain(specs).collect()
}

/// The tools that change nothing, of any list.
pub(crate) fn reading() -> Vec<ToolName> {
    let reads = |info: &ToolInfo| info.hints.is_some_and(|hints| hints.read_only);
    let all = everything().filter(|info| reads(info));
    all.map(|info| ToolName::new(&info.name)).collect()
}

/// The others.
pub(crate) fn acting() -> Vec<ToolName> {
    let reading = reading();
    let all = everything().map(|info| ToolName::new(&info.name));
    all.filter(|tool| !reading.contains(tool)).collect()
}

fn everything() -> impl Iterator<Item = ToolInfo> {
    let listed = INFOS.iter().chain(STATIC_INFOS.iter()).cloned();
    let actions = tools::all().iter().chain(tools::slim()).map(page_action);
    listed.chain(actions)
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

/// The category of a tool. Tools that every agent needs have none.
pub fn category(tool: &str) -> Option<Category> {
    match session_tools::find(tool) {
        Some(tool) => tool.category,
        None => tools::find(tool).map(|spec| spec.category),
    }
}

/// The names of the fixed list, in the order in which they are published.
pub(crate) fn static_tools() -> Vec<ToolName> {
    let infos = STATIC_INFOS.iter();
    infos.map(|info| ToolName::new(&info.name)).collect()
}

/// The fixed list: pages instead of tabs, and page actions with an optional `tabId`.
static STATIC_INFOS: LazyLock<Vec<ToolInfo>> = LazyLock::new(|| {
    let ours = session_infos(ListedIn::is_fixed);
    let actions = tools::all().iter().map(|spec| with_tab(page_action(spec)));
    ours.chain(actions).collect()
});

/// Adds the optional `tabId` to a page action.
fn with_tab(mut info: ToolInfo) -> ToolInfo {
    let schema = Arc::make_mut(&mut info.input_schema);
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        // The description is in select_page only; repeating it in twenty tools would cost every client tokens.
        properties.insert("tabId".to_owned(), json!({"type": "number"}));
    }
    info
}

/// The progressive list, with every page action that it has without `more_tools`.
static INFOS: LazyLock<Vec<ToolInfo>> = LazyLock::new(|| {
    let first = session_infos(|list| list == ListedIn::Progressive);
    let focused = session_infos(|list| list == ListedIn::ProgressiveFocused);
    let mut focused: Vec<_> = focused.chain(focused_actions().map(page_action)).collect();
    focused.sort_by(|one, other| one.name.cmp(&other.name));
    first.chain(focused).collect()
});

/// The session tools of some lists, in the order of their table.
fn session_infos(is_wanted: impl Fn(ListedIn) -> bool) -> impl Iterator<Item = ToolInfo> {
    let tools = session_tools::all().iter();
    let tools = tools.filter(move |tool| is_wanted(tool.listed_in));
    tools.map(SessionToolSpec::info)
}

fn page_action(spec: &ToolSpec) -> ToolInfo {
    let reads = spec.access == Access::Read;
    ToolInfo {
        name: spec.name.to_owned(),
        description: spec.description.to_owned(),
        input_schema: Arc::new(spec.schema()),
        output_schema: None,
        hints: reads.then_some(ToolHints::READS),
    }
}
