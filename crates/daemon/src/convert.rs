//! Conversion between wire types and core types: calls come in, replies go out.

mod advice;
mod answers;
mod arguments;
mod browsers;
mod page_answers;
mod page_tools;
mod pages;
mod parts;

pub(crate) use advice::without_missing_tools;
pub(crate) use browsers::renewal;
pub(crate) use page_answers::{page_error, page_result, page_value};
pub(crate) use page_tools::{Missing, list as page_tool_list, tabs as browser_tabs};
pub(crate) use pages::status;
pub(crate) use parts::Part;

use self::answers::{
    About, Added, Closed, Connected, Focused, NotConnected, Opened, Page, json, names, tab_list,
};
use self::arguments::{
    CallPageTool, CloseTab, ConnectBrowser, FocusTab, ListPageTools, ListTabs, MoreTools, NewPage,
    OnePage, OpenTab, SelectPage, TabArgument,
};
use crate::catalogue;
use crate::options::{BrowserPlan, SessionOptions};

use indexmap::IndexMap;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;
use tabmux_browser::tools::{self, BadArguments, Block, Prepared, ToolOutput, ToolSpec};
use tabmux_browser::{AddressError, BrowserInfo, TabFacts};
use tabmux_core as core;
use tabmux_core::{CallKind, ConnectFailure, Mode, Reply, TabId, TabRef, ToolName};
use tabmux_protocol::{CallFailure, CallReply, CallRequest, Content};

/// A call with parsed arguments.
#[derive(Debug)]
pub(crate) struct Parsed {
    pub(crate) kind: CallKind,
    /// The number of the browser that the agent named.
    pub(crate) browser: Option<i64>,
    /// How to connect a browser that the agent adds.
    pub(crate) plan: Option<BrowserPlan>,
    pub(crate) extras: CallExtras,
    /// The arguments of a page tool.
    pub(crate) page_arguments: Arc<Map<String, Value>>,
    pub(crate) timeout: Option<Duration>,
    /// The prepared page action, for page actions.
    pub(crate) prepared: Option<Prepared>,
}

/// Options of a call that the core does not need.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallExtras {
    /// The timeout for loading the page.
    pub(crate) load_limit: Option<Duration>,
    /// The name of the isolated context for the new tab.
    pub(crate) context: Option<String>,
    /// Whether to bring the tab to the front.
    pub(crate) to_front: bool,
    /// Which part of a tab list to return.
    pub(crate) part: Part,
}

/// Why a call is rejected before it reaches the core.
#[derive(Debug)]
pub(crate) enum Rejected {
    /// The tool does not exist.
    UnknownTool,
    /// The arguments are invalid; the text is for the agent.
    Arguments(String),
}

/// The tab that a call names, if it names one.
pub(crate) fn named_tab(arguments: &RawValue) -> Option<TabRef> {
    let arguments: Map<String, Value> = serde_json::from_str(arguments.get()).ok()?;
    tab_in(&arguments)
}

fn tab_in(arguments: &Map<String, Value>) -> Option<TabRef> {
    match arguments.get("tabId")? {
        Value::String(text) => Some(TabRef::from(text.as_str())),
        Value::Number(number) => number.as_f64().map(TabRef::from),
        _ => None,
    }
}

/// Whether this is the name of a tabmux tool, in any list.
pub(crate) fn is_ours(name: &str) -> bool {
    let mut all = catalogue::all().iter().chain(catalogue::only_static());
    all.any(|info| info.name == name)
}

/// Parses a call. Invalid input changes nothing.
pub(crate) fn parse(request: &CallRequest, options: &SessionOptions) -> Result<Parsed, Rejected> {
    let (browser, arguments) = browsers::without_index(&request.tool, &request.arguments)?;
    let parsed = parse_in_browser(request, &arguments, options)?;
    Ok(Parsed { browser, ..parsed })
}

