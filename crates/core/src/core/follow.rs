//! Sessions that follow the user: what the user has in front is what they work in.

use super::Core;
use crate::{SessionId, TabId};

impl Core {
    /// The user turned to this tab. Whoever follows the user turns to it as well, if it is a tab that is
    /// shown to that session; calls that were made for another tab stay there.
    pub(super) fn follow_user(&mut self, id: TabId) {
        let Some(tab) = self.tabs.get(&id) else {
            return;
        };
        let Some(browser) = tab.browser() else {
            return; // It is in no browser that anybody is connected to.
        };
        let follows =
            |session: SessionId| self.is_connected(session, browser) && self.is_shown(session, tab);
        let sessions = self.sessions.iter();
        let sessions = sessions.filter(|(_, known)| known.config.follow_user_focus);
        let followers: Vec<_> = sessions
            .map(|(session, _)| *session)
            .filter(|session| follows(*session))
            .collect();
        for session in followers {
            self.move_focus(session, id);
        }
    }
}
