//! Which tabs are inspected for page tools, and when.

use super::{MainLoop, PagesEvent};
use crate::incoming::Incoming;
use crate::work;
use tabmux_browser::bounds;
use tabmux_core::{BrowserId, SessionId, TargetId};

impl MainLoop {
    /// How many generated tools the holders of a tab want, if any.
    pub(super) fn generated_for_holders(
        &self,
        browser: BrowserId,
        target: &TargetId,
    ) -> Option<usize> {
        let mut tabs = self.core.tabs();
        let tab = tabs.find(|tab| tab.browser == browser && tab.target == target)?;
        let holders = tab.owner.into_iter().chain(tab.bound.iter().copied());
        holders
            .filter_map(|holder| self.sessions.generated_in_list_of(holder))
            .max()
    }

    /// The tabs of a launched browser that a session could focus. Tabs of other browsers are not inspected before a
    /// session works in them, unless they were opened for this session.
    pub(super) fn free_tabs(&self, session: SessionId, browser: BrowserId) -> Vec<TargetId> {
        let launched = self.is_launched(browser);
        let tabs = self.core.tabs().filter(|tab| tab.browser == browser);
        let free = tabs.filter(|tab| match tab.holder {
            Some(holder) => holder == session,
            None => launched || tab.owner == Some(session),
        });
        free.map(|tab| tab.target.clone())
            .take(MOST_LOOKED_INTO)
            .collect()
    }

    fn is_launched(&self, id: BrowserId) -> bool {
        let mut browsers = self.core.browsers();
        let about = browsers.find(|browser| browser.id == id);
        about.is_none_or(|browser| browser.about.is_some_and(|about| about.launched))
    }

    /// In browsers that tabmux did not launch, a tab is attached when a session works in it, or here, when it asks
    /// for the tab's tools. Returns the call if it need not wait for that.
    pub(super) fn look_first(
        &self,
        session: SessionId,
        call: Box<Incoming>,
    ) -> Option<Box<Incoming>> {
        if call.request.tool != "list_page_tools" {
            return Some(call);
        }
        let generate = self.sessions.generated_for(session);
        let free = |holder: Option<SessionId>| holder.is_none_or(|holder| holder == session);
        let named = call.read.lists_tools_of.as_ref();
        let meant = named.map(|tab| self.core.tab_meant(session, tab));
        let tabs = self.core.tabs().filter(|tab| {
            let is_meant = meant.is_none_or(|meant| meant == Some(tab.id));
            is_meant && free(tab.holder) && (generate.is_some() || !self.is_launched(tab.browser))
        });
        let tabs = tabs.filter_map(|tab| {
            let browser = self.browsers.get(tab.browser)?.clone();
            // Inspecting a person's tab attaches to it, so a session must have named it or hold it.
            let may = !browser.is_personal() || named.is_some() || tab.holder == Some(session);
            may.then(|| (browser, tab.target.clone()))
        });
        let tabs: Vec<_> = tabs.take(MOST_LOOKED_INTO).collect();
        if tabs.is_empty() {
            return Some(call);
        }
        let then = PagesEvent::Looked { session, call };
        let look = work::look_for_tools(tabs, generate, then, self.events.clone());
        tokio::spawn(bounds::within(self.origins_of(session), look));
        None
    }
}

const MOST_LOOKED_INTO: usize = 50;
