//! Applies site filters: of a page that it may not see, a session learns only that the tab exists.

use super::Core;
use crate::session::Session;
use crate::site_filter::{Hidden, SiteFilter};
use crate::tab::Tab;
use crate::{PageRow, Refusal, SessionId, TabId, TabRow, ToolName};

impl Core {
    /// Changes a session's site filter. Its running calls on pages that it may no longer see are stopped.
    pub(super) fn site_filter_changed(&mut self, session: SessionId, site_filter: SiteFilter) {
        let at_work = self.calls_of(session, |call| {
            let tab = call.task().tab().and_then(|id| self.tabs.get(&id));
            let could_see = tab.is_some_and(|tab| self.hidden(session, tab).is_none());
            call.at_work && could_see
        });
        let Some(known) = self.sessions.get_mut(session) else {
            return;
        };
        known.config.site_filter = site_filter;
        self.unchecked.sessions.insert(session);
        self.end_all(at_work, |core, id| {
            let tab = core.calls.get(&id).and_then(|call| call.task().tab());
            let tab = tab.and_then(|id| core.tabs.get(&id));
            if let Some(hidden) = tab.and_then(|tab| core.hidden(session, tab)) {
                core.fail(id, |tool, _| Refusal::Hidden {
                    why: format!("{} {tool} was stopped before it was done.", hidden.why).into(),
                });
            }
        });
    }

    /// Whether a change of its address can show a tab to a session, or hide it, now or in a list that is kept.
    pub(super) fn is_filtered(&self, tab: &Tab) -> bool {
        let filters = |session: &Session| session.config.site_filter.is_set();
        let browser = tab.browser();
        if tab.library.is_some() {
            return self.sessions.values().any(filters) || self.common.has_filters(None);
        }
        browser.is_some_and(|browser| {
            let mut sessions = self.sessions.of_browser(browser);
            sessions.any(|id| self.sessions.get(&id).is_some_and(filters))
                || self.common.has_filters(Some(browser))
        })
    }

    /// Why a session may not see a tab's page; `None` if it may.
    pub(super) fn hidden(&self, session: SessionId, tab: &Tab) -> Option<Hidden> {
        let site_filter = &self.sessions.get(&session)?.config.site_filter;
        self.hidden_by(site_filter, tab)
    }

    /// Why a filter hides a tab's page; `None` if it does not.
    pub(super) fn hidden_by(&self, site_filter: &SiteFilter, tab: &Tab) -> Option<Hidden> {
        // A page with the library can report a false address, but not a false origin.
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

    /// The page tools of a tab that a session may see.
    pub(super) fn visible_tools(&self, session: SessionId, tab: &Tab) -> Vec<ToolName> {
        match self.hidden(session, tab) {
            None => tab.page_tools().collect(),
            Some(_) => Vec::new(),
        }
    }
}

const BLOCKED: &str = "(blocked)";
