//! What a page's worker says, made ready for the main loop by the connection's own task: tools are cleaned and
//! checked, answers are put into form, and what says nothing new goes no further.

use crate::convert;
use crate::intake::{Held, Share};
use crate::record::{Record, Said};
use crate::remembered::Remembered;
use serde_json::Value;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use tabmux_browser::page_tools::{SaidBy, ToolText, run_in_background};
use tabmux_browser::text::shorten;
use tabmux_core::PageId;
use tabmux_protocol::page::{FromPage, PageTab, PageTool};
use tabmux_protocol::{CallReply, ToolHints};

/// Something that the main loop has to know.
#[derive(Debug)]
pub(crate) enum PageNews {
    /// A tab is there, with no tools yet.
    TabCame(PageTab),
    /// Something about a tab is different.
    TabChanged(PageTab),
    TabGone {
        tab_id: String,
    },
    Activated {
        tab_id: Option<String>,
        at: f64,
    },
    /// A tab offers a tool, or another one under the same name.
    ToolOffered {
        tab_id: String,
        tool: Arc<Record>,
    },
    /// A tab offers a tool that is not taken in, and no longer what it had under that name.
    ToolUnfit {
        tab_id: String,
        name: String,
        reason: String,
    },
    ToolGone {
        tab_id: String,
        name: String,
    },
    /// A call is over.
    Answered {
        call_id: String,
        answer: PageReply,
    },
}

/// How a call ended.
#[derive(Debug)]
pub(crate) enum PageReply {
    Done(CallReply),
    /// The page had not begun it: somebody else may.
    NotBegun,
}

/// Makes ready what one worker says.
#[derive(Debug)]
pub(crate) struct PageReader {
    origin: Arc<str>,
    /// The room for what is kept of its tools.
    room: Share,
    /// What its tools say, by what their pages said.
    said: Remembered<u64, Said>,
    /// The tabs that it has registered, each with a number that another document of it does not have.
    tabs: HashMap<PageId, u64>,
    documents_counted: u64,
    /// Its tools as the main loop has them, by that number and their name.
    known: Remembered<(u64, String), Record>,
    hasher: RandomState,
}

impl PageReader {
    pub(crate) fn new(origin: Arc<str>, room: Share) -> Self {
        Self {
            origin,
            room,
            said: Remembered::default(),
            tabs: HashMap::new(),
            documents_counted: 0,
            known: Remembered::default(),
            hasher: RandomState::new(),
        }
    }

    /// What is new, if anything is.
    pub(crate) async fn read(&mut self, message: FromPage) -> Option<PageNews> {
        Some(match message {
            FromPage::RegisterTab(tab) => {
                self.tab_came(page_id(&tab.tab_id));
                PageNews::TabCame(tab)
            }
            FromPage::UpdateTab(tab) => {
                // It may show another document, which has no tools yet.
                let page = page_id(&tab.tab_id);
                if self.tabs.contains_key(&page) {
                    self.tab_came(page);
                }
                PageNews::TabChanged(tab)
            }
            FromPage::UnregisterTab { tab_id } => {
                self.tabs.remove(&page_id(&tab_id));
                PageNews::TabGone { tab_id }
            }
            FromPage::SetActiveTab { tab_id, at } => PageNews::Activated { tab_id, at },
            FromPage::RegisterTool(tool) => self.tool(tool).await?,
            FromPage::UnregisterTool { tab_id, name } => {
                self.forget(&page_id(&tab_id), name.clone());
                PageNews::ToolGone { tab_id, name }
            }
            FromPage::ToolCallResult {
                call_id,
                success,
                result,
                error,
                code,
            } => {
                let answer = match (success, code.as_str()) {
                    (true, _) => PageReply::Done(convert::page_result(result)),
                    (false, "no_tool" | "no_tab") => PageReply::NotBegun,
                    (false, code) => PageReply::Done(convert::page_error(&error, code)),
                };
                PageNews::Answered { call_id, answer }
            }
            FromPage::Hello { .. } | FromPage::Ping | FromPage::Pong => return None,
        })
    }

