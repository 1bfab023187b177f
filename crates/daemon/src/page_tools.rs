//! Page tools, wherever they live: in tabs of the page library, or in tabs of a browser.

mod joins;
mod library;
mod store;

use crate::page_updates::{PageReply, PageUpdate, page_id};
use crate::record::{Listed, Record};
use crate::timed_core::TimedCore;
use joins::Joins;
use library::Library;
use std::sync::Arc;
use store::ToolStore;
use tabmux_browser::OriginPolicy;
use tabmux_browser::page_tools::{FoundTool, Mark, ToolSource};
use tabmux_core::{
    BrowserId, ConnectionId, DocumentId, Input, Mode, PageFacts, PageId, PageRefusal, Source,
    TabLocation, TargetId, ToolFacts, ToolKey, ToolName,
};
use tabmux_protocol::overview::LibraryRow;
use tabmux_protocol::page::{PageTab, ToPage};
use tabmux_text::{one_line, shorten};
use tokio::sync::mpsc;

/// The tools of all tabs, the workers of the page library, and which of their tabs is which tab of a browser.
#[derive(Debug, Default)]
pub(crate) struct PageTools {
    tools: ToolStore,
    library: Library,
    joins: Joins,
}

/// The answer of a worker to a call.
pub(crate) struct WorkerAnswer {
    pub(crate) call_id: String,
    pub(crate) reply: PageReply,
}

/// Tools in any tab.
impl PageTools {
    /// The full description of a tool.
    pub(crate) fn record(&self, place: &TabLocation, key: ToolKey) -> Option<&Arc<Record>> {
        self.tools.record(place, key)
    }

    /// A tool as it is listed for a session, if the session may see it.
    pub(crate) fn listed(
        &self,
        name: ToolName,
        place: &TabLocation,
        key: ToolKey,
        mode: Mode,
        policy: &OriginPolicy,
    ) -> Option<Listed> {
        let record = self.record(place, key)?;
        record.is_visible_under(policy).then(|| Listed::Page {
            name,
            record: Arc::clone(record),
            // A tool of the library can be called in each of its tabs, independent of the focus.
            with_tab: mode == Mode::Static || matches!(place, TabLocation::Page { .. }),
        })
    }
}

/// Tabs of a browser.
impl PageTools {
    /// A browser tab offers these tools.
    pub(crate) fn found(
        &mut self,
        browser: BrowserId,
        target: TargetId,
        source: ToolSource,
        tools: &[Arc<FoundTool>],
    ) -> (Source, Vec<ToolFacts>) {
        let source = match source {
            ToolSource::WebMcp => Source::WebMcp,
            ToolSource::Generated => Source::Generated,
        };
        let place = TabLocation::Browser { browser, target };
        (source, self.tools.replace(place, source, tools))
    }

    /// Our script found the page library in a browser tab, and gave it a nonce.
    pub(crate) fn library_found(
        &mut self,
        browser: BrowserId,
        target: TargetId,
        document: DocumentId,
        mark: Mark,
    ) -> Option<Input> {
        self.joins.given(browser, target, document, mark)
    }

    /// A browser tab is gone, or shows another document.
    pub(crate) fn forget_tab(&mut self, browser: BrowserId, target: &TargetId) {
        self.joins.forget_tab(browser, target);
        let target = target.clone();
        self.tools
            .forget_tab(&TabLocation::Browser { browser, target });
    }

    pub(crate) fn forget_browser(&mut self, browser: BrowserId) {
        self.tools.forget_browser(browser);
        self.joins.forget_browser(browser);
    }
}

/// Workers of the page library, and their tabs.
impl PageTools {
    /// A worker connected, from a page of this origin.
    pub(crate) fn open(
        &mut self,
        origin: Arc<str>,
        version: String,
        out: mpsc::Sender<ToPage>,
    ) -> ConnectionId {
        self.library.open(origin, version, out)
    }

    /// The version of the library in the pages of each origin that is connected.
    pub(crate) fn libraries(&self) -> Vec<LibraryRow> {
        self.library.versions()
    }

