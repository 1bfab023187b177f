//! Sessions that follow the user: what the user has in front is what they work in.

use super::Core;
use crate::{SessionId, TabId};

impl Core {
    /// The user turned to this tab. Whoever follows the user turns to it as well, if it is a tab that is
    /// shown to that session; calls that were made for another tab stay there.
    pub(super) fn follow_user(&mut self, id: TabId) {
        let sessions = self.sessions.iter();
        let followers = sessions.filter(|(_, known)| known.config.follow_user_focus);
        let followers: Vec<_> = followers.map(|(session, _)| *session).collect();
        for session in followers {
            self.follow_to(session, id);
        }
    }

    /// The person wants a session to follow, or not to. Who begins to follow turns to the tab in front at
    /// once, and is told so by its next call, because its agent did not ask for it.
    pub(super) fn follow_changed(&mut self, session: SessionId, follows: bool) {
        let Some(known) = self.sessions.get_mut(&session) else {
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

    /// Whether a session is bound to a tab now and was not before.
    fn follow_to(&mut self, session: SessionId, id: TabId) -> bool {
        let Some(tab) = self.tabs.get(&id) else {
            return false;
        };
        let Some(browser) = tab.browser() else {
            return false; // It is in no browser that anybody is connected to.
        };
        if !self.is_connected(session, browser) || !self.is_shown(session, tab) {
            return false;
        }
        let was_there = self.focused(session, browser) == Some(id);
        self.move_focus(session, id);
        !was_there
    }
}
