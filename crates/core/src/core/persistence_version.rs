//! Detects changes to the state that the driver saves for a later daemon.

use super::Core;
use crate::Input;

impl Core {
    /// Counts the changes to tab numbers, holders of tabs and losses of sessions. If it is the same as before,
    /// none of them changed.
    pub fn persistence_version(&self) -> u64 {
        self.persistence_version
    }
}

impl Input {
    /// Whether it can change the saved state directly. Other inputs may come by the thousand, and count only if
    /// they change something.
    pub(super) fn changes_persisted_state(&self) -> bool {
        match self {
            Self::SessionOpened { .. }
            | Self::SessionClosed { .. }
            | Self::Connected { .. }
            | Self::ConnectFailed { .. }
            | Self::BrowserGone { .. }
            | Self::ConnectionLost { .. }
            | Self::Reachable { .. }
            | Self::TabAppeared { .. }
            | Self::TabGone { .. }
            | Self::TakenBack { .. }
            | Self::Given { .. }
            | Self::FollowChanged { .. }
            | Self::PageJoined { .. } => true,
            Self::Call { .. }
            | Self::Cancel { .. }
            | Self::StillConnecting { .. }
            | Self::Finished { .. }
            | Self::TabChanged { .. }
            | Self::Paused
            | Self::Resumed
            | Self::SiteFilterChanged { .. }
            | Self::PagesConnected { .. }
            | Self::PagesDisconnected { .. }
            | Self::PageAppeared { .. }
            | Self::PageGone { .. }
            | Self::ToolRegistered { .. }
            | Self::ToolUnregistered { .. }
            | Self::ToolsFound { .. }
            | Self::DocumentChanged { .. }
            | Self::TabActivated { .. }
            | Self::TabDeactivated { .. } => false,
        }
    }
}

#[cfg(test)]
impl Core {
    /// All of the saved state, for comparison.
    pub(crate) fn persisted_state(&self) -> String {
        let tabs = self.tabs();
        let tabs: Vec<_> = tabs
            .map(|tab| (tab.id, tab.browser, tab.target, tab.bound, tab.owner))
            .collect();
        let browsers = self.browsers();
        let browsers: Vec<_> = browsers
            .filter_map(|browser| Some((browser.id, browser.key, browser.about?.launched)))
            .collect();
        let sessions = self.sessions.keys().map(|id| {
            let (lost, bound) = (self.loss(*id), self.bound_tab(*id));
            let more = (self.returns_to(*id), self.page_numbers(*id));
            (id, self.restored_tabs(*id), lost, bound, more)
        });
        let sessions: Vec<_> = sessions.collect();
        let counted = self.tabs_counted;
        format!("{counted} {tabs:?} {browsers:?} {sessions:?}")
    }

    /// Fails if a session's list changed and no notice is scheduled.
    pub(crate) fn check_notices(&mut self) {
        let sessions: Vec<_> = self.sessions.keys().copied().collect();
        for session in sessions {
            let offer = self.offer(session);
            let known = &self.sessions[&session];
            assert!(
                known.announce_at.is_some() || known.announced.has_same_content(&offer),
                "{session:?} does not know about {offer:?} but {:?}",
                known.announced
            );
        }
    }

    /// Fails if a shared list differs from the list that is computed for a session alone.
    pub(crate) fn check_common_lists(&mut self) {
        let sessions: Vec<_> = self.sessions.keys().copied().collect();
        for session in sessions {
            let (list, has_library_tools) = self.shared_list(session);
            assert_eq!(*list, self.listed_page_tools(session));
            assert_eq!(has_library_tools, self.has_library_tools(session));
        }
    }
}
