//! `document.modelContext` inside pages: the shim where Chrome has none, the ear for those that pages bring
//! along and for MCP servers inside pages, and calls through either.

mod call;
mod flush;

pub(crate) use call::{Call, Through, call};
pub(crate) use flush::flush;

use super::home::Home;
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

/// How a tool is reached.
#[derive(Clone, Debug)]
pub(crate) struct ShimCall {
    pub(super) home: Home,
    pub(super) context: ExecutionContextId,
    pub(super) form: Option<Form>,
    /// Where an MCP server inside the page is spoken to, if the tool is one of such a server.
    pub(super) channel: Option<Arc<str>>,
}

impl ShimCall {
    pub(super) fn is_like(&self, other: &Self) -> bool {
        (self.context, &self.channel) == (other.context, &other.channel)
    }
}

/// What a document told of its tools.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) context: ExecutionContextId,
    /// Whether Chrome carries calls to them.
    pub(crate) native: bool,
    pub(crate) tools: Vec<ToldTool>,
    /// How many more it has.
    pub(crate) left_out: usize,
    /// Whether it asks for more.
    pub(crate) asking: bool,
}

/// What a document says to us.
#[derive(Debug)]
pub(crate) enum Said {
    /// All its tools.
    Tools(Told),
    /// That it asks an MCP server inside it, and will tell.
    Asking,
    /// What our script gave to its library.
    Nonce(Arc<str>),
}

/// A tool as its document tells of it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ToldTool {
    pub(crate) name: String,
    pub(crate) description: String,
    /// In the page's own words.
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

/// What it says is all its tools, if it has any, else a nonce, else that it asks.
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

/// Which frames the pages' own contexts belong to. Chrome says so, whatever a page may say.
#[derive(Debug, Default)]
pub(crate) struct Contexts(HashMap<(Option<SessionId>, ExecutionContextId), FrameId>);

impl Contexts {
    /// Takes in an event that came over `session`. What a document said, if it said something.
    pub(super) fn apply(&mut self, session: &Session, event: &RawEvent) -> Option<(FrameId, Said)> {
        let whose = session.id().cloned();
        if let Some(event) = event.decode::<ExecutionContextCreated>() {
            let data = event.context.aux_data?.decode::<AuxData>().ok()?;
            if data.is_default && self.0.len() < MOST_CONTEXTS {
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

/// What lets documents speak to us. Must be sent before the script.
pub(crate) fn binding() -> AddBinding {
    AddBinding {
        name: BINDING.clone(),
        ..Default::default()
    }
}

/// The script that every document begins with.
pub(crate) fn script(shim: bool) -> AddScriptToEvaluateOnNewDocument {
    let name = &*BINDING;
    let [flush, flushed] = &*flush::EVENTS;
    AddScriptToEvaluateOnNewDocument {
        source: format!(
            "(() => {{ \"use strict\"; const BINDING = \"{name}\", WITH_SHIM = {shim}, FAILED = \"{FAILED}\"; \
             const FLUSH = \"{flush}\", FLUSHED = \"{flushed}\"; \
             const {{ parse, stringify }} = JSON; const inside = Symbol.for(\"tabmux.modelContext\");\n\
             {SCRIPT}}})();"
        ),
        run_immediately: Some(true),
        ..Default::default()
    }
}

/// A tool that makes no sense is left out; the others count.
fn read(context: ExecutionContextId, payload: &str) -> Option<Said> {
    let message: Message<'_> = match payload.len() <= MOST_PAYLOAD {
        true => serde_json::from_str(payload).ok()?,
        false => return None,
    };
    if let Some(nonce) = message.nonce {
        let is_hex = nonce.len() == NONCE && nonce.bytes().all(|byte| byte.is_ascii_hexdigit());
        return is_hex.then(|| Said::Nonce(nonce.into()));
    }
    let Some(tools) = message.tools else {
        return message.asking.then_some(Said::Asking);
    };
    let count = tools.len();
    let tools = tools.into_iter();
    let tools = tools.filter_map(|tool| serde_json::from_str(tool.get()).ok());
    let beyond = count.saturating_sub(MOST_TOOLS);
    Some(Said::Tools(Told {
        context,
        native: message.native,
        tools: tools.take(MOST_TOOLS).collect(),
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

/// The name of the binding: no page can know it, and our script takes it away before a page's first.
static BINDING: LazyLock<String> = LazyLock::new(|| format!("_{}", unguessable()));

fn unguessable() -> String {
    let part = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", part(), part())
}

/// How the shim begins to say that a tool failed.
const FAILED: &str = "Tool was executed but the invocation failed: ";
const MOST_CONTEXTS: usize = 2_000;
/// Our script tells of 1 Mi characters of tools, each of which may take six bytes.
const MOST_PAYLOAD: usize = 8 * 1_024 * 1_024;
const MOST_TOOLS: usize = 200;
/// As many hex digits.
const NONCE: usize = 32;
const SCRIPT: &str = concat!(
    include_str!("../../js/model_context/offer.js"),
    include_str!("../../js/model_context/forms.js"),
    include_str!("../../js/model_context/mark.js"),
    include_str!("../../js/model_context/servers.js"),
    include_str!("../../js/model_context/tell.js"),
);
