//! The tools that were found in a tab.

use super::tool_text::{SaidBy, ToolText};
use super::{model_context, web_mcp};
use crate::tab::DocumentId;
use serde_json::Value;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};

/// Where a tool comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ToolSource {
    /// The page registered it, through `document.modelContext` or a form.
    WebMcp,
    /// tabmux generated it from what the page shows.
    Generated,
}

/// The number of one tool, unique in this process. A tool keeps it as long as it has the same name in the same
/// document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ToolNumber(pub u64);

/// A tool that was found in a page. Its texts come from the page: bounded, but not to be trusted.
#[derive(Clone, Debug)]
pub struct FoundTool {
    /// Our number for it.
    pub number: ToolNumber,
    /// The name that the page gave it.
    pub name: Arc<str>,
    /// When to use it.
    pub description: Arc<str>,
    /// The JSON schema of its arguments, as the page wrote it.
    pub schema: Arc<str>,
    /// How it is listed, if that is shorter.
    pub brief: Option<BriefText>,
    /// Whether the page claims that it changes nothing.
    pub read_only: bool,
    /// Whether the page says that its effects may be hard to undo.
    pub consequential: bool,
    /// The origin of the document that it belongs to.
    pub origin: Arc<str>,
    pub(crate) path: CallPath,
    /// The text for clients, once it has been prepared.
    pub(crate) text: OnceLock<Arc<ToolText>>,
}

/// The short form of a tool, for lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BriefText {
    /// When to use it.
    pub description: Arc<str>,
    /// The JSON schema of its arguments.
    pub schema: Arc<str>,
}

/// How a tool is called.
#[derive(Clone, Debug)]
pub(crate) enum CallPath {
    /// Through Chrome's own WebMCP.
    Native(web_mcp::NativeCall),
    /// Through `modelContext` in the page: our polyfill, or one that the page loads.
    InPage(model_context::InPageCall),
    /// By tabmux: [`introspect`](crate::introspect) knows the elements.
    Generated,
}

impl CallPath {
    /// Whether both reach the same target in the same document.
    fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Native(_), Self::Native(_)) | (Self::Generated, Self::Generated) => true,
            (Self::InPage(own), Self::InPage(other)) => own.is_like(other),
            _ => false,
        }
    }
}

/// The tools of the document that a tab shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// The main frame's document, once it is known.
    pub document: Option<DocumentId>,
    /// Tools that the page registered, those of the main frame first.
    pub web_mcp: Vec<Arc<FoundTool>>,
    /// Generated tools, the best first.
    pub generated: Vec<Arc<FoundTool>>,
    /// How many tools of each source are over the limit.
    left_out: (usize, usize),
    /// The nonce that our script gave to the document, if it uses the page library.
    pub mark: Option<Mark>,
    /// Whether the page is asking an MCP server inside it for more tools. Its answer comes soon or never.
    pub(crate) asking: bool,
}

/// A nonce that our script gave to a document that uses the page library. Any other sender that knows it has it from
/// that document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// 32 hex digits.
    pub nonce: Arc<str>,
    /// The origin of the document.
    pub origin: Arc<str>,
}

/// The findings of one tab, shared between the code that finds tools and the code that reads them.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    findings: Arc<watch::Sender<Findings>>,
    requests: mpsc::Sender<ReportRequest>,
    /// Taken once, by the reporter.
    asked: Arc<Mutex<Option<mpsc::Receiver<ReportRequest>>>>,
}

/// A request for a report; answered when the current findings have been reported.
pub(crate) type ReportRequest = oneshot::Sender<()>;

impl ToolNumber {
    pub(crate) fn fresh() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

impl Findings {
    /// The tools of one source.
    pub fn of(&self, source: ToolSource) -> &[Arc<FoundTool>] {
        match source {
            ToolSource::WebMcp => &self.web_mcp,
            ToolSource::Generated => &self.generated,
        }
    }

    /// How many tools of one source are over the limit.
    pub fn left_out(&self, source: ToolSource) -> usize {
        match source {
            ToolSource::WebMcp => self.left_out.0,
            ToolSource::Generated => self.left_out.1,
        }
    }

    /// Whether there are no tools.
    pub fn is_empty(&self) -> bool {
        self.web_mcp.is_empty() && self.generated.is_empty() && self.mark.is_none()
    }

    /// The same document without any tools.
    pub(crate) fn without_tools(&self) -> Self {
        Self {
            document: self.document,
            mark: self.mark.clone(),
            asking: self.asking,
            ..Self::default()
        }
    }

    pub(crate) fn tools(&self) -> impl Iterator<Item = &Arc<FoundTool>> {
        self.web_mcp.iter().chain(&self.generated)
    }

    /// The documents whose tools our script in the page reports, and not Chrome.
    pub(crate) fn reported_by_pages(&self) -> Vec<DocumentId> {
        let documents = self.web_mcp.iter().filter_map(|tool| match &tool.path {
            CallPath::InPage(path) => Some(path.location.document),
            CallPath::Native(_) | CallPath::Generated => None,
        });
        documents.collect()
    }

