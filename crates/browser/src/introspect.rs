//! Tools for pages that offer none: made from the forms, buttons and lists that a page shows.
//!
//! A script in our isolated world tells facts about the controls of each frame (`facts`); from these
//! the tools are proposed (`propose`, pure); what they do goes through the same trusted input as `click`
//! and `fill` (`tools/generated.rs`). Tabs that a session holds are read again when they change
//! (`follow`).

mod actions;
mod draft;
mod facts;
mod follow;
mod forms;
mod gather;
mod lists;
mod naming;
mod propose;
mod schema;

pub(crate) use draft::{Item, Then, ToolAction};
pub(crate) use follow::Following;
pub(crate) use schema::{Argument, Fills};

use crate::error::ToolError;
use crate::page_tools::{CallPath, FoundTool, ToolNumber, ToolSource};
use crate::tab::{DocumentId, Tab};
use propose::{GeneratedTool, Names, propose};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How many tools a page gets where nobody says otherwise.
pub const USUAL_LIMIT: usize = 30;

/// What was generated from a tab's page so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Introspection {
    known: Arc<Mutex<Known>>,
    /// One reading at a time.
    reading: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Debug, Default)]
struct Known {
    /// The main document that all of it is about.
    document: Option<DocumentId>,
    tools: Vec<Arc<GeneratedTool>>,
    names: Names,
    numbers: HashMap<String, ToolNumber>,
    /// How many tools were wanted last.
    limit: Option<usize>,
}

/// What one reading has cost, and what it was of.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// The documents that were read, the main one first.
    pub documents: Vec<DocumentId>,
    /// How long the page's own thread was kept busy.
    pub took: Duration,
    /// How many tools there are.
    pub tools: usize,
    /// How many more there would be without a limit.
    pub left_out: usize,
}

/// Reads a tab's page and puts the tools that it is good for into what was found there.
pub async fn read(tab: &Tab, limit: usize) -> Result<Reading, ToolError> {
    crate::run::may_begin(tab, false, false).await?;
    let introspection = tab.introspection();
    let _only_one = introspection.reading.lock().await;
    let gathered = gather::gather(tab).await?;
    let mut known = introspection.known();
    if known.document != Some(gathered.main) {
        *known = Known {
            document: Some(gathered.main),
            ..Known::default()
        };
    }
    // What Chrome shows in place of a page that did not come is no page to work on.
    let surveys = match shows_an_error(tab) {
        true => &[][..],
        false => &gathered.surveys,
    };
    let (tools, left_out) = propose(surveys, &mut known.names, limit);
    let found = tools.iter().map(|tool| known.found(tab, tool)).collect();
    let reading = Reading {
        documents: gathered
            .surveys
            .iter()
            .map(|(document, _)| *document)
            .collect(),
        took: gathered.took,
        tools: tools.len(),
        left_out,
    };
    known.limit = Some(limit);
    known.tools = tools.into_iter().map(Arc::new).collect();
    drop(known);
    tab.found()
        .put(ToolSource::Generated, gathered.main, found, left_out);
    Ok(reading)
}

fn shows_an_error(tab: &Tab) -> bool {
    let state = tab.state();
    let main = state.frames.main();
    main.is_some_and(|main| main.url.starts_with("chrome-error:"))
}

/// Reads a page once more, with as many tools as it had.
pub(crate) async fn read_again(tab: &Tab) -> Result<Reading, ToolError> {
    let limit = tab.introspection().known().limit;
    read(tab, limit.unwrap_or(USUAL_LIMIT)).await
}

impl Introspection {
    /// The tool of that name, as the page was when it was last read.
    pub(crate) fn tool(&self, name: &str) -> Option<Arc<GeneratedTool>> {
        let known = self.known();
        known.tools.iter().find(|tool| tool.name == name).cloned()
    }

    /// The main document that was read last.
    pub(crate) fn document(&self) -> Option<DocumentId> {
        self.known().document
    }

    /// Nobody wants the tools any more.
    pub(crate) fn forget(&self, tab: &Tab) {
        let mut known = self.known();
        known.tools.clear();
        if let Some(document) = known.document {
            tab.found()
                .put(ToolSource::Generated, document, Vec::new(), 0);
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    /// The tool as it is told. The same name in the same document keeps its number.
    fn found(&mut self, tab: &Tab, tool: &GeneratedTool) -> Arc<FoundTool> {
        let number = self
            .numbers
            .entry(tool.name.clone())
            .or_insert_with(ToolNumber::fresh);
        let origin = {
            let state = tab.state();
            let frame = state.frames.showing(tool.document);
            frame
                .map(|frame| state.frames.origin(frame))
                .unwrap_or_default()
        };
        Arc::new(FoundTool {
            number: *number,
            name: tool.name.as_str().into(),
            description: tool.description.as_str().into(),
            schema: tool.schema.to_string().into(),
            read_only: tool.read_only,
            consequential: false,
            origin: origin.into(),
            way: CallPath::Generated,
            text: Default::default(),
        })
    }
}