    async fn tool(&mut self, tool: PageTool) -> Option<PageNews> {
        let page = page_id(&tool.tab_id);
        let (tab_id, name) = (tool.tab_id.clone(), tool.name.clone());
        match self.record(&page, tool).await {
            Ok(Some(tool)) => Some(PageNews::ToolOffered { tab_id, tool }),
            Ok(None) => None,
            Err(reason) => {
                self.forget(&page, name.clone());
                Some(PageNews::ToolUnfit {
                    tab_id,
                    name,
                    reason,
                })
            }
        }
    }

    /// The tool as the main loop takes it; none if it has it.
    async fn record(
        &mut self,
        page: &PageId,
        tool: PageTool,
    ) -> Result<Option<Arc<Record>>, String> {
        if tool.name.is_empty() || tool.name.len() > MOST_NAME {
            return Err(format!("A tool's name has 1 to {MOST_NAME} bytes."));
        }
        let schema = Value::Object(tool.input_schema).to_string();
        if schema.len() > MOST_SCHEMA {
            let size = schema.len();
            return Err(format!(
                "Its schema has {size} bytes; at most {MOST_SCHEMA} are taken."
            ));
        }
        let says = |hint| tool.annotations.get(hint) == Some(&Value::Bool(true));
        let read_only = says("readOnlyHint");
        let destructive = says("destructiveHint") || says("consequentialHint");
        let hints = (read_only || destructive).then_some(ToolHints {
            read_only,
            destructive: destructive.then_some(true),
        });
        let said = self.said(tool.description, schema).await?;
        let known = self.tabs.get(page).map(|tab| (*tab, tool.name.clone()));
        let same = known.as_ref().and_then(|known| self.known.get(known));
        let is_same = |same: Arc<Record>| Arc::ptr_eq(&same.said, &said) && same.hints == hints;
        if same.is_some_and(is_same) {
            return Ok(None);
        }
        let room = self.take_room(tool.name.len() + RECORD_BYTES)?;
        let record = Arc::new(Record {
            name: tool.name.as_str().into(),
            said,
            hints,
            origin: Arc::clone(&self.origin),
            room,
        });
        // What is not remembered is told once more, and does no harm.
        if let Some(known) = known {
            self.known.insert(known, &record);
        }
        Ok(Some(record))
    }

    /// What a tool says, made ready unless another one of this worker says the same.
    async fn said(&mut self, description: String, schema: String) -> Result<Arc<Said>, String> {
        let words = self.hasher.hash_one((&description, &schema));
        if let Some(said) = self.said.get(&words) {
            return Ok(said);
        }
        let room = self.take_room(description.len() + schema.len() + SAID_BYTES)?;
        let origin = Arc::clone(&self.origin);
        let text = run_in_background(move || {
            ToolText::prepare(&description, &schema, SaidBy::Page, &origin)
        })
        .await;
        let text = text.ok_or("It could not be read. Register it again.")?;
        let said = Arc::new(Said::new(Arc::new(text), room));
        self.said.insert(words, &said);
        Ok(said)
    }

    fn take_room(&self, bytes: usize) -> Result<Held, String> {
        let room = self.room.try_take(bytes);
        room.map_err(|used_up| used_up.refuses_tools())
    }

    /// A tab is there, or may show another document, which has no tools yet.
    fn tab_came(&mut self, page: PageId) {
        if self.tabs.len() < MOST_TABS || self.tabs.contains_key(&page) {
            self.documents_counted += 1;
            self.tabs.insert(page, self.documents_counted);
        }
    }

    fn forget(&mut self, page: &PageId, name: String) {
        if let Some(tab) = self.tabs.get(page) {
            self.known.remove(&(*tab, name));
        }
    }
}

/// What the core calls a worker's tab.
pub(crate) fn page_id(text: &str) -> PageId {
    PageId(shorten(text, MOST_ID).into())
}

const MOST_ID: usize = 100;
const MOST_NAME: usize = 256;
const MOST_SCHEMA: usize = 64 * 1_024;
/// As many as the core takes of one worker.
const MOST_TABS: usize = 1_000;
/// What a text takes beside its bytes, and a tool beside its name: in the main loop, in the core and here.
const SAID_BYTES: usize = 1_024;
const RECORD_BYTES: usize = 384;

#[cfg(test)]
mod tests;
