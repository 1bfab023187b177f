//! What a session is shown of a tab whose page it may not see: that it is there, and no more.

use super::Core;
use crate::site_filter::{Hidden, SiteFilter};
use crate::tab::Tab;
use crate::{PageRow, Refusal, SessionId, TabId, TabRow, ToolName};

impl Core {
    /// A session may see other pages than before. What it has at work on one that it may no longer see is
    /// stopped.
    pub(super) fn site_filter_changed(&mut self, session: SessionId, site_filter: SiteFilter) {
        let at_work = self.calls_where(|call| {
            let tab = call.task.tab().and_then(|id| self.tabs.get(&id));
            let could_see = tab.is_some_and(|tab| self.hidden(session, tab).is_none());
            call.session == session && call.at_work && could_see
        });
        let Some(known) = self.sessions.get_mut(&session) else {
            return;
        };
        known.config.site_filter = site_filter;
        self.edition += 1;
        self.end_all(at_work, |core, id| {
            let tab = core.calls.get(&id).and_then(|call| call.task.tab());
            let tab = tab.and_then(|id| core.tabs.get(&id));
            if let Some(hidden) = tab.and_then(|tab| core.hidden(session, tab)) {
                core.fail(id, |tool, _| Refusal::Hidden {
                    why: format!("{} {tool} was stopped before it was done.", hidden.why).into(),
                });
            }
        });
    }

    /// Whether some session may not see every page, so that it matters which one a tab shows.
    pub(super) fn has_site_filters(&self) -> bool {
        let mut sessions = self.sessions.values();
        sessions.any(|session| session.config.site_filter.is_set())
    }

    /// Why a session may not see what a tab shows, if it may not.
    pub(super) fn hidden(&self, session: SessionId, tab: &Tab) -> Option<Hidden> {
        let site_filter = &self.sessions.get(&session)?.config.site_filter;
        self.hidden_by(site_filter, tab)
    }

    /// Why it may not be seen, if it may not.
    pub(super) fn hidden_by(&self, site_filter: &SiteFilter, tab: &Tab) -> Option<Hidden> {
        // What a page with the library says of its address is its own word; its origin is not.
        let library = tab.library.as_ref();
        let worker = library.and_then(|library| self.workers.get(&library.connection));
        let by_origin = worker.and_then(|worker| site_filter.hides(&worker.origin));
        by_origin.or_else(|| site_filter.hides(&tab.url))
    }

    pub(super) fn row(&self, session: SessionId, id: TabId, tab: &Tab) -> TabRow {
        let row = tab.row(id, session);
        match self.hidden(session, tab) {
            None => row,
            Some(hidden) => TabRow {
                title: BLOCKED.into(),
                url: hidden.origin,
                tool_count: 0,
                ..row
            },
        }
    }

    pub(super) fn page_row(&self, session: SessionId, id: TabId, tab: &Tab) -> PageRow {
        let (url, title) = match self.hidden(session, tab) {
            None => (tab.url.clone(), tab.title.clone().unwrap_or_default()),
            Some(hidden) => (hidden.origin, BLOCKED.into()),
        };
        PageRow {
            name: tab.name(id),
            url,
            title,
            active: self.active == Some(id),
            last_seen: tab.last_seen,
        }
    }

    /// The page-specific tools of a tab that a session may know of.
    pub(super) fn visible_tools(&self, session: SessionId, tab: &Tab) -> Vec<ToolName> {
        match self.hidden(session, tab) {
            None => tab.page_tools().collect(),
            Some(_) => Vec::new(),
        }
    }
}

const BLOCKED: &str = "(blocked)";
