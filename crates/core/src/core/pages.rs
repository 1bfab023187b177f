//! Pages that use the library: they appear, are matched with tabs of a browser, and go.

use super::Core;
use crate::call::Task;
use crate::offer::Source;
use crate::tab::{Library, Tab, Worker};
use crate::{
    CallId, ConnectionId, DocumentId, Fate, Input, LostTab, Output, PageFacts, PageId, PageRefusal,
    TabId, TabLocation, ToolFacts,
};
use std::collections::BTreeSet;
use std::sync::Arc;

impl Core {
    /// Handles the inputs about pages and their tools.
    pub(super) fn handle_page(&mut self, input: Input) {
        match input {
            Input::PagesConnected { connection, origin } => {
                self.pages_connected(connection, origin)
            }
            Input::PagesDisconnected { connection } => self.pages_disconnected(connection),
            Input::PageAppeared { connection, page } => self.page_appeared(connection, page),
            Input::PageGone { connection, page } => {
                if let Some(id) = self.page_of(connection, &page) {
                    self.page_gone(id);
                }
            }
            Input::PageJoined {
                connection,
                page,
                browser,
                target,
                document,
            } => {
                let page = self.page_of(connection, &page);
                let tab = self.tab_of(browser, &target);
                if let (Some(page), Some(tab)) = (page, tab) {
                    self.join(page, tab, document);
                }
            }
            Input::ToolRegistered {
                connection,
                page,
                tool,
            } => {
                if let Some(id) = self.page_of(connection, &page) {
                    self.offer_tool(id, Source::Library, tool);
                }
            }
            Input::ToolUnregistered {
                connection,
                page,
                key,
            } => {
                if let Some(id) = self.page_of(connection, &page) {
                    self.drop_offers(id, |source, offer| {
                        source == Source::Library && offer.key == key
                    });
                    self.end_orphans(id);
                }
            }
            Input::ToolsFound {
                browser,
                target,
                document,
                source,
                tools,
                left_out,
            } => {
                if let Some(id) = self.tab_of(browser, &target) {
                    self.tools_found(id, document, source, tools, left_out);
                }
            }
            Input::DocumentChanged {
                browser,
                target,
                document,
            } => {
                if let Some(id) = self.tab_of(browser, &target) {
                    self.document_changed(id, document);
                }
            }
            Input::TabActivated { tab } => {
                if let Some(id) = self.tab_at(&tab) {
                    let changed = self.active != Some(id);
                    self.activate(Some(id));
                    if changed {
                        self.follow_user(id);
                    }
                }
            }
            Input::TabDeactivated { tab } => {
                if let Some(id) = self.tab_at(&tab)
                    && self.active == Some(id)
                {
                    self.activate(None);
                }
            }
            _ => {}
        }
    }

    fn pages_connected(&mut self, connection: ConnectionId, origin: Arc<str>) {
        let limit = self.config.page_connections;
        if self.workers.contains_key(&connection) {
            return;
        }
        if self.workers.len() >= limit {
            let refusal = PageRefusal::TooManyConnections { limit };
            return self.emit(Output::PagesRefused {
                connection,
                refusal,
            });
        }
        let pages = BTreeSet::new();
        self.workers.insert(connection, Worker { origin, pages });
    }

    fn pages_disconnected(&mut self, connection: ConnectionId) {
        let Some(worker) = self.workers.remove(&connection) else {
            return;
        };
        for page in worker.pages {
            if let Some(id) = self.page_of(connection, &page) {
                self.remove_page(id);
            }
        }
    }

