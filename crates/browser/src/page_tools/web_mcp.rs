//! Tools that pages register through Chrome's own WebMCP: `document.modelContext`, and forms that declare themselves as
//! tools.
//!
//! Chrome reports when a tool is added, but not always when it is removed: not when its document goes away.

mod invoke;
mod pending;

pub(crate) use invoke::invoke;
pub(crate) use pending::Invocations;

use super::location::ToolLocation;
use super::model_context::{self, DocumentMessage, ReportedTool, ReportedTools};
use super::{FoundTool, Mark, ToolNumber};
use crate::tab::{Frame, FrameId, Frames};
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, OnceLock};
use tabmux_cdp::types::runtime::ExecutionContextId;
use tabmux_cdp::types::target::SessionId;
use tabmux_cdp::types::web_mcp::{self as cdp, ToolsAdded, ToolsRemoved};
use tabmux_cdp::{RawEvent, Session};
use tabmux_text::shorten;

/// The tools of one tab's documents, as Chrome reported them.
///
/// Kept by frame and session: when a frame moves to another process, its events come over another session, in no fixed
/// order.
#[derive(Debug, Default)]
pub(crate) struct Registered {
    tools: HashMap<FrameKey, Vec<Tool>>,
    /// Tools that were unregistered. If the page registers one again unchanged, it keeps its number.
    removed: VecDeque<(FrameKey, Tool)>,
    /// How many tools of a document are over the limit.
    left_out: HashMap<FrameKey, LeftOut>,
    /// Nonces of documents with the page library.
    nonces: HashMap<FrameKey, Arc<str>>,
    /// Documents that are asking a server inside them for its tools.
    asking: HashSet<FrameKey>,
    contexts: model_context::Contexts,
}

type FrameKey = (Option<SessionId>, FrameId);

/// Chrome reports single tools, a document reports all of its tools at once.
#[derive(Clone, Copy, Debug, Default)]
struct LeftOut {
    by_chrome: usize,
    by_page: usize,
}

#[derive(Debug)]
struct Tool {
    number: ToolNumber,
    name: Arc<str>,
    description: Arc<str>,
    /// As the page wrote it.
    schema: Arc<str>,
    read_only: bool,
    consequential: bool,
    form: Option<Form>,
    via: CallVia,
}

/// What a call to a tool goes through.
#[derive(Clone, Debug, PartialEq, Eq)]
enum CallVia {
    Chrome,
    /// `modelContext` in the page, in this context, or an MCP server in there that uses a channel.
    Page(ExecutionContextId, Option<Arc<str>>),
}

/// A form that is a tool.
#[derive(Clone, Debug)]
pub(crate) struct Form {
    /// Whether the tool submits it after filling; otherwise the user has to.
    pub(super) submits: bool,
    /// Calls of one form would overwrite each other, so they run one at a time.
    pub(super) turn: Arc<tokio::sync::Mutex<()>>,
}

impl Form {
    /// Waits until no other call fills the same form. Tools that are not forms never wait.
    pub(super) async fn turn(form: Option<&Self>) -> Option<tokio::sync::MutexGuard<'_, ()>> {
        Some(form?.turn.lock().await)
    }

    /// Whether a call ends without the user's help.
    pub(super) fn submits(form: Option<&Self>) -> bool {
        form.is_none_or(|form| form.submits)
    }
}

/// How to call a tool.
#[derive(Clone, Debug)]
pub(crate) struct NativeCall {
    pub(super) location: ToolLocation,
    form: Option<Form>,
}

