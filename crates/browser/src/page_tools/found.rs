//! What has been found in a tab so far.

use super::tool_text::{SaidBy, ToolText};
use super::{model_context, web_mcp};
use crate::tab::DocumentId;
use serde_json::Value;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};

/// Who says that a page has a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ToolSource {
    /// The page, through `document.modelContext` or its forms.
    WebMcp,
    /// We do: it was generated from what the page shows.
    Generated,
}

/// The number of one tool, unique in this process. It stays as long as the tool is the same: the same
/// name in the same document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ToolNumber(pub u64);

/// A tool that was found in a page. What it says is the page's word, bounded and not to be trusted.
#[derive(Clone, Debug)]
pub struct FoundTool {
    /// Our name of it.
    pub number: ToolNumber,
    /// The page's name of it.
    pub name: Arc<str>,
    /// When to use it.
    pub description: Arc<str>,
    /// The JSON schema of its arguments, in the page's own words.
    pub schema: Arc<str>,
    /// Whether it claims to change nothing.
    pub read_only: bool,
    /// Whether it says that what it does may be hard to undo.
    pub consequential: bool,
    /// The origin of the document that it belongs to.
    pub origin: Arc<str>,
    /// How it is called.
    pub(crate) way: CallPath,
    /// What clients are told of it, once somebody has made that ready.
    pub(crate) text: OnceLock<Arc<ToolText>>,
}

/// How a tool is called.
#[derive(Clone, Debug)]
pub(crate) enum CallPath {
    /// Through Chrome's own WebMCP.
    Native(web_mcp::NativeCall),
    /// Through the page's own `modelContext`, which is the shim's or one that the page brought along.
    InPage(model_context::ShimCall),
    /// By us: [`introspect`](crate::introspect) knows what it acts on.
    Generated,
}

impl CallPath {
    /// Whether both go to the same one in the same document.
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
    /// The main frame's document; none until it is known.
    pub document: Option<DocumentId>,
    /// What the page registered, the main frame's tools first.
    pub web_mcp: Vec<Arc<FoundTool>>,
    /// What was generated, the best first.
    pub generated: Vec<Arc<FoundTool>>,
    /// How many more there are of either.
    left_out: (usize, usize),
    /// What the document and the page's own library know of each other, if it has that.
    pub mark: Option<Mark>,
    /// Whether the page is being asked for more, and will answer soon if it answers at all.
    pub(crate) asking: bool,
}

/// A value that our script gave to the document of a page with the library. Whoever else knows it has it
/// from that page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// 32 hex digits.
    pub nonce: Arc<str>,
    /// The origin of the document.
    pub origin: Arc<str>,
}

/// The findings of one tab, for those who find and those who look.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    findings: Arc<watch::Sender<Findings>>,
    asks: mpsc::Sender<Ask>,
    /// For the one who reports.
    asked: Arc<Mutex<Option<mpsc::Receiver<Ask>>>>,
}

/// Somebody wants to go on when what is there now has been reported.
pub(crate) type Ask = oneshot::Sender<()>;

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

    /// How many more one source has.
    pub fn left_out(&self, source: ToolSource) -> usize {
        match source {
            ToolSource::WebMcp => self.left_out.0,
            ToolSource::Generated => self.left_out.1,
        }
    }

    /// Whether nothing has been found.
    pub fn is_empty(&self) -> bool {
        self.web_mcp.is_empty() && self.generated.is_empty() && self.mark.is_none()
    }

    /// The same document before anything was found in it.
    pub(crate) fn without_tools(&self) -> Self {
        Self {
            document: self.document,
            mark: self.mark.clone(),
            asking: self.asking,
            ..Self::default()
        }
    }

    /// All tools.
    pub(crate) fn tools(&self) -> impl Iterator<Item = &Arc<FoundTool>> {
        self.web_mcp.iter().chain(&self.generated)
    }

    /// The documents whose tools our script in the page reports, and not Chrome.
    pub(crate) fn reported_by_pages(&self) -> Vec<DocumentId> {
        let documents = self.web_mcp.iter().filter_map(|tool| match &tool.way {
            CallPath::InPage(way) => Some(way.home.document),
            CallPath::Native(_) | CallPath::Generated => None,
        });
        documents.collect()
    }

    /// One tool, if it is still there.
    pub fn find(&self, number: ToolNumber) -> Option<&Arc<FoundTool>> {
        self.tools().find(|tool| tool.number == number)
    }
}