    /// A page appeared. If another worker of the same origin has it, this worker takes it over: the worker was
    /// restarted, and the end of the old one is not reported yet.
    fn page_appeared(&mut self, connection: ConnectionId, facts: PageFacts) {
        if !self.workers.contains_key(&connection) {
            return;
        }
        if let Some(id) = self.page_of(connection, &facts.id) {
            return self.page_changed(id, facts);
        }
        if let Err(refusal) = self.check_page(connection, &facts.id) {
            let page = facts.id;
            return self.emit(Output::PageRefused {
                connection,
                page,
                refusal,
            });
        }
        let id = match self.pages.get(&facts.id) {
            Some(old) => {
                let old = *old;
                self.tell_id_taken(old);
                self.remove_page(old);
                match self.tabs.contains_key(&old) {
                    // The tab of the browser keeps its number.
                    true => None,
                    false => Some(old),
                }
            }
            None => None,
        };
        let id = id.unwrap_or_else(|| {
            self.tabs_counted += 1;
            TabId(self.tabs_counted)
        });
        self.pages.insert(facts.id.clone(), id);
        if let Some(worker) = self.workers.get_mut(&connection) {
            worker.pages.insert(facts.id.clone());
        }
        self.persistence_version += 1;
        let tab = Tab::of_page(connection, facts, self.now);
        self.tabs.insert(id, tab);
    }

    /// Tells a tab that another worker's tab took its id, in case it still exists: a duplicated tab may have its
    /// own worker.
    fn tell_id_taken(&mut self, id: TabId) {
        if let Some(library) = self.tabs.get(&id).and_then(|tab| tab.library.clone()) {
            self.emit(Output::PageRefused {
                connection: library.connection,
                page: library.page,
                refusal: PageRefusal::IdTaken,
            });
        }
    }

    fn page_changed(&mut self, id: TabId, facts: PageFacts) {
        let Some(tab) = self.tabs.get_mut(&id) else {
            return;
        };
        let Some(library) = &mut tab.library else {
            return;
        };
        if facts.document < library.document {
            return;
        }
        let is_new = facts.document > library.document;
        library.document = facts.document;
        if is_new {
            // The browser has not reported yet which of its documents this is.
            library.found_in = None;
        }
        tab.last_seen = self.now;
        if tab.home.is_none() {
            let moved = tab.url != facts.url;
            (tab.url, tab.title) = (facts.url, Some(facts.title));
            if moved && self.tabs.get(&id).is_some_and(|tab| self.is_filtered(tab)) {
                self.touch_tab(id);
            }
        } else if !is_new {
            tab.title_from_page(Some(facts.title));
        }
        if is_new {
            self.drop_offers(id, |source, _| source == Source::Library);
            self.end_library_calls(id);
        }
    }

    fn check_page(&self, connection: ConnectionId, page: &PageId) -> Result<(), PageRefusal> {
        if !page.is_valid() {
            return Err(PageRefusal::InvalidId);
        }
        let owner = self.pages.get(page).and_then(|id| self.tabs.get(id));
        let owner = owner.and_then(|tab| tab.library.as_ref());
        let origin = |id| Some(&self.workers.get(&id)?.origin);
        if owner.is_some_and(|owner| origin(owner.connection) != origin(connection)) {
            return Err(PageRefusal::IdTaken);
        }
        let limit = self.config.pages_per_connection;
        let worker = self.workers.get(&connection);
        match worker.is_some_and(|worker| worker.pages.len() >= limit) {
            true => Err(PageRefusal::TooManyPages { limit }),
            false => Ok(()),
        }
    }

    /// A page with the library is gone. A tab that is known only through the library is removed; a tab of a
    /// browser stays.
    pub(super) fn remove_page(&mut self, id: TabId) {
        let Some(tab) = self.tabs.get_mut(&id) else {
            return;
        };
        if tab.home.is_none() {
            let fate = Fate::Closed;
            return self.remove_tab(LostTab { tab: id, fate });
        }
        self.drop_offers(id, |source, _| source == Source::Library);
        self.end_library_calls(id);
        let library = self.tabs.get_mut(&id).and_then(|tab| tab.library.take());
        if let Some(library) = library {
            self.forget_page(&library);
        }
        // The site filter no longer checks the origin of the worker.
        self.recheck_tab(id);
    }