/// Parses a call whose browser is known.
fn parse_in_browser(
    request: &CallRequest,
    arguments: &RawValue,
    options: &SessionOptions,
) -> Result<Parsed, Rejected> {
    if options.slim {
        let mut slim = tools::slim().iter();
        let spec = slim.find(|spec| spec.name == request.tool);
        return prepare(spec.ok_or(Rejected::UnknownTool)?, arguments, None);
    }
    let (mode, policy) = (options.mode, options.policy);
    let mut plan = None;
    let mut extras = CallExtras::default();
    let mut page_arguments = Map::new();
    let kind = match request.tool.as_str() {
        "connect_browser" => {
            let ConnectBrowser { launch } = tools::parse("connect_browser", arguments)?;
            CallKind::ConnectBrowser {
                launch: launch.unwrap_or(false),
            }
        }
        "list_tabs" => {
            extras.part = parts::parse("list_tabs", arguments)?;
            CallKind::ListTabs
        }
        "open_tab" => {
            let OpenTab { url, focus } = tools::parse("open_tab", arguments)?;
            let address = policy.parse(&url)?;
            CallKind::OpenTab {
                url: address.as_str().into(),
                focus: focus.unwrap_or(true),
            }
        }
        "focus_tab" => {
            let FocusTab { tab_id } = tools::parse("focus_tab", arguments)?;
            CallKind::FocusTab { tab: tab_id.0 }
        }
        "close_tab" => {
            let CloseTab { tab_id } = tools::parse("close_tab", arguments)?;
            CallKind::CloseTab {
                tab: tab_id.map(|tab| tab.0),
            }
        }
        "list_pages" => {
            extras.part = parts::parse("list_pages", arguments)?;
            CallKind::ListPages
        }
        "new_page" => {
            let NewPage {
                url,
                isolated_context,
                timeout,
                ..
            } = tools::parse("new_page", arguments)?;
            let limit = timeout.filter(|timeout| *timeout > 0);
            extras.load_limit = limit.map(Duration::from_millis);
            extras.context = isolated_context.filter(|name| !name.is_empty());
            CallKind::NewPage {
                url: policy.parse(&url)?.as_str().into(),
            }
        }
        "select_page" => {
            let SelectPage {
                page_id,
                bring_to_front,
            } = tools::parse("select_page", arguments)?;
            extras.to_front = bring_to_front;
            CallKind::SelectPage { tab: page_id.0 }
        }
        "close_page" => {
            let OnePage { page_id } = tools::parse("close_page", arguments)?;
            CallKind::ClosePage { tab: page_id.0 }
        }
        "list_browsers" => {
            let ListTabs {} = tools::parse("list_browsers", arguments)?;
            CallKind::ListBrowsers
        }
        "reconnect_browser" => {
            let browsers::Reconnect { force } = tools::parse("reconnect_browser", arguments)?;
            CallKind::ReconnectBrowser { force }
        }
        "add_browser" if mode == Mode::Static => {
            let browsers::Add { url, name } = tools::parse("add_browser", arguments)?;
            let addition = options.addition(&url, name).map_err(Rejected::Arguments)?;
            let meant = addition.meant();
            plan = Some(addition);
            CallKind::AddBrowser { meant }
        }
        "disconnect_browser" => {
            let ListTabs {} = tools::parse("disconnect_browser", arguments)?;
            CallKind::DisconnectBrowser
        }
        "select_default_browser" if mode == Mode::Static && options.allow_default => {
            let ListTabs {} = tools::parse("select_default_browser", arguments)?;
            CallKind::SelectDefaultBrowser
        }
        "list_browser_tabs" => {
            extras.part = parts::parse("list_browser_tabs", arguments)?;
            CallKind::ListBrowserTabs
        }
        tool @ ("add_browser" | "select_default_browser") if mode == Mode::Progressive => {
            let tool = ToolName::new(tool);
            let refusal = core::Refusal::OtherList { tool };
            return Err(Rejected::Arguments(refusal.to_string()));
        }
        "more_tools" => {
            let MoreTools { category } = tools::parse("more_tools", arguments)?;
            more_tools(category)?
        }
        "list_page_tools" => {
            let ListPageTools { tab_id } = tools::parse("list_page_tools", arguments)?;
            CallKind::ListPageTools {
                tab: tab_id.map(|tab| tab.0),
            }
        }
        "call_page_tool" => {
            let CallPageTool {
                name,
                arguments,
                tab_id,
            } = tools::parse("call_page_tool", arguments)?;
            let name = ToolName::parse(&name).ok_or_else(|| no_such_page_tool(&name))?;
            page_arguments = arguments.unwrap_or_default();
            CallKind::CallPageTool {
                name,
                tab: tab_id.map(|tab| tab.0),
            }
        }
        "browser_get_connection_status" => {
            let ListTabs {} = tools::parse("browser_get_connection_status", arguments)?;
            CallKind::ConnectionStatus
        }
        name if mode == Mode::Static => {
            let (tab, arguments) = without_tab(name, arguments)?;
            return parse_page_action(name, &arguments, tab);
        }
        name => return parse_page_action(name, arguments, None),
    };
    Ok(Parsed {
        kind,
        browser: None,
        plan,
        timeout: extras.load_limit,
        extras,
        page_arguments: Arc::new(page_arguments),
        prepared: None,
    })
}

