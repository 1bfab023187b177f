//! `document.modelContext` inside pages: our polyfill where Chrome has none, the listener for polyfills that pages load and
//! for MCP servers inside pages, and calls through each of them.

mod call;
mod flush;

pub(crate) use call::{Call, PageHandler, call};
pub(crate) use flush::flush;

use super::location::ToolLocation;
use super::web_mcp::Form;
use crate::tab::FrameId;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::{Arc, LazyLock};
use tabmux_cdp::types::page::AddScriptToEvaluateOnNewDocument;
use tabmux_cdp::types::runtime::{
    AddBinding, BindingCalled, ExecutionContextCreated, ExecutionContextDestroyed,
    ExecutionContextId, ExecutionContextsCleared,
};
use tabmux_cdp::types::target::SessionId;
use tabmux_cdp::{RawEvent, Session};

/// How to call a tool.
#[derive(Clone, Debug)]
pub(crate) struct InPageCall {
    pub(super) location: ToolLocation,
    pub(super) context: ExecutionContextId,
    pub(super) form: Option<Form>,
    /// The channel of the MCP server inside the page, if the tool belongs to one.
    pub(super) channel: Option<Arc<str>>,
}

impl InPageCall {
    pub(super) fn is_like(&self, other: &Self) -> bool {
        (self.context, &self.channel) == (other.context, &other.channel)
    }
}

/// The tools that a document reported.
#[derive(Debug)]
pub(crate) struct ReportedTools {
    pub(crate) context: ExecutionContextId,
    /// Whether Chrome can call them.
    pub(crate) native: bool,
    pub(crate) tools: Vec<ReportedTool>,
    /// How many more it has, over the limit.
    pub(crate) left_out: usize,
    /// Whether it is asking a server for more.
    pub(crate) asking: bool,
}

/// A message from a document.
#[derive(Debug)]
pub(crate) enum DocumentMessage {
    Tools(ReportedTools),
    /// It is asking an MCP server inside it, and will report.
    Asking,
    /// The nonce that our script gave to its page library.
    Nonce(Arc<str>),
}

/// A tool as its document describes it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReportedTool {
    pub(crate) name: String,
    pub(crate) description: String,
    /// As the page wrote it.
    #[serde(default)]
    pub(crate) input_schema: Option<Box<RawValue>>,
    #[serde(default)]
    pub(crate) read_only: bool,
    #[serde(default)]
    pub(crate) consequential: bool,
    #[serde(default)]
    pub(crate) debugging: bool,
    #[serde(default)]
    pub(crate) form: bool,
    #[serde(default)]
    pub(crate) submits: bool,
    #[serde(default)]
    pub(crate) channel: Option<Arc<str>>,
}

/// Read in this order: all tools if there are any, else a nonce, else that it is asking.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Message<'a> {
    #[serde(default)]
    nonce: Option<String>,
    #[serde(default)]
    native: bool,
    #[serde(borrow, default)]
    tools: Option<Vec<&'a RawValue>>,
    #[serde(default)]
    left_out: usize,
    #[serde(default)]
    asking: bool,
}

/// The frame of each execution context of a page. Chrome reports this, so a page cannot fake it.
#[derive(Debug, Default)]
pub(crate) struct Contexts(HashMap<(Option<SessionId>, ExecutionContextId), FrameId>);

impl Contexts {
    /// Applies an event that came over `session`. Returns the message of a document, if the event carries one.
    pub(super) fn apply(
        &mut self,
        session: &Session,
        event: &RawEvent,
    ) -> Option<(FrameId, DocumentMessage)> {
        let whose = session.id().cloned();
        if let Some(event) = event.decode::<ExecutionContextCreated>() {
            let data = event.context.aux_data?.decode::<AuxData>().ok()?;
            if data.is_default && self.0.len() < MAX_CONTEXTS {
                self.0.insert((whose, event.context.id), data.frame_id);
            }
        } else if let Some(event) = event.decode::<ExecutionContextDestroyed>() {
            self.0.remove(&(whose, event.execution_context_id));
        } else if event.decode::<ExecutionContextsCleared>().is_some() {
            self.forget_session(session);
        } else if let Some(event) = event.decode::<BindingCalled>()
            && event.name == *BINDING
        {
            let context = event.execution_context_id;
            let frame = self.0.get(&(whose, context))?.clone();
            return Some((frame, read(context, &event.payload)?));
        }
        None
    }

