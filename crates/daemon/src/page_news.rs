//! What a page's worker says, made ready for the main loop by the connection's own task: tools are cleaned and
//! checked, answers are put into form, and what says nothing new goes no further.

use crate::convert;
use crate::intake::Share;
use crate::record::{Record, Said};
use serde_json::Value;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Weak};
use tabmux_browser::page_tools::{SaidBy, ToolText, beside};
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
    said: HashMap<u64, Weak<Said>>,
    /// Its tools as the main loop has them, as long as it has them.
    known: HashMap<PageId, HashMap<String, Weak<Record>>>,
    hasher: RandomState,
}

impl PageReader {
    pub(crate) fn new(origin: Arc<str>, room: Share) -> Self {
        Self {
            origin,
            room,
            said: HashMap::new(),
            known: HashMap::new(),
            hasher: RandomState::new(),
        }
    }

    /// What is new, if anything is.
    pub(crate) async fn read(&mut self, message: FromPage) -> Option<PageNews> {
        Some(match message {
            FromPage::RegisterTab(tab) => {
                self.known.remove(&page_id(&tab.tab_id));
                PageNews::TabCame(tab)
            }
            FromPage::UpdateTab(tab) => {
                // It may show another document, which has no tools yet.
                self.known.remove(&page_id(&tab.tab_id));
                PageNews::TabChanged(tab)
            }
            FromPage::UnregisterTab { tab_id } => {
                self.known.remove(&page_id(&tab_id));
                PageNews::TabGone { tab_id }
            }
            FromPage::SetActiveTab { tab_id, at } => PageNews::Activated { tab_id, at },
            FromPage::RegisterTool(tool) => self.tool(tool).await?,
            FromPage::UnregisterTool { tab_id, name } => {
                self.forget(&page_id(&tab_id), &name);
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
                self.forget(&page, &name);
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
        let tools = self.known.get(page);
        let known = tools.and_then(|tools| tools.get(&tool.name)?.upgrade());
        let is_known = |known: Arc<Record>| Arc::ptr_eq(&known.said, &said) && known.hints == hints;
        if known.is_some_and(is_known) {
            return Ok(None);
        }
        let record = Arc::new(Record {
            name: tool.name.as_str().into(),
            said,
            hints,
            origin: Arc::clone(&self.origin),
        });
        self.note(page, tool.name, &record);
        Ok(Some(record))
    }

    /// What a tool says, made ready unless another one of this worker says the same.
    async fn said(&mut self, description: String, schema: String) -> Result<Arc<Said>, String> {
        let words = self.hasher.hash_one((&description, &schema));
        if let Some(said) = self.said.get(&words).and_then(Weak::upgrade) {
            return Ok(said);
        }
        let room = self.room.try_take(description.len() + schema.len());
        let room = room.map_err(|used_up| used_up.refuses_tools())?;
        let origin = Arc::clone(&self.origin);
        let text =
            beside(move || ToolText::prepare(&description, &schema, SaidBy::Page, &origin)).await;
        let text = text.ok_or("It could not be read. Register it again.")?;
        let said = Arc::new(Said::new(Arc::new(text), room));
        if self.said.len() >= MOST_REMEMBERED {
            self.said.retain(|_, said| said.strong_count() > 0);
        }
        self.said.insert(words, Arc::downgrade(&said));
        Ok(said)
    }

    /// Remembers what the main loop is about to have. What is forgotten is told once more, and does no harm.
    fn note(&mut self, page: &PageId, name: String, record: &Arc<Record>) {
        let count: usize = self.known.values().map(HashMap::len).sum();
        if count >= MOST_REMEMBERED {
            for tools in self.known.values_mut() {
                tools.retain(|_, tool| tool.strong_count() > 0);
            }
            self.known.retain(|_, tools| !tools.is_empty());
        }
        let tools = self.known.entry(page.clone()).or_default();
        tools.insert(name, Arc::downgrade(record));
    }

    fn forget(&mut self, page: &PageId, name: &str) {
        if let Some(tools) = self.known.get_mut(page) {
            tools.remove(name);
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
/// A worker has at most 1,000 tabs with 64 tools each. What is no longer anywhere is forgotten from here on.
const MOST_REMEMBERED: usize = 70_000;

#[cfg(test)]
mod tests;
