//! Answers that need no work in a browser.

use super::Core;
use crate::call::Call;
use crate::{BrowserId, CallId, Mode, Reply, SessionId, Stuck, TabRow};

impl Core {
    /// The tabs that a session sees in a browser, as a reply of its mode.
    pub(super) fn list(&self, session: SessionId, browser: BrowserId) -> Reply {
        let (rows, bound) = (self.rows(session, browser), self.focused(session, browser));
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

    fn rows(&self, session: SessionId, browser: BrowserId) -> Vec<TabRow> {
        self.shown(session, browser)
            .map(|(id, tab)| self.row(session, id, tab))
            .collect()
    }

    /// What an unanswered call is waiting for.
    pub fn waits_for(&self, call: CallId) -> Option<Stuck> {
        self.calls.get(&call).map(Call::stuck)
    }

    /// Whether a session is connected to a browser.
    pub fn has_browser(&self, session: SessionId) -> bool {
        let known = self.sessions.get(&session);
        let browser_bindings = known.map_or(&[][..], |known| &known.browser_bindings[..]);
        let mut browsers = browser_bindings
            .iter()
            .map(|browser_binding| browser_binding.browser);
        browsers.any(|browser| self.is_connected(session, browser))
    }

    pub(super) fn status(&self, session: SessionId) -> Reply {
        Reply::Status {
            connected: self.has_browser(session),
            active_sessions: self.sessions.len(),
            browsers: self.browser_rows(session),
        }
    }
}