    /// A worker disconnected, or is refused. False if it had been closed before.
    pub(crate) fn close(&mut self, connection: ConnectionId) -> bool {
        self.joins.forget_worker(connection);
        let Some(worker) = self.library.close(connection) else {
            return false;
        };
        for page in worker.pages.into_keys() {
            self.tools
                .forget_tab(&TabLocation::Page { connection, page });
        }
        true
    }

    /// Sends a message to a worker. False if its queue is full or closed.
    pub(crate) fn tell(&self, connection: ConnectionId, message: ToPage) -> bool {
        self.library.tell(connection, message)
    }

    /// A worker sent a message. Returns it if it is the answer to a call.
    pub(crate) fn received(
        &mut self,
        connection: ConnectionId,
        update: PageUpdate,
        core: &mut TimedCore,
    ) -> Option<WorkerAnswer> {
        match update {
            PageUpdate::TabCame(tab) => {
                // A tab that registers again counts as new: its tools are gone.
                self.renew(connection, &page_id(&tab.tab_id));
                self.page_shown(connection, &tab, core);
            }
            // A refused tab stays refused, even if it changes.
            PageUpdate::TabChanged(tab) if self.has(connection, &page_id(&tab.tab_id)) => {
                self.page_shown(connection, &tab, core);
            }
            PageUpdate::TabChanged(_) => {}
            PageUpdate::TabGone { tab_id } => {
                let page = page_id(&tab_id);
                self.forget_page(connection, &page);
                core.input(Input::PageGone { connection, page });
            }
            PageUpdate::Activated { tab_id, at } => {
                let input = self.library.activated(connection, tab_id.as_deref(), at);
                input.into_iter().for_each(|input| core.input(input));
            }
            PageUpdate::ToolOffered { tab_id, tool } => {
                self.tool_offered(connection, tab_id, tool, core);
            }
            PageUpdate::ToolUnfit {
                tab_id,
                name,
                reason,
            } => self.tool_unfit(connection, tab_id, name, reason, core),
            PageUpdate::ToolGone { tab_id, name } => {
                self.tool_gone(connection, page_id(&tab_id), &name, core);
            }
            PageUpdate::Answered { call_id, answer } => {
                let reply = answer;
                return Some(WorkerAnswer { call_id, reply });
            }
        }
        None
    }

    fn page_shown(&mut self, connection: ConnectionId, tab: &PageTab, core: &mut TimedCore) {
        let id = page_id(&tab.tab_id);
        let Some(document) = self.show(connection, &id, &tab.document_id) else {
            return;
        };
        let Some(worker) = self.library.worker(connection) else {
            return;
        };
        let page = PageFacts {
            id: id.clone(),
            url: address(&tab.url, &worker.origin).into(),
            title: one_line(&tab.title, MOST_TITLE).into(),
            document,
        };
        core.input(Input::PageAppeared { connection, page });
        if let Some(nonce) = &tab.nonce
            && let Some(joined) = self
                .joins
                .report_nonce(connection, id, &worker.origin, nonce)
        {
            core.input(joined);
        }
    }

    fn tool_offered(
        &mut self,
        connection: ConnectionId,
        tab_id: String,
        tool: Arc<Record>,
        core: &mut TimedCore,
    ) {
        let page = page_id(&tab_id);
        let name = Arc::clone(&tool.name);
        match self.register(connection, &page, tool) {
            Ok(tool) => core.input(Input::ToolRegistered {
                connection,
                page,
                tool,
            }),
            Err(reason) => self.tool_unfit(connection, tab_id, name.to_string(), reason, core),
        }
    }

    /// A tool is rejected. It also removes the tab's earlier tool of that name.
    fn tool_unfit(
        &mut self,
        connection: ConnectionId,
        tab_id: String,
        name: String,
        reason: String,
        core: &mut TimedCore,
    ) {
        self.tool_gone(connection, page_id(&tab_id), &name, core);
        let rejected = ToPage::ToolRejected {
            tab_id,
            name,
            reason,
        };
        self.tell(connection, rejected);
    }

