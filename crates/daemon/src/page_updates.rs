//! Parses a worker's messages for the main loop, in the connection's own task: cleans and checks tools, converts
//! replies, and drops repetitions.

use crate::convert;
use crate::page_quotas::{Held, Share};
use crate::record::{Record, SharedText};
use crate::weak_map::WeakMap;
use serde_json::Value;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use tabmux_browser::page_tools::{SaidBy, ToolText, run_in_background};
use tabmux_core::PageId;
use tabmux_protocol::page::{FromPage, PageTab, PageTool};
use tabmux_protocol::{CallReply, ToolHints};
use tabmux_text::shorten;

/// An update for the main loop.
#[derive(Debug)]
pub(crate) enum PageUpdate {
    /// A tab registered, without tools yet.
    TabCame(PageTab),
    /// A tab's details changed.
    TabChanged(PageTab),
    TabGone {
        tab_id: String,
    },
    Activated {
        tab_id: Option<String>,
        at: f64,
    },
    /// A tab offers a new or changed tool.
    ToolOffered {
        tab_id: String,
        tool: Arc<Record>,
    },
    /// A tab offers an invalid tool, which also removes its earlier tool of that name.
    ToolUnfit {
        tab_id: String,
        name: String,
        reason: String,
    },
    ToolGone {
        tab_id: String,
        name: String,
    },
    /// A call has ended.
    Answered {
        call_id: String,
        answer: PageReply,
    },
}

/// The result of a call.
#[derive(Debug)]
pub(crate) enum PageReply {
    Done(CallReply),
    /// The page had not started it, so another page may run it.
    NotBegun,
}

/// Parses the messages of one worker.
#[derive(Debug)]
pub(crate) struct PageReader {
    origin: Arc<str>,
    /// The quota for what is kept of its tools.
    room: Share,
    /// The texts of its tools, by a hash of what the page sent.
    texts: WeakMap<u64, SharedText>,
    /// Its registered tabs, each with a number that is unique to its document.
    tabs: HashMap<PageId, u64>,
    documents_counted: u64,
    /// Its tools in the main loop, by document number and name.
    known: WeakMap<(u64, String), Record>,
    hasher: RandomState,
}

impl PageReader {
    pub(crate) fn new(origin: Arc<str>, room: Share) -> Self {
        Self {
            origin,
            room,
            texts: WeakMap::default(),
            tabs: HashMap::new(),
            documents_counted: 0,
            known: WeakMap::default(),
            hasher: RandomState::new(),
        }
    }

    /// The update in a message, if there is one.
    pub(crate) async fn read(&mut self, message: FromPage) -> Option<PageUpdate> {
        Some(match message {
            FromPage::RegisterTab(tab) => {
                self.tab_came(page_id(&tab.tab_id));
                PageUpdate::TabCame(tab)
            }
            FromPage::UpdateTab(tab) => {
                // It may show a new document, which has no tools yet.
                let page = page_id(&tab.tab_id);
                if self.tabs.contains_key(&page) {
                    self.tab_came(page);
                }
                PageUpdate::TabChanged(tab)
            }
            FromPage::UnregisterTab { tab_id } => {
                self.tabs.remove(&page_id(&tab_id));
                PageUpdate::TabGone { tab_id }
            }
            FromPage::SetActiveTab { tab_id, at } => PageUpdate::Activated { tab_id, at },
            FromPage::RegisterTool(tool) => self.tool(tool).await?,
            FromPage::UnregisterTool { tab_id, name } => {
                self.forget(&page_id(&tab_id), name.clone());
                PageUpdate::ToolGone { tab_id, name }
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
                PageUpdate::Answered { call_id, answer }
            }
            FromPage::Hello { .. } | FromPage::Ping | FromPage::Pong => return None,
        })
    }

    async fn tool(&mut self, tool: PageTool) -> Option<PageUpdate> {
        let page = page_id(&tool.tab_id);
        let (tab_id, name) = (tool.tab_id.clone(), tool.name.clone());
        match self.record(&page, tool).await {
            Ok(Some(tool)) => Some(PageUpdate::ToolOffered { tab_id, tool }),
            Ok(None) => None,
            Err(reason) => {
                self.forget(&page, name.clone());
                Some(PageUpdate::ToolUnfit {
                    tab_id,
                    name,
                    reason,
                })
            }
        }
    }

    /// The tool for the main loop; `None` if it is unchanged.
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
        let shared = self.shared_text(tool.description, schema).await?;
        let known = self.tabs.get(page).map(|tab| (*tab, tool.name.clone()));
        let same = known.as_ref().and_then(|known| self.known.get(known));
        let is_same = |same: Arc<Record>| Arc::ptr_eq(&same.shared, &shared) && same.hints == hints;
        if same.is_some_and(is_same) {
            return Ok(None);
        }
        let room = self.take_room(tool.name.len() + RECORD_BYTES)?;
        let record = Arc::new(Record {
            name: tool.name.as_str().into(),
            shared,
            hints,
            origin: Arc::clone(&self.origin),
            room,
        });
        // A tool that is no longer cached is sent again, which does no harm.
        if let Some(known) = known {
            self.known.insert(known, &record);
        }
        Ok(Some(record))
    }

    /// The text of a tool, cleaned unless another tool of this worker has the same text.
    async fn shared_text(
        &mut self,
        description: String,
        schema: String,
    ) -> Result<Arc<SharedText>, String> {
        let key = self.hasher.hash_one((&description, &schema));
        if let Some(text) = self.texts.get(&key) {
            return Ok(text);
        }
        let room = self.take_room(description.len() + schema.len() + SAID_BYTES)?;
        let origin = Arc::clone(&self.origin);
        let text = run_in_background(move || {
            ToolText::prepare(&description, &schema, SaidBy::Page, &origin)
        })
        .await;
        let text = text.ok_or("It could not be read. Register it again.")?;
        let shared = Arc::new(SharedText::new(Arc::new(text), room));
        self.texts.insert(key, &shared);
        Ok(shared)
    }

    fn take_room(&self, bytes: usize) -> Result<Held, String> {
        let room = self.room.try_take(bytes);
        room.map_err(|used_up| used_up.refuses_tools())
    }

    /// A tab registered, or may show a new document, which has no tools yet.
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

/// The core's id of a worker's tab.
pub(crate) fn page_id(text: &str) -> PageId {
    PageId(shorten(text, MOST_ID).into())
}

const MOST_ID: usize = 100;
const MOST_NAME: usize = 256;
const MOST_SCHEMA: usize = 64 * 1_024;
/// The core's limit for one worker.
const MOST_TABS: usize = 1_000;
/// The memory of a text besides its bytes, and of a tool besides its name: in the main loop, in the core and here.
const SAID_BYTES: usize = 1_024;
const RECORD_BYTES: usize = 384;

#[cfg(test)]
mod tests;