    /// Removes a page from the tables.
    pub(super) fn forget_page(&mut self, library: &Library) {
        self.pages.remove(&library.page);
        if let Some(worker) = self.workers.get_mut(&library.connection) {
            worker.pages.remove(&library.page);
        }
    }

    /// Ends the calls of a page's library tools, whose handlers are gone with their document.
    fn end_library_calls(&mut self, id: TabId) {
        let Some(name) = self.tabs.get(&id).map(|tab| tab.name(id)) else {
            return;
        };
        let calls = self.library_calls(id);
        self.end_all(calls, |core, call| core.fail_page_tool(call, &name));
    }

    /// The calls of a page's library tools.
    pub(super) fn library_calls(&self, id: TabId) -> Vec<CallId> {
        let source = Source::Library;
        self.calls_in(
            id,
            |call| matches!(call.task(), Task::PageTool { source: whose, .. } if *whose == source),
        )
    }

    /// A page with the library is in this tab of a browser: merges the two entries.
    fn join(&mut self, page: TabId, id: TabId, document: DocumentId) {
        self.document_changed(id, document);
        let current = self
            .tabs
            .get(&id)
            .and_then(|tab| tab.document(Source::WebMcp));
        if current != Some(document) || page == id {
            return self.note_document(id, document);
        }
        // A tab shows one page.
        if self.tabs.get(&id).is_some_and(|tab| tab.library.is_some()) {
            self.remove_page(id);
        }
        // If the page was in another tab of a browser, it has left it: that tab stays, and the page moves.
        if self.tabs.get(&page).is_some_and(|tab| tab.home.is_some()) {
            self.end_library_calls(page);
        }
        let offers: Vec<_> = self.tabs.get(&page).map_or(Vec::new(), |tab| {
            let offers = tab.offers.iter();
            let offers = offers.filter(|(_, source, _)| *source == Source::Library);
            offers.map(|(_, _, offer)| offer.clone()).collect()
        });
        self.drop_offers(page, |source, _| source == Source::Library);
        let left = self.tabs.get_mut(&page);
        let left = left.and_then(|tab| Some((tab.library.take()?, tab.title.clone())));
        let Some((library, title)) = left else {
            return;
        };
        self.pages.insert(library.page.clone(), id);
        let calls = self.calls_in(page, |_| true);
        if let Some(tab) = self.tabs.get_mut(&id) {
            tab.library = Some(Library {
                found_in: Some(document),
                ..library
            });
            tab.title_from_page(title);
            tab.last_seen = self.now;
        }
        // The site filter now also checks the origin of the worker, for all tools of the tab.
        self.touch_tab(id);
        for offer in offers {
            let (document, place) = (offer.document, Some(offer.place));
            let tool = ToolFacts {
                key: offer.key,
                name: offer.given,
                schema: offer.schema,
                read_only: offer.read_only,
            };
            let key = tool.key;
            if let Err(refusal) = self.add_offer(id, Source::Library, document, tool, place) {
                self.refuse_tools(id, Source::Library, vec![key], refusal);
            }
        }
        if self.active == Some(page) {
            self.activate(Some(id));
        }
        for call in calls {
            self.move_call(call, page, id);
        }
        if self.tabs.get(&page).is_some_and(|tab| tab.home.is_none()) {
            self.tabs.remove(&page);
        }
        self.end_orphans(id);
    }

