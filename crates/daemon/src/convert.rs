//! Conversion between wire types and core types: calls come in, replies go out.

mod advice;
mod browser_index;
mod new_tools;
mod page_answers;

pub(crate) use advice::without_missing_tools;
pub(crate) use new_tools::{names_new_tools, new_tools};
pub(crate) use page_answers::{page_error, page_result, page_value};

use crate::catalogue;
use crate::options::{BrowserPlan, SessionOptions};
use crate::tools::{self as session_tools, Part, TabArgument};
use indexmap::IndexMap;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;
use tabmux_browser::tools::{self, BadArguments, Block, Prepared, ToolOutput, ToolSpec};
use tabmux_browser::{AddressError, BrowserInfo, TabFacts};
use tabmux_core as core;
use tabmux_core::{
    CallKind, ConnectFailure, Mode, Renewal, Renewed, Reply, TabId, TabRef, ToolName,
};
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

impl From<CallKind> for Parsed {
    fn from(kind: CallKind) -> Self {
        Self {
            kind,
            browser: None,
            plan: None,
            extras: CallExtras::default(),
            page_arguments: Arc::default(),
            timeout: None,
            prepared: None,
        }
    }
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
    /// Whether it is a part of a longer call.
    pub(crate) role: Role,
}

/// What a call is to the client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Role {
    /// A call of its own.
    #[default]
    Call,
    /// A step of a longer call, which tells what all of them changed.
    Step,
    /// A look at the page between two steps, which the client did not ask for.
    Look,
    /// The read of a resource: its agent may never see the answer.
    Read,
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

/// Whether this is the name of a tabmux tool, listed or not.
pub(crate) fn is_callable(name: &str) -> bool {
    session_tools::find(name).is_some() || tools::find(name).is_some()
}

/// Parses a call. Invalid input changes nothing.
pub(crate) fn parse(request: &CallRequest, options: &SessionOptions) -> Result<Parsed, Rejected> {
    let (browser, arguments) = browser_index::without_index(&request.tool, &request.arguments)?;
    let parsed = parse_in_browser(request, &arguments, options)?;
    Ok(Parsed { browser, ..parsed })
}

/// Parses a call whose browser is known.
fn parse_in_browser(
    request: &CallRequest,
    arguments: &RawValue,
    options: &SessionOptions,
) -> Result<Parsed, Rejected> {
    if options.given.slim {
        let mut slim = tools::slim().iter();
        let spec = slim.find(|spec| spec.name == request.tool);
        return prepare(spec.ok_or(Rejected::UnknownTool)?, arguments, None);
    }
    if let Some(tool) = session_tools::find(&request.tool) {
        return tool.parse(arguments, options);
    }
    match options.mode {
        Mode::Static => {
            let (tab, arguments) = without_tab(&request.tool, arguments)?;
            parse_page_action(&request.tool, &arguments, tab)
        }
        Mode::Progressive => parse_page_action(&request.tool, arguments, None),
    }
}

/// Parses a call of a page tool by its name. `tabId` names the tab, unless the page's tool has an argument of that
/// name; this is decided once the tab is known.
pub(crate) fn page_tool(name: ToolName, arguments: &RawValue) -> Result<Parsed, Rejected> {
    let arguments: Map<String, Value> = tools::parse("the page's tool", arguments)?;
    let tab = tab_in(&arguments);
    Ok(Parsed {
        page_arguments: Arc::new(arguments),
        ..Parsed::from(CallKind::PageTool { name, tab })
    })
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
    let rest = to_raw_value(&map).map_err(|error| Rejected::Arguments(error.to_string()))?;
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
        timeout: prepared.timeout,
        prepared: Some(prepared),
        ..Parsed::from(kind)
    })
}

/// Converts a reply of the core to a call of `tool` for the client. `payload` is the output of a page action or page
/// tool, `part` selects a part of a list.
pub(crate) fn reply(
    tool: &str,
    reply: Reply,
    payload: Option<CallReply>,
    part: Part,
    mode: Mode,
) -> Result<CallReply, CallFailure> {
    Ok(match reply {
        Reply::Done { tab, shared } => {
            let mut reply = payload.unwrap_or_default();
            if shared && mode == Mode::Static {
                let text = session_tools::also_held(shared, tab)
                    .trim_start()
                    .to_owned();
                reply.content.push(Content::Text { text });
            }
            reply
        }
        Reply::Cancelled => return Err(CallFailure::Cancelled),
        reply => {
            let tool = session_tools::find(tool);
            let reply = tool.and_then(|tool| tool.reply(reply, part));
            reply.unwrap_or_default()
        }
    })
}

/// The reply without data that the client gets as text only. Some clients would show it to their model in place of the
/// text, or beside it.
pub(crate) fn without_data(tool: &str, mut reply: CallReply) -> CallReply {
    let is_the_text = |data: &RawValue| {
        let first = reply.content.first().and_then(Content::as_text);
        first == Some(data.get())
    };
    if catalogue::output_schema(tool).is_some()
        && !reply.structured.as_deref().is_some_and(is_the_text)
    {
        reply.structured = None;
    }
    reply
}

/// The reply of a look between two steps, with the session's number of the tab.
pub(crate) fn in_tab(tab: TabId, payload: Option<CallReply>) -> CallReply {
    CallReply {
        structured: to_raw_value(&tab.0).ok(),
        ..payload.unwrap_or_default()
    }
}

/// A note, given once, that a lost browser is connected again, or that a grid has handed out a new one. A progressive
/// session connects by itself, and need not be told that it is the same browser.
pub(crate) fn renewal(renewed: Option<Renewed>, mode: Mode) -> Option<String> {
    let Renewed {
        number,
        attached,
        renewal,
    } = renewed?;
    let open = match mode {
        Mode::Static => "new_page",
        Mode::Progressive => "open_tab",
    };
    match (renewal, mode, attached) {
        (Renewal::Replaced, ..) => Some(format!(
            "Browser {number} was lost, and its grid has handed out a new one: the pages and logins of the old one are \
             gone. Open pages with {open}, and log in again where that is needed."
        )),
        (Renewal::Reconnected, Mode::Progressive, _) => None,
        (Renewal::Reconnected, Mode::Static, true) => Some(format!(
            "Browser {number} was lost and is connected again. Its pages may have new numbers \
             now; list_pages shows them."
        )),
        (Renewal::Reconnected, Mode::Static, false) => Some(
            "The browser had ended and was started again. The pages that it had are gone; \
                  open them again with new_page."
                .into(),
        ),
    }
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
    let structured = output.structured.as_ref();
    CallReply {
        content: blocks.chain(opened).collect(),
        structured: structured.and_then(|data| to_raw_value(data).ok()),
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
        // The grid has let us wait already.
        tabmux_browser::ConnectError::NoneHandedOut(_) => ConnectFailure::Away {
            error: error.to_string(),
            instructions: "Call again to wait once more".into(),
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