impl Registered {
    /// Applies an event that came over `session`. Returns whether it was about tools.
    pub(crate) fn apply(&mut self, session: &Session, event: &RawEvent) -> bool {
        if let Some(event) = event.decode::<ToolsAdded>() {
            for tool in event.tools {
                self.add(session, tool);
            }
        } else if let Some(event) = event.decode::<ToolsRemoved>() {
            for tool in event.tools {
                let place = (session.id().cloned(), tool.frame_id);
                let is_it = |known: &Tool| known.is_native() && *known.name == *tool.name;
                if !self.remove(&place, is_it)
                    && let Some(more) = self.left_out.get_mut(&place)
                {
                    more.by_chrome = more.by_chrome.saturating_sub(1);
                }
            }
        } else if let Some((frame, said)) = self.contexts.apply(session, event) {
            match said {
                DocumentMessage::Tools(told) => self.apply_report(session, frame, told),
                DocumentMessage::Asking if self.asking.len() < MAX_NONCES => {
                    self.asking.insert((session.id().cloned(), frame));
                }
                DocumentMessage::Nonce(nonce) if self.nonces.len() < MAX_NONCES => {
                    let place = (session.id().cloned(), frame);
                    self.nonces.insert(place, nonce);
                }
                DocumentMessage::Nonce(_) | DocumentMessage::Asking => {}
            }
        } else {
            return false;
        }
        true
    }

    /// A frame's document is gone, and its tools with it.
    pub(crate) fn leave(&mut self, session: &Session, frame: &FrameId) {
        let place = (session.id().cloned(), frame.clone());
        self.tools.remove(&place);
        self.removed.retain(|(whose, _)| *whose != place);
        self.left_out.remove(&place);
        self.nonces.remove(&place);
        self.asking.remove(&place);
    }

    /// Keeps only the tools of existing frames. Called when a tab shows a new page.
    pub(crate) fn keep_only(&mut self, frames: &Frames) {
        let is_there = |(session, frame): &FrameKey| {
            let frame = frames.find(frame);
            frame.is_some_and(|frame| frame.session.id() == session.as_ref())
        };
        self.tools.retain(|place, _| is_there(place));
        self.removed.retain(|(place, _)| is_there(place));
        self.left_out.retain(|place, _| is_there(place));
        self.nonces.retain(|place, _| is_there(place));
        self.asking.retain(is_there);
    }

    pub(crate) fn forget_session(&mut self, session: &Session) {
        let is_other = |(whose, _): &FrameKey| whose.as_ref() != session.id();
        self.tools.retain(|place, _| is_other(place));
        self.removed.retain(|(place, _)| is_other(place));
        self.left_out.retain(|place, _| is_other(place));
        self.nonces.retain(|place, _| is_other(place));
        self.asking.retain(is_other);
        self.contexts.forget_session(session);
    }

    /// The nonce of the main frame's document.
    pub(crate) fn mark(&self, main: &Frame, frames: &Frames) -> Option<Mark> {
        let place = (main.session.id().cloned(), main.id.clone());
        let nonce = self.nonces.get(&place)?;
        Some(Mark {
            nonce: Arc::clone(nonce),
            origin: frames.origin(main).into(),
        })
    }

    /// Whether a document will soon report tools.
    pub(crate) fn is_asking(&self) -> bool {
        !self.asking.is_empty()
    }

    /// The tools of all frames, parents before children, and how many more there are.
    pub(crate) fn found(&self, frames: &Frames) -> (Vec<Arc<FoundTool>>, usize) {
        let mut found = Vec::new();
        let mut left_out = 0;
        for frame in frames.iter() {
            let place = (frame.session.id().cloned(), frame.id.clone());
            let more = self.left_out.get(&place).copied().unwrap_or_default();
            left_out += more.by_chrome + more.by_page;
            let Some(tools) = self.tools.get(&place).filter(|tools| !tools.is_empty()) else {
                continue;
            };
            let origin: Arc<str> = frames.origin(frame).into();
            // A tool that Chrome reported wins over one of the same name that the document reported.
            let is_first = |tool: &&Tool| {
                let mut chromes = tools.iter().filter(|other| other.is_native());
                tool.is_native() || !chromes.any(|other| other.name == tool.name)
            };
            let tools = tools.iter().filter(is_first);
            found.extend(tools.map(|tool| tool.found(frame, &origin)));
        }
        (found, left_out)
    }

