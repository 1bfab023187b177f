//! Tools for pages that offer none: generated from the forms, buttons and lists that a page shows.
//!
//! A script in our isolated world collects facts about the controls of each frame (`facts`). A pure function proposes
//! tools from them (`propose`). The tools use the same trusted input as `click` and `fill` (`tools/generated.rs`). Tabs
//! that a session holds are read again when they change (`follow`).

mod actions;
mod brief;
mod draft;
mod facts;
mod follow;
mod form_buttons;
mod forms;
mod gather;
mod lists;
mod meanings;
mod naming;
mod propose;
mod schema;

pub(crate) use draft::{AfterFill, Item, ToolAction};
pub(crate) use follow::Following;
pub(crate) use forms::SUBMIT;
pub(crate) use schema::{Argument, Fills};

use crate::error::ToolError;
use crate::page_tools::{BriefText, CallPath, FoundTool, ToolNumber, ToolSource};
use crate::tab::{DocumentId, Tab};
use meanings::Meanings;
use propose::{GeneratedTool, propose};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The default limit of generated tools per page.
pub const USUAL_LIMIT: usize = 12;

/// The tools generated from a tab's page.
#[derive(Clone, Debug, Default)]
pub(crate) struct Introspection {
    known: Arc<Mutex<Known>>,
    /// Only one read at a time.
    reading: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Debug, Default)]
struct Known {
    /// The main document that the tools belong to.
    document: Option<DocumentId>,
    tools: Vec<Arc<GeneratedTool>>,
    meanings: Meanings,
    numbers: HashMap<String, ToolNumber>,
    /// The limit of the last read.
    limit: Option<usize>,
}

/// The cost and the result of reading a page once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// The documents that were read, the main one first.
    pub documents: Vec<DocumentId>,
    /// How long the page's main thread was busy with it.
    pub took: Duration,
    /// How many tools there are.
    pub tools: usize,
    /// How many more there would be without the limit.
    pub left_out: usize,
}

/// Reads a tab's page, generates tools from it, and puts them into the tab's findings.
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
    // A Chrome error page has nothing to work on.
    let surveys = match shows_an_error(tab) {
        true => &[][..],
        false => &gathered.surveys,
    };
    let (tools, left_out) = propose(surveys, &mut known.meanings, limit);
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

/// Reads a page again, with the limit of the last read.
pub(crate) async fn read_again(tab: &Tab) -> Result<Reading, ToolError> {
    let limit = tab.introspection().known().limit;
    read(tab, limit.unwrap_or(USUAL_LIMIT)).await
}

impl Introspection {
    /// The tool with this name, as of the last read.
    pub(crate) fn tool(&self, name: &str) -> Option<Arc<GeneratedTool>> {
        let known = self.known();
        known.tools.iter().find(|tool| tool.name == name).cloned()
    }

    /// The main document of the last read.
    pub(crate) fn document(&self) -> Option<DocumentId> {
        self.known().document
    }

    /// Drops the tools: no session needs them any more.
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
    /// The tool for the findings. The same name in the same document keeps its number.
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
            brief: tool.brief.as_ref().map(|brief| BriefText {
                description: brief.description.as_str().into(),
                schema: brief.schema.to_string().into(),
            }),
            read_only: tool.read_only,
            consequential: false,
            origin: origin.into(),
            path: CallPath::Generated,
            text: Default::default(),
        })
    }
}