impl Default for Found {
    fn default() -> Self {
        let (asks, asked) = mpsc::channel(MOST_ASKS);
        Self {
            findings: Arc::default(),
            asks,
            asked: Arc::new(Mutex::new(Some(asked))),
        }
    }
}

impl Found {
    /// The tab shows this document. The tools of another one are gone.
    pub(crate) fn turn_to(&self, document: DocumentId) {
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

    /// All the tools that a source has now for the tab with this main document, and how many more there
    /// are. Nothing, if the tab has moved on since.
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
            // What was made ready of a tool is ready as long as the tool is the same.
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

    /// The mark of the tab's main document.
    pub(crate) fn put_mark(&self, document: DocumentId, mark: Option<Mark>) {
        self.findings.send_if_modified(|findings| {
            if findings.document != Some(document) || findings.mark == mark {
                return false;
            }
            findings.mark = mark;
            true
        });
    }

    /// Whether the tab's page is being asked for more.
    pub(crate) fn put_asking(&self, document: DocumentId, asking: bool) {
        self.findings.send_if_modified(|findings| {
            if findings.document != Some(document) || findings.asking == asking {
                return false;
            }
            findings.asking = asking;
            true
        });
    }

    /// Looks at what is there now. Do not keep the guard over an await.
    pub(crate) fn look(&self) -> watch::Ref<'_, Findings> {
        self.findings.borrow()
    }

    /// Resolves when what is there now has been reported, or will be later because the page has changed too
    /// much of late.
    pub(crate) async fn report(&self) {
        let (done, reported) = oneshot::channel();
        self.ask(done).await;
        let _ = tokio::time::timeout(REPORT_LIMIT, reported).await;
    }

    /// Asks for a report; who asks is told when it was made.
    pub(super) async fn ask(&self, done: Ask) {
        // Nobody reports any more when the tab is going.
        let _ = self.asks.send(done).await;
    }

    /// For the one who reports: what there is, and who asks for it. Only the first gets it.
    pub(crate) fn follow(&self) -> Option<(watch::Receiver<Findings>, mpsc::Receiver<Ask>)> {
        let asked = &mut *self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        Some((self.watch(), asked.take()?))
    }

    /// For those who follow it.
    pub(crate) fn watch(&self) -> watch::Receiver<Findings> {
        self.findings.subscribe()
    }
}

impl FoundTool {
    /// What clients are told of it. Costly for the first who asks; whoever reports it has asked before.
    pub fn text(&self) -> &Arc<ToolText> {
        self.text.get_or_init(|| {
            let said_by = match self.way {
                CallPath::Generated => SaidBy::Us,
                CallPath::Native(_) | CallPath::InPage(_) => SaidBy::Page,
            };
            let (description, schema) = (&self.description, &self.schema);
            let text = ToolText::prepare(description, schema, said_by, &self.origin);
            Arc::new(text)
        })
    }

    /// The schema as JSON; null if the page's words are none.
    pub fn read_schema(&self) -> Value {
        serde_json::from_str(&self.schema).unwrap_or_default()
    }

    /// How much it says, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.name.len() + self.description.len() + self.schema.len()
    }

    /// Whether nothing costly is left to do for it. What was ready of another that says the same is ready
    /// for this one.
    pub(crate) fn is_ready_as(&self, known: Option<&Self>) -> bool {
        let same = known.filter(|known| {
            known.description == self.description
                && known.schema == self.schema
                && known.origin == self.origin
        });
        if let Some(text) = same.and_then(|known| known.text.get()) {
            let _ = self.text.set(Arc::clone(text));
        }
        self.text.get().is_some()
    }
}

/// The same tool, saying the same, and called in the same way.
impl PartialEq for FoundTool {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
            && self.name == other.name
            && self.description == other.description
            && self.schema == other.schema
            && self.read_only == other.read_only
            && self.consequential == other.consequential
            && self.origin == other.origin
            && self.way.is_like(&other.way)
    }
}

impl Eq for FoundTool {}

/// Calls that end at the same time ask at the same time; more wait for their turn.
const MOST_ASKS: usize = 64;
/// How long a call's answer waits until the tools that came by it have been told. They are told later then.
const REPORT_LIMIT: Duration = Duration::from_secs(2);