    /// Chrome reports a tool.
    fn add(&mut self, session: &Session, tool: cdp::Tool) {
        let place = (session.id().cloned(), tool.frame_id.clone());
        let hints = tool.annotations.as_ref();
        if hints.is_some_and(|hints| hints.debugging == Some(true)) {
            return;
        }
        let is_kept = Tool::read(tool).is_some_and(|tool| self.put(&place, tool));
        if !is_kept {
            self.left_out.entry(place).or_default().by_chrome += 1;
        }
    }

    /// A document reports its tools.
    fn apply_report(&mut self, session: &Session, frame: FrameId, told: ReportedTools) {
        let place = (session.id().cloned(), frame);
        if !told.native && !told.asking {
            self.asking.remove(&place);
        }
        if !told.native {
            let said: HashSet<_> = told.tools.iter().map(|tool| tool.name.as_str()).collect();
            let is_gone = |tool: &Tool| !tool.is_native() && !said.contains(&*tool.name);
            self.remove(&place, is_gone);
        }
        let mut left_out = told.left_out;
        for tool in told.tools {
            let via = match told.native {
                true => CallVia::Chrome,
                false => CallVia::Page(told.context, tool.channel.clone()),
            };
            if let Some(tool) = Tool::from_report(tool, via)
                && !self.put(&place, tool)
            {
                left_out += 1;
            }
        }
        if !told.native || left_out > 0 {
            self.left_out.entry(place).or_default().by_page = left_out;
        }
    }

    /// Removes tools of a frame. Returns whether there were any.
    fn remove(&mut self, place: &FrameKey, is_gone: impl Fn(&Tool) -> bool) -> bool {
        let tools = self.tools.entry(place.clone()).or_default();
        let gone: Vec<_> = tools.extract_if(.., |tool| is_gone(tool)).collect();
        let were_there = !gone.is_empty();
        for tool in gone {
            self.removed.push_back((place.clone(), tool));
        }
        let mut bytes: usize = self.removed.iter().map(|(_, tool)| tool.bytes()).sum();
        while self.removed.len() > MAX_TOOLS || bytes > MAX_BYTES {
            let Some((_, oldest)) = self.removed.pop_front() else {
                break;
            };
            bytes = bytes.saturating_sub(oldest.bytes());
        }
        were_there
    }

    /// Adds a tool, within the limits. A tool of the same name from the same source keeps its number, and one with the
    /// same content is not a change.
    fn put(&mut self, place: &FrameKey, tool: Tool) -> bool {
        let all = self.tools.values().flatten();
        let (count, bytes) = all.fold((0, 0), |(count, bytes), tool| {
            (count + 1, bytes + tool.bytes())
        });
        let tools = self.tools.entry(place.clone()).or_default();
        let is_it = |known: &Tool| known.name == tool.name && known.is_native() == tool.is_native();
        let Some(at) = tools.iter().position(is_it) else {
            let fits = count < MAX_TOOLS && bytes + tool.bytes() <= MAX_BYTES;
            if fits {
                let before = self
                    .removed
                    .iter()
                    .position(|(whose, known)| whose == place && known.says_the_same_as(&tool));
                let before = before.and_then(|at| self.removed.remove(at));
                tools.push(before.map_or(tool, |(_, before)| before));
            }
            return fits;
        };
        let Some(known) = tools.get_mut(at) else {
            return false;
        };
        if known.says_the_same_as(&tool) {
            return true;
        }
        let fits = bytes - known.bytes() + tool.bytes() <= MAX_BYTES;
        if fits {
            let number = known.number;
            *known = Tool { number, ..tool };
        } else {
            // Over the limit, the old version is dropped, too.
            tools.remove(at);
        }
        fits
    }
}

