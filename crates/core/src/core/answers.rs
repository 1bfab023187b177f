//! Calls that only ask: what a session is told at once.

use super::Core;
use crate::{BrowserRow, Mode, Reply, SessionId, TabRow};

impl Core {
    /// The tabs that the session sees, in the words of its mode.
    pub(super) fn list(&self, session: SessionId) -> Reply {
        let (rows, bound) = (self.rows(session), self.focused(session));
        match self.mode(session) {
            Some(Mode::Static) => Reply::Pages {
                pages: rows,
                selected: bound,
            },
            Some(Mode::Progressive) | None => Reply::Tabs {
                tabs: rows,
                focused: bound,
            },
        }
    }

    fn rows(&self, session: SessionId) -> Vec<TabRow> {
        self.shown(session)
            .map(|(id, tab)| tab.row(id, session))
            .collect()
    }

    pub(super) fn status(&self, session: SessionId) -> Reply {
        let known = self.sessions.get(&session);
        let browser = known.and_then(|known| self.browsers.get(&known.browser));
        let row = browser.map(|browser| BrowserRow {
            index: 1,
            name: browser.connection().map(|known| known.about.name.clone()),
            state: browser.state(),
        });
        Reply::Status {
            connected: self.is_connected(session),
            active_sessions: self.sessions.len(),
            browsers: row.into_iter().collect(),
        }
    }
}