    /// Moves a call of a page's tool to the tab that the page was merged into.
    fn move_call(&mut self, id: CallId, from: TabId, to: TabId) {
        let names = self.tabs.get(&to).map(|tab| {
            let offers = tab.offers.iter();
            let library = offers.filter(|(_, source, _)| *source == Source::Library);
            let names: Vec<_> = library.map(|(name, _, offer)| (offer.key, name)).collect();
            names
        });
        let Some(call) = self.calls.get(&id) else {
            return;
        };
        let (session, at_work) = (call.session, call.at_work);
        let Task::PageTool {
            source: Source::Library,
            access,
            ..
        } = *call.task()
        else {
            return;
        };
        self.calls.change_task(id, |task| {
            let Task::PageTool { tab, key, name, .. } = task else {
                return;
            };
            let mut names = names.into_iter().flatten();
            if let Some((_, renamed)) = names.find(|(known, _)| known == key) {
                *name = renamed;
            }
            *tab = to;
        });
        if let Some(old) = self.tabs.get_mut(&from) {
            // No queued call is started there: all its calls move.
            old.lane.leave(id, access);
        }
        if !at_work {
            return self.take_turn(id, session, to, access);
        }
        let lane = self.tabs.get_mut(&to).map(|tab| &mut tab.lane);
        let adopted = lane.map(|lane| lane.adopt(session, id, access));
        self.calls.change_task(id, |task| {
            if let (Some(adopted), Task::PageTool { access, .. }) = (adopted, task) {
                *access = adopted;
            }
        });
    }

    /// The page was found again in the same tab: records the document.
    fn note_document(&mut self, id: TabId, document: DocumentId) {
        if let Some(tab) = self.tabs.get_mut(&id)
            && let (Some(home), Some(library)) = (&tab.home, &mut tab.library)
            && home.document == document
        {
            library.found_in = Some(document);
        }
    }

    fn tools_found(
        &mut self,
        id: TabId,
        document: DocumentId,
        source: Source,
        tools: Vec<ToolFacts>,
        left_out: usize,
    ) {
        self.document_changed(id, document);
        let current = self.tabs.get(&id).and_then(|tab| tab.document(source));
        if source != Source::Library && current == Some(document) {
            let edition = self.edition;
            let refused = self.offer_all(id, source, tools);
            if source == Source::Generated && self.edition != edition {
                self.generated_changed(id);
            }
            let left_out = u32::try_from(left_out + refused).unwrap_or(u32::MAX);
            if let Some(tab) = self.tabs.get_mut(&id) {
                match source {
                    Source::Generated => tab.left_out.1 = left_out,
                    Source::Library | Source::WebMcp => tab.left_out.0 = left_out,
                }
            }
        }
    }

    /// A tab of a browser shows this document now: the tools of older documents are gone. Running calls may
    /// finish, because some tools navigate by design.
    fn document_changed(&mut self, id: TabId, document: DocumentId) {
        let Some(tab) = self.tabs.get_mut(&id) else {
            return;
        };
        let Some(home) = tab.home.as_mut().filter(|home| home.document < document) else {
            return;
        };
        home.document = document;
        tab.left_out = (0, 0);
        tab.reading.changed = self.now;
        let library = tab.library.as_ref();
        let left = library.is_some_and(|library| library.found_in.is_some_and(|at| at < document));
        self.drop_offers(id, |source, _| source != Source::Library);
        if left {
            self.remove_page(id);
        }
        self.end_orphans(id);
    }

    fn activate(&mut self, tab: Option<TabId>) {
        if let Some(tab) = tab.and_then(|id| self.tabs.get_mut(&id)) {
            tab.last_seen = self.now;
        }
        let before = std::mem::replace(&mut self.active, tab);
        // The active tab decides which tab's tool is published.
        if before != tab {
            for id in before.into_iter().chain(tab) {
                self.touch_tab(id);
            }
        }
    }

    /// The tab of a page, if it belongs to this connection.
    fn page_of(&self, connection: ConnectionId, page: &PageId) -> Option<TabId> {
        let id = *self.pages.get(page)?;
        let library = self.tabs.get(&id)?.library.as_ref()?;
        (library.connection == connection).then_some(id)
    }

    fn tab_at(&self, place: &TabLocation) -> Option<TabId> {
        match place {
            TabLocation::Browser { browser, target } => self.tab_of(*browser, target),
            TabLocation::Page { connection, page } => self.page_of(*connection, page),
        }
    }
}