    fn tool_gone(
        &mut self,
        connection: ConnectionId,
        page: PageId,
        name: &str,
        core: &mut TimedCore,
    ) {
        if let Some(key) = self.unregister(connection, &page, name) {
            core.input(Input::ToolUnregistered {
                connection,
                page,
                key,
            });
        }
    }

    /// The core refuses a tab or removes it: tells its worker.
    pub(crate) fn refuse_page(
        &mut self,
        connection: ConnectionId,
        page: &PageId,
        refusal: PageRefusal,
    ) {
        tracing::info!(%page, %refusal, "a page's tab was refused");
        self.forget_page(connection, page);
        let refused = ToPage::TabRefused {
            tab_id: page.0.to_string(),
            another_id: refusal.is_about_the_name(),
            reason: refusal.to_string(),
        };
        self.tell(connection, refused);
    }

    /// The core rejects tools: tells their worker.
    pub(crate) fn reject_tools(&mut self, place: &TabLocation, tools: &[ToolKey], reason: &str) {
        // Rejected tools of browser tabs are counted, and reported with the tool list.
        let TabLocation::Page { connection, page } = place else {
            return;
        };
        for key in tools {
            if let Some(record) = self.tools.remove(place, *key) {
                let rejected = ToPage::ToolRejected {
                    tab_id: page.0.to_string(),
                    name: record.name.to_string(),
                    reason: reason.to_owned(),
                };
                self.tell(*connection, rejected);
            }
        }
    }
}

/// The tabs of the page library and their tools, without the core.
impl PageTools {
    /// The number of the document that a tab shows. A new document has no tools yet.
    pub(crate) fn show(
        &mut self,
        connection: ConnectionId,
        page: &PageId,
        document: &str,
    ) -> Option<DocumentId> {
        let (document, is_new) = self.library.show(connection, page, document)?;
        if is_new {
            self.tools.forget_tab(&place(connection, page));
        }
        Some(document)
    }

    /// The worker's id of the document that a tab shows.
    pub(crate) fn document(&self, connection: ConnectionId, page: &PageId) -> Option<&str> {
        let document = self.library.document(connection, page)?;
        Some(&document.name)
    }

    /// Whether a worker has this tab.
    pub(crate) fn has(&self, connection: ConnectionId, page: &PageId) -> bool {
        self.library.document(connection, page).is_some()
    }

    fn renew(&mut self, connection: ConnectionId, page: &PageId) {
        self.library.renew(connection, page);
        self.tools.forget_tab(&place(connection, page));
        self.joins.forget_page(connection, page);
    }

    pub(crate) fn forget_page(&mut self, connection: ConnectionId, page: &PageId) {
        self.library.forget_page(connection, page);
        self.tools.forget_tab(&place(connection, page));
        self.joins.forget_page(connection, page);
    }

    /// Adds a tool to a tab that its worker has.
    pub(crate) fn register(
        &mut self,
        connection: ConnectionId,
        page: &PageId,
        tool: Arc<Record>,
    ) -> Result<ToolFacts, String> {
        let worker = self.library.worker(connection);
        let worker = worker.ok_or("The connection has ended.")?;
        if !worker.pages.contains_key(page) {
            return Err("There is no such tab.".to_owned());
        }
        self.tools.register(place(connection, page), tool)
    }

    /// Removes a tool, by the page's name for it.
    pub(crate) fn unregister(
        &mut self,
        connection: ConnectionId,
        page: &PageId,
        name: &str,
    ) -> Option<ToolKey> {
        self.tools.unregister(&place(connection, page), name)
    }
}

fn place(connection: ConnectionId, page: &PageId) -> TabLocation {
    let page = page.clone();
    TabLocation::Page { connection, page }
}

/// The address that a page reports, if it is in the page's origin, which the browser reports.
fn address(said: &str, origin: &str) -> String {
    let url = url::Url::parse(said).ok();
    let is_true = url.is_some_and(|url| url.origin().ascii_serialization() == origin);
    shorten(if is_true { said } else { origin }, MOST_URL)
}

const MOST_URL: usize = 4_000;
const MOST_TITLE: usize = 300;