    pub(super) fn forget_session(&mut self, session: &Session) {
        self.0
            .retain(|(whose, _), _| whose.as_ref() != session.id());
    }
}

/// The binding through which documents send to us. Must be installed before the script.
pub(crate) fn binding() -> AddBinding {
    AddBinding {
        name: BINDING.clone(),
        ..Default::default()
    }
}

/// The script that runs first in every document.
pub(crate) fn script(polyfill: bool) -> AddScriptToEvaluateOnNewDocument {
    let name = &*BINDING;
    let [flush, flushed] = &*flush::EVENTS;
    AddScriptToEvaluateOnNewDocument {
        source: format!(
            "(() => {{ \"use strict\"; const BINDING = \"{name}\", WITH_POLYFILL = {polyfill}, FAILED = \"{FAILED}\"; \
             const FLUSH = \"{flush}\", FLUSHED = \"{flushed}\"; \
             const {{ parse, stringify }} = JSON; const inside = Symbol.for(\"tabmux.modelContext\");\n\
             {SCRIPT}}})();"
        ),
        run_immediately: Some(true),
        ..Default::default()
    }
}

/// Invalid tools are skipped; the others are kept.
fn read(context: ExecutionContextId, payload: &str) -> Option<DocumentMessage> {
    let message: Message<'_> = match payload.len() <= MAX_PAYLOAD {
        true => serde_json::from_str(payload).ok()?,
        false => return None,
    };
    if let Some(nonce) = message.nonce {
        let is_hex = nonce.len() == NONCE && nonce.bytes().all(|byte| byte.is_ascii_hexdigit());
        return is_hex.then(|| DocumentMessage::Nonce(nonce.into()));
    }
    let Some(tools) = message.tools else {
        return message.asking.then_some(DocumentMessage::Asking);
    };
    let count = tools.len();
    let tools = tools.into_iter();
    let tools = tools.filter_map(|tool| serde_json::from_str(tool.get()).ok());
    let beyond = count.saturating_sub(MAX_TOOLS);
    Some(DocumentMessage::Tools(ReportedTools {
        context,
        native: message.native,
        tools: tools.take(MAX_TOOLS).collect(),
        left_out: message.left_out.saturating_add(beyond),
        asking: message.asking,
    }))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AuxData {
    #[serde(default)]
    is_default: bool,
    frame_id: FrameId,
}

/// The name of the binding. Pages cannot know it: our script removes it before the first script of a page runs.
static BINDING: LazyLock<String> = LazyLock::new(|| format!("_{}", unguessable()));

/// A random name that no page can guess.
fn unguessable() -> String {
    let part = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", part(), part())
}

/// How our polyfill begins the message of a failed tool.
const FAILED: &str = "Tool was executed but the invocation failed: ";
const MAX_CONTEXTS: usize = 2_000;
/// Our script reports at most 1 Mi characters of tools, each of which may take six bytes.
const MAX_PAYLOAD: usize = 8 * 1_024 * 1_024;
const MAX_TOOLS: usize = 200;
/// In hex digits.
const NONCE: usize = 32;
const SCRIPT: &str = concat!(
    include_str!("../../js/model_context/offer.js"),
    include_str!("../../js/model_context/forms.js"),
    include_str!("../../js/model_context/mark.js"),
    include_str!("../../js/model_context/servers.js"),
    include_str!("../../js/model_context/report_tools.js"),
);