/// Parses a call of a page tool by its name. `tabId` names the tab, unless the page's tool has an argument of that
/// name; this is decided once the tab is known.
pub(crate) fn page_tool(name: ToolName, arguments: &RawValue) -> Result<Parsed, Rejected> {
    let arguments: Map<String, Value> = tools::parse("the page's tool", arguments)?;
    let tab = tab_in(&arguments);
    Ok(Parsed {
        kind: CallKind::PageTool { name, tab },
        browser: None,
        plan: None,
        extras: CallExtras::default(),
        page_arguments: Arc::new(arguments),
        timeout: None,
        prepared: None,
    })
}

fn more_tools(category: String) -> Result<CallKind, Rejected> {
    let tools = catalogue::of_categories(std::slice::from_ref(&category));
    if tools.is_empty() {
        let known: Vec<_> = catalogue::more_categories().collect();
        return Err(Rejected::Arguments(format!(
            "There is no category `{}`. Call more_tools with one of {}.",
            tabmux_browser::text::one_line(&category, 100),
            known.join(", ")
        )));
    }
    let category = category.into();
    Ok(CallKind::MoreTools { category, tools })
}

fn no_such_page_tool(name: &str) -> Rejected {
    Rejected::Arguments(format!(
        "No page offers a tool `{}`. Call list_page_tools to see what pages offer.",
        tabmux_browser::text::one_line(name, 100)
    ))
}

/// Removes `tabId` from the arguments of a page action; the action itself has no such argument.
fn without_tab(
    name: &str,
    arguments: &RawValue,
) -> Result<(Option<TabRef>, Box<RawValue>), Rejected> {
    let spec = tools::find(name).ok_or(Rejected::UnknownTool)?;
    let mut map: IndexMap<String, Box<RawValue>> = tools::parse(spec.name, arguments)?;
    let given = map
        .shift_remove("tabId")
        .or_else(|| map.shift_remove("pageId"));
    let tab = match given {
        Some(raw) => Some(tools::parse::<TabArgument>(spec.name, &raw)?.0),
        None => None,
    };
    let rest = serde_json::value::to_raw_value(&map)
        .map_err(|error| Rejected::Arguments(error.to_string()))?;
    Ok((tab, rest))
}

fn parse_page_action(
    name: &str,
    arguments: &RawValue,
    tab: Option<TabRef>,
) -> Result<Parsed, Rejected> {
    let spec = tools::find(name).ok_or(Rejected::UnknownTool)?;
    prepare(spec, arguments, tab)
}

fn prepare(spec: &ToolSpec, arguments: &RawValue, tab: Option<TabRef>) -> Result<Parsed, Rejected> {
    let prepared = spec.prepare(arguments)?;
    let access = match spec.access {
        tools::Access::Read => core::Access::Read,
        tools::Access::Act => core::Access::Act,
        tools::Access::Bypass => core::Access::Bypass,
    };
    let kind = CallKind::Page {
        tool: ToolName::new(spec.name),
        access,
        tab,
    };
    Ok(Parsed {
        kind,
        browser: None,
        plan: None,
        extras: CallExtras::default(),
        page_arguments: Arc::default(),
        timeout: prepared.timeout,
        prepared: Some(prepared),
    })
}

