//! The workers of the page library, and the tabs behind them.

use crate::page_updates::page_id;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use tabmux_core::{ConnectionId, DocumentId, Input, PageId, TabLocation};
use tabmux_protocol::overview::LibraryRow;
use tabmux_protocol::page::ToPage;
use tabmux_text::one_line;
use tokio::sync::mpsc;

/// All connected workers.
#[derive(Debug, Default)]
pub(super) struct Library {
    workers: HashMap<ConnectionId, Worker>,
    connections_counted: u64,
    /// The tab that is in front, according to its worker.
    active: Option<TabLocation>,
}

/// One worker.
#[derive(Debug)]
pub(super) struct Worker {
    pub(super) origin: Arc<str>,
    /// The version of its library.
    version: String,
    out: mpsc::Sender<ToPage>,
    pub(super) pages: HashMap<PageId, Document>,
    /// Since when one of its tabs is in front, in milliseconds since 1970.
    active_since: Option<f64>,
}

/// The document that a tab shows.
#[derive(Debug, Default)]
pub(super) struct Document {
    /// As the worker names it.
    pub(super) name: String,
    /// As we count it.
    number: u64,
}

impl Library {
    /// A worker connected.
    pub(super) fn open(
        &mut self,
        origin: Arc<str>,
        version: String,
        out: mpsc::Sender<ToPage>,
    ) -> ConnectionId {
        self.connections_counted += 1;
        let connection = ConnectionId(self.connections_counted);
        let worker = Worker {
            origin,
            version,
            out,
            pages: HashMap::new(),
            active_since: None,
        };
        self.workers.insert(connection, worker);
        connection
    }

    /// The version of the library in the pages of each origin, each pair once.
    pub(super) fn versions(&self) -> Vec<LibraryRow> {
        let rows = self.workers.values().map(|worker| LibraryRow {
            origin: worker.origin.to_string(),
            version: worker.version.clone(),
        });
        rows.collect::<BTreeSet<_>>().into_iter().collect()
    }

    pub(super) fn close(&mut self, connection: ConnectionId) -> Option<Worker> {
        self.workers.remove(&connection)
    }

    pub(super) fn worker(&self, connection: ConnectionId) -> Option<&Worker> {
        self.workers.get(&connection)
    }

    /// The document of a tab, if the worker has this tab. The core limits their number.
    pub(super) fn document(&self, connection: ConnectionId, page: &PageId) -> Option<&Document> {
        self.workers.get(&connection)?.pages.get(page)
    }

    /// The number of the document that a tab shows, and whether it is a new one.
    pub(super) fn show(
        &mut self,
        connection: ConnectionId,
        page: &PageId,
        document: &str,
    ) -> Option<(DocumentId, bool)> {
        let pages = &mut self.workers.get_mut(&connection)?.pages;
        let shown = pages.entry(page.clone()).or_default();
        let is_new = shown.name != document;
        if is_new {
            shown.name = one_line(document, 100);
            shown.number += 1;
        }
        Some((DocumentId(shown.number), is_new))
    }

    /// A tab registered again: it counts as new, with a new document.
    pub(super) fn renew(&mut self, connection: ConnectionId, page: &PageId) {
        let worker = self.workers.get_mut(&connection);
        if let Some(document) = worker.and_then(|worker| worker.pages.get_mut(page)) {
            // The count continues, so a call for an old document never reaches a new one.
            document.number += 1;
            document.name.clear();
        }
    }

    pub(super) fn forget_page(&mut self, connection: ConnectionId, page: &PageId) {
        if let Some(worker) = self.workers.get_mut(&connection) {
            worker.pages.remove(page);
        }
    }

    /// Sends a message to a worker. False if its queue is full or closed.
    pub(super) fn tell(&self, connection: ConnectionId, message: ToPage) -> bool {
        let worker = self.workers.get(&connection);
        worker.is_some_and(|worker| worker.out.try_send(message).is_ok())
    }

    /// The user switched to a tab, or away from all tabs of a worker. Among workers the latest time wins, so that a
    /// reconnecting worker does not take the focus; a time in the future counts as now.
    pub(super) fn activated(
        &mut self,
        connection: ConnectionId,
        tab: Option<&str>,
        at: f64,
    ) -> Option<Input> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.map_or(0.0, |now| now.as_secs_f64() * 1_000.0);
        let since = if at.is_finite() { at.min(now) } else { now };
        let is_latest = self.is_latest(connection, since);
        self.workers.get_mut(&connection)?.active_since = tab.map(|_| since);
        match tab {
            Some(tab) if is_latest => {
                let page = page_id(tab);
                let tab = TabLocation::Page { connection, page };
                self.active = Some(tab.clone());
                Some(Input::TabActivated { tab })
            }
            Some(_) => None,
            None => {
                let ours = |active: &mut TabLocation| matches!(active, TabLocation::Page { connection: own, .. } if *own == connection);
                let tab = self.active.take_if(ours)?;
                Some(Input::TabDeactivated { tab })
            }
        }
    }

    /// Whether this worker had a tab in front most recently.
    fn is_latest(&self, connection: ConnectionId, since: f64) -> bool {
        let others = self.workers.iter().filter(|(id, _)| **id != connection);
        let mut times = others.filter_map(|(_, worker)| worker.active_since);
        times.all(|other| other <= since)
    }
}