impl Tool {
    /// The tool, if it is valid and small enough.
    fn read(tool: cdp::Tool) -> Option<Self> {
        let hints = tool.annotations.unwrap_or_default();
        let said = |hint: Option<bool>| hint.unwrap_or_default();
        if tool.name.is_empty() || tool.name.len() > MAX_NAME || said(hints.debugging) {
            return None;
        }
        let schema = tool.input_schema.as_ref();
        if schema.is_some_and(|schema| schema.as_str().len() > MAX_SCHEMA) {
            tracing::debug!(tool = %tool.name, "a tool's schema is too large");
            return None;
        }
        let schema = schema.map_or("{}", |schema| schema.as_str());
        let form = tool.backend_node_id.map(|_| Form {
            submits: said(hints.autosubmit),
            turn: Arc::default(),
        });
        Some(Self {
            number: ToolNumber::fresh(),
            name: tool.name.into(),
            description: shorten(&tool.description, MAX_DESCRIPTION).into(),
            schema: schema.into(),
            read_only: said(hints.read_only),
            consequential: said(hints.consequential),
            form,
            via: CallVia::Chrome,
        })
    }

    /// The same for a tool that its document reported.
    fn from_report(tool: ReportedTool, via: CallVia) -> Option<Self> {
        let schema = tool.input_schema.as_ref();
        let schema = schema.map_or("{}", |schema| schema.get().trim());
        let unfit = tool.name.is_empty() || tool.name.len() > MAX_NAME;
        let is_object = schema.starts_with('{');
        if unfit || !is_object || schema.len() > MAX_SCHEMA || tool.debugging {
            return None;
        }
        let form = tool.form.then(|| Form {
            submits: tool.submits,
            turn: Arc::default(),
        });
        Some(Self {
            number: ToolNumber::fresh(),
            name: tool.name.into(),
            description: shorten(&tool.description, MAX_DESCRIPTION).into(),
            schema: schema.into(),
            read_only: tool.read_only,
            consequential: tool.consequential,
            form,
            via,
        })
    }

    /// The size of its texts.
    fn bytes(&self) -> usize {
        self.name.len() + self.description.len() + self.schema.len()
    }

    /// Whether everything but the number is equal.
    fn says_the_same_as(&self, other: &Self) -> bool {
        let submits = |tool: &Self| tool.form.as_ref().map(|form| form.submits);
        self.name == other.name
            && self.description == other.description
            && self.schema == other.schema
            && self.read_only == other.read_only
            && self.consequential == other.consequential
            && self.via == other.via
            && submits(self) == submits(other)
    }

    fn is_native(&self) -> bool {
        self.via == CallVia::Chrome
    }

    fn found(&self, frame: &Frame, origin: &Arc<str>) -> Arc<FoundTool> {
        let location = ToolLocation {
            session: frame.session.clone(),
            frame: frame.id.clone(),
            document: frame.document,
        };
        let form = self.form.clone();
        let path = match &self.via {
            CallVia::Chrome => super::CallPath::Native(NativeCall { location, form }),
            CallVia::Page(context, channel) => super::CallPath::InPage(model_context::InPageCall {
                location,
                context: *context,
                form,
                channel: channel.clone(),
            }),
        };
        Arc::new(FoundTool {
            number: self.number,
            name: Arc::clone(&self.name),
            description: Arc::clone(&self.description),
            schema: Arc::clone(&self.schema),
            brief: None,
            read_only: self.read_only,
            consequential: self.consequential,
            origin: Arc::clone(origin),
            path,
            text: OnceLock::new(),
        })
    }
}

const MAX_TOOLS: usize = 200;
/// The total size of one tab's tools: more than any model reads, and all of it is kept in memory.
const MAX_BYTES: usize = 1_024 * 1_024;
const MAX_NONCES: usize = 2_000;
const MAX_NAME: usize = 256;
const MAX_SCHEMA: usize = 64 * 1_024;
const MAX_DESCRIPTION: usize = 4_000;
