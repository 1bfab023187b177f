//! Sessions that follow the user: their focus moves to the user's active tab.

use super::Core;
use crate::{SessionId, TabId};

impl Core {
    /// The user activated this tab. Sessions that follow the user focus it, if they can see it. Their running
    /// calls stay in their tabs.
    pub(super) fn follow_user(&mut self, id: TabId) {
        let sessions = self.sessions.iter();
        let followers = sessions.filter(|(_, known)| known.config.follow_user_focus);
        let followers: Vec<_> = followers.map(|(session, _)| *session).collect();
        for session in followers {
            self.follow_to(session, id);
        }
    }

    /// The person makes a session follow, or stops it. A session that starts to follow focuses the active tab at
    /// once, and its next call reports that, because its agent did not ask for it.
    pub(super) fn follow_changed(&mut self, session: SessionId, follows: bool) {
        let Some(known) = self.sessions.get_mut(session) else {
            return;
        };
        let begins = follows && !known.config.follow_user_focus;
        known.config.follow_user_focus = follows;
        let Some(id) = self.active.filter(|_| begins) else {
            return;
        };
        if self.follow_to(session, id)
            && let Some(browser) = self.tabs.get(&id).and_then(|tab| tab.browser())
            && let Some(browser_binding) = self.browser_binding_mut(session, browser)
        {
            browser_binding.given = Some(id);
        }
    }

    /// Focuses a tab, if the session can see it. Returns whether the focus moved.
    fn follow_to(&mut self, session: SessionId, id: TabId) -> bool {
        let Some(tab) = self.tabs.get(&id) else {
            return false;
        };
        let Some(browser) = tab.browser() else {
            return false;
        };
        if !self.is_connected(session, browser) || !self.is_shown(session, tab) {
            return false;
        }
        let was_there = self.focused(session, browser) == Some(id);
        self.move_focus(session, id);
        !was_there
    }
}