    /// One tool, if the document still has it.
    pub fn find(&self, number: ToolNumber) -> Option<&Arc<FoundTool>> {
        self.tools().find(|tool| tool.number == number)
    }
}

impl Default for Found {
    fn default() -> Self {
        let (requests, asked) = mpsc::channel(MAX_ASKS);
        Self {
            findings: Arc::default(),
            requests,
            asked: Arc::new(Mutex::new(Some(asked))),
        }
    }
}

impl Found {
    /// The tab shows this document now. Tools of the previous one are dropped.
    pub(crate) fn set_document(&self, document: DocumentId) {
        self.findings.send_if_modified(|findings| {
            let is_new = findings.document.is_none_or(|known| known < document);
            if is_new {
                *findings = Findings {
                    document: Some(document),
                    ..Findings::default()
                };
            }
            is_new
        });
    }

    /// Replaces all tools of a source for the tab with this main document. `left_out` counts those over the limit. Does
    /// nothing if the tab has navigated since.
    pub(crate) fn put(
        &self,
        source: ToolSource,
        document: DocumentId,
        tools: Vec<Arc<FoundTool>>,
        left_out: usize,
    ) {
        self.findings.send_if_modified(|findings| {
            let is_known = findings.of(source) == tools && findings.left_out(source) == left_out;
            if findings.document != Some(document) || is_known {
                return false;
            }
            // An unchanged tool keeps its prepared text.
            let known = findings.of(source);
            let same = |tool: &Arc<FoundTool>| known.iter().find(|known| *known == tool).cloned();
            let tools = tools
                .into_iter()
                .map(|tool| same(&tool).unwrap_or(tool))
                .collect();
            match source {
                ToolSource::WebMcp => {
                    (findings.web_mcp, findings.left_out.0) = (tools, left_out);
                }
                ToolSource::Generated => {
                    (findings.generated, findings.left_out.1) = (tools, left_out);
                }
            }
            true
        });
    }

    pub(crate) fn put_mark(&self, document: DocumentId, mark: Option<Mark>) {
        self.findings.send_if_modified(|findings| {
            if findings.document != Some(document) || findings.mark == mark {
                return false;
            }
            findings.mark = mark;
            true
        });
    }

    pub(crate) fn put_asking(&self, document: DocumentId, asking: bool) {
        self.findings.send_if_modified(|findings| {
            if findings.document != Some(document) || findings.asking == asking {
                return false;
            }
            findings.asking = asking;
            true
        });
    }

    /// The current findings. Do not hold the guard across an await.
    pub(crate) fn look(&self) -> watch::Ref<'_, Findings> {
        self.findings.borrow()
    }

    /// Waits until the current findings have been reported. Also returns if the report is delayed because the page has
    /// changed its tools too often.
    pub(crate) async fn report(&self) {
        let (done, reported) = oneshot::channel();
        self.ask(done).await;
        let _ = tokio::time::timeout(REPORT_LIMIT, reported).await;
    }

    /// Requests a report; `done` is notified when it was made.
    pub(super) async fn ask(&self, done: ReportRequest) {
        // When the tab is closing, the reporter is gone.
        let _ = self.requests.send(done).await;
    }

    /// For the reporter: the findings, and requests for reports. None after the first call.
    pub(crate) fn follow(
        &self,
    ) -> Option<(watch::Receiver<Findings>, mpsc::Receiver<ReportRequest>)> {
        let asked = &mut *self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        Some((self.watch(), asked.take()?))
    }

    pub(crate) fn watch(&self) -> watch::Receiver<Findings> {
        self.findings.subscribe()
    }
}

impl FoundTool {
    /// The text for clients. Expensive on first use; the reporter has prepared it already.
    pub fn text(&self) -> &Arc<ToolText> {
        self.text.get_or_init(|| {
            let said_by = match self.path {
                CallPath::Generated => SaidBy::Us,
                CallPath::Native(_) | CallPath::InPage(_) => SaidBy::Page,
            };
            let (description, schema) = (&self.description, &self.schema);
            let text = ToolText::prepare(description, schema, said_by, &self.origin);
            Arc::new(match &self.brief {
                Some(brief) => text.listed_as(&brief.description, &brief.schema, &self.origin),
                None => text,
            })
        })
    }

    /// The schema as JSON; null if the page's text is not valid JSON.
    pub fn read_schema(&self) -> Value {
        serde_json::from_str(&self.schema).unwrap_or_default()
    }

    /// The size of its texts in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.name.len() + self.description.len() + self.schema.len()
    }

    /// Whether its text is prepared. Takes over the text of `known` if that says the same.
    pub(crate) fn is_ready_as(&self, known: Option<&Self>) -> bool {
        let same = known.filter(|known| {
            known.description == self.description
                && known.schema == self.schema
                && known.brief == self.brief
                && known.origin == self.origin
        });
        if let Some(text) = same.and_then(|known| known.text.get()) {
            let _ = self.text.set(Arc::clone(text));
        }
        self.text.get().is_some()
    }
}

/// Equal if it is the same tool with the same text, called in the same way.
impl PartialEq for FoundTool {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
            && self.name == other.name
            && self.description == other.description
            && self.schema == other.schema
            && self.brief == other.brief
            && self.read_only == other.read_only
            && self.consequential == other.consequential
            && self.origin == other.origin
            && self.path.is_like(&other.path)
    }
}

impl Eq for FoundTool {}

/// Calls that end at the same time request at the same time; more have to wait.
const MAX_ASKS: usize = 64;
/// How long a call's answer waits for the report of the tools that it added. After that they are reported later.
const REPORT_LIMIT: Duration = Duration::from_secs(2);