/// Converts a reply of the core for the client. `payload` is the output of a page action, `part` selects a part of a
/// list.
pub(crate) fn reply(
    reply: Reply,
    payload: Option<CallReply>,
    part: Part,
    mode: Mode,
) -> Result<CallReply, CallFailure> {
    if mode == Mode::Static {
        return pages::reply(reply, payload, part);
    }
    Ok(match reply {
        Reply::Connected {
            name,
            version,
            tab_count,
        } => json(&Connected {
            connected: true,
            browser: About {
                name: &name,
                version: &version,
            },
            tab_count,
        }),
        Reply::NotConnected(failure) => {
            let (error, instructions) = (failure.error(), failure.instructions());
            let answer = json(&NotConnected {
                connected: false,
                error,
                instructions,
            });
            CallReply {
                is_error: true,
                ..answer
            }
        }
        Reply::Tabs { tabs, focused } => tab_list(&tabs, focused, part),
        Reply::Opened { tab, ref tools } => json(&Opened {
            tab: Page::from(&tab),
            focused: tab.focused,
            tools_available: names(tools),
        }),
        Reply::Focused { tab, ref tools, .. } => json(&Focused {
            success: true,
            tab: Page::from(&tab),
            tools_available: names(tools),
        }),
        Reply::Closed { tab, .. } => json(&Closed {
            closed: true,
            tab_id: tab.0,
        }),
        Reply::Done { .. } => payload.unwrap_or_default(),
        Reply::Added {
            ref category,
            ref tools,
        } => json(&Added {
            category,
            tools_available: names(tools),
        }),
        Reply::Browsers { browsers } => CallReply::text(browsers::list(&browsers)),
        // The main loop answers these itself, or they belong to the other mode.
        Reply::Failed { .. }
        | Reply::Refused(_)
        | Reply::Status { .. }
        | Reply::Pages { .. }
        | Reply::BrowserTabs { .. }
        | Reply::PageTools { .. }
        | Reply::Browser { .. }
        | Reply::Disconnected { .. } => CallReply::default(),
        Reply::Cancelled => return Err(CallFailure::Cancelled),
    })
}

/// The output of a page action, and a note for each tab that it opened.
pub(crate) fn output(output: ToolOutput, opened: impl IntoIterator<Item = String>) -> CallReply {
    let blocks = output.blocks.into_iter().map(|block| match block {
        Block::Text(text) => Content::Text { text },
        Block::Image { base64, mime_type } => Content::Image {
            data: base64,
            mime_type: mime_type.to_owned(),
        },
    });
    let opened = opened.into_iter().map(|text| Content::Text { text });
    CallReply {
        content: blocks.chain(opened).collect(),
        structured: None,
        is_error: false,
        question: None,
    }
}

/// The note about a tab that a page action opened.
pub(crate) fn opened(tab: TabId, mode: Mode) -> String {
    match mode {
        Mode::Progressive => format!("It opened tab {tab}. Call focus_tab to work there."),
        Mode::Static => format!("It opened page {tab}. Call select_page to work there."),
    }
}

/// Converts a tab's facts for the core.
pub(crate) fn facts(tab: TabFacts, context: Option<core::SessionId>) -> core::TabFacts {
    let blank = tab.url == "about:blank";
    core::TabFacts {
        target: core::TargetId(tab.target.as_str().into()),
        title: (!tab.title.is_empty()).then(|| tab.title.into()),
        url: tab.url.into(),
        blank,
        context,
    }
}

/// Converts a browser's facts for the core.
pub(crate) fn about(info: &BrowserInfo) -> core::BrowserFacts {
    core::BrowserFacts {
        name: info.name.as_str().into(),
        version: info.version.as_str().into(),
        launched: info.launched,
    }
}

/// Converts a failed connection for the core.
pub(crate) fn connect_failure(error: &tabmux_browser::ConnectError) -> ConnectFailure {
    match error {
        tabmux_browser::ConnectError::NoneRunning => ConnectFailure::NotFound,
        tabmux_browser::ConnectError::NoExtension => ConnectFailure::Away {
            error: error.to_string(),
            instructions: "Please open Chrome with the tabmux Browser Tools extension enabled; `tabmux extension \
                           status` shows what is missing"
                .into(),
        },
        tabmux_browser::ConnectError::FailedAtStartup(_) => ConnectFailure::Failed {
            error: error.to_string(),
            instructions: "Try again, or run `tabmux doctor` for details".into(),
        },
        other => ConnectFailure::Failed {
            error: other.to_string(),
            instructions: "Fix what the error says, then try again".into(),
        },
    }
}

impl From<BadArguments> for Rejected {
    fn from(error: BadArguments) -> Self {
        Self::Arguments(format!(
            "{error} Check the tool's input schema and call it again."
        ))
    }
}

impl From<AddressError> for Rejected {
    fn from(error: AddressError) -> Self {
        Self::Arguments(error.to_string())
    }
}

/// Converts the client's request id for the core.
pub(crate) fn request_id(id: &tabmux_protocol::RequestId) -> core::RequestId {
    core::RequestId(Arc::from(id.0.as_str()))
}

#[cfg(test)]
mod list_tests;
