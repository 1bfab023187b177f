//! The full descriptions of the page library's tools. The core knows only their names and numbers.

use crate::record::Record;
use std::collections::HashMap;
use std::sync::Arc;
use tabmux_browser::text::one_line;
use tabmux_core::{ConnectionId, DocumentId, PageId, ToolFacts, ToolKey};
use tabmux_protocol::page::ToPage;
use tokio::sync::mpsc;

/// All connected workers.
#[derive(Debug, Default)]
pub(crate) struct PageTools {
    workers: HashMap<ConnectionId, Worker>,
    connections_counted: u64,
    keys_counted: u64,
}

/// One worker, and the tabs behind it.
#[derive(Debug)]
pub(crate) struct Worker {
    pub(crate) origin: Arc<str>,
    pub(crate) out: mpsc::Sender<ToPage>,
    pages: HashMap<PageId, Page>,
    /// Since when one of its tabs is in front, in milliseconds since 1970.
    pub(crate) active_since: Option<f64>,
}

#[derive(Debug, Default)]
struct Page {
    /// The document's id, as the worker names it and as we count it.
    document: (String, u64),
    tools: HashMap<ToolKey, Arc<Record>>,
}

impl PageTools {
    /// A worker connected.
    pub(crate) fn open(&mut self, origin: Arc<str>, out: mpsc::Sender<ToPage>) -> ConnectionId {
        self.connections_counted += 1;
        let connection = ConnectionId(self.connections_counted);
        let worker = Worker {
            origin,
            out,
            pages: HashMap::new(),
            active_since: None,
        };
        self.workers.insert(connection, worker);
        connection
    }

    pub(crate) fn close(&mut self, connection: ConnectionId) -> bool {
        self.workers.remove(&connection).is_some()
    }

    pub(crate) fn worker(&self, connection: ConnectionId) -> Option<&Worker> {
        self.workers.get(&connection)
    }

    pub(crate) fn worker_mut(&mut self, connection: ConnectionId) -> Option<&mut Worker> {
        self.workers.get_mut(&connection)
    }

    /// Whether this worker had a tab in front most recently.
    pub(crate) fn is_latest(&self, connection: ConnectionId, since: f64) -> bool {
        let others = self.workers.iter().filter(|(id, _)| **id != connection);
        let mut times = others.filter_map(|(_, worker)| worker.active_since);
        times.all(|other| other <= since)
    }

    /// The number of the document that a tab shows. A new document has no tools yet.
    pub(crate) fn show(
        &mut self,
        connection: ConnectionId,
        page: &PageId,
        document: &str,
    ) -> Option<DocumentId> {
        let pages = &mut self.workers.get_mut(&connection)?.pages;
        let page = pages.entry(page.clone()).or_default();
        if page.document.0 != document {
            page.document = (one_line(document, 100), page.document.1 + 1);
            page.tools.clear();
        }
        Some(DocumentId(page.document.1))
    }

    /// A tab registered again: it counts as new, with a new document.
    pub(crate) fn renew(&mut self, connection: ConnectionId, page: &PageId) {
        let worker = self.workers.get_mut(&connection);
        if let Some(page) = worker.and_then(|worker| worker.pages.get_mut(page)) {
            // The count continues, so a call for an old document never reaches a new one.
            page.document.1 += 1;
            page.document.0.clear();
            page.tools.clear();
        }
    }

    /// Whether a worker has this tab. The core limits their number.
    pub(crate) fn has(&self, connection: ConnectionId, page: &PageId) -> bool {
        let worker = self.workers.get(&connection);
        worker.is_some_and(|worker| worker.pages.contains_key(page))
    }

    pub(crate) fn forget_page(&mut self, connection: ConnectionId, page: &PageId) {
        if let Some(worker) = self.workers.get_mut(&connection) {
            worker.pages.remove(page);
        }
    }

    /// Adds a tool. If the tab registered it before, it keeps its key.
    pub(crate) fn register(
        &mut self,
        connection: ConnectionId,
        page: &PageId,
        tool: Arc<Record>,
    ) -> Result<ToolFacts, String> {
        let worker = self
            .workers
            .get_mut(&connection)
            .ok_or("The connection has ended.")?;
        let known = worker.pages.get_mut(page).ok_or("There is no such tab.")?;
        let same = known.key_of(&tool.name);
        let others = known.tools.iter().filter(|(key, _)| Some(**key) != same);
        let bytes: usize = others.map(|(_, other)| other.bytes()).sum();
        if bytes + tool.bytes() > MOST_IN_TAB {
            return Err(format!(
                "The tools of one tab may have {} kB of names, descriptions and schemas. Unregister some, or \
                 shorten them.",
                MOST_IN_TAB / 1_024
            ));
        }
        let key = same.unwrap_or_else(|| {
            self.keys_counted += 1;
            ToolKey(self.keys_counted)
        });
        let facts = tool.facts(key);
        known.tools.insert(key, tool);
        Ok(facts)
    }

    /// Removes a tool, by the page's name for it.
    pub(crate) fn unregister(
        &mut self,
        connection: ConnectionId,
        page: &PageId,
        name: &str,
    ) -> Option<ToolKey> {
        let page = self.workers.get_mut(&connection)?.pages.get_mut(page)?;
        let key = page.key_of(name)?;
        page.tools.remove(&key);
        Some(key)
    }

    /// Removes a tool that the core rejected. Returns its name.
    pub(crate) fn forget_tool(
        &mut self,
        connection: ConnectionId,
        page: &PageId,
        key: ToolKey,
    ) -> Option<String> {
        let page = self.workers.get_mut(&connection)?.pages.get_mut(page)?;
        let record = page.tools.remove(&key)?;
        Some(record.name.to_string())
    }

    pub(crate) fn record(
        &self,
        connection: ConnectionId,
        page: &PageId,
        key: ToolKey,
    ) -> Option<&Arc<Record>> {
        self.workers
            .get(&connection)?
            .pages
            .get(page)?
            .tools
            .get(&key)
    }

    /// The worker's id of the document that a tab shows.
    pub(crate) fn document(&self, connection: ConnectionId, page: &PageId) -> Option<&str> {
        let page = self.workers.get(&connection)?.pages.get(page)?;
        Some(&page.document.0)
    }
}

impl Page {
    /// The key of the tool with this name.
    fn key_of(&self, name: &str) -> Option<ToolKey> {
        let mut tools = self.tools.iter();
        let (key, _) = tools.find(|(_, tool)| &*tool.name == name)?;
        Some(*key)
    }
}

/// The limit for all tool texts of one tab: more than any model reads.
pub(crate) const MOST_IN_TAB: usize = 1_024 * 1_024;
