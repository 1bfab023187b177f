//! The open sessions, and which of them use a browser.

use super::Session;
use crate::{BrowserId, BrowserRef, SessionId};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;

/// The open sessions.
///
/// With thousands of sessions, an input about a browser may look only at those that use it.
#[derive(Debug, Default)]
pub(crate) struct SessionTable {
    sessions: BTreeMap<SessionId, Session>,
    /// The sessions of each browser. No set is empty.
    by_browser: BTreeMap<BrowserId, BTreeSet<SessionId>>,
    /// The sessions that may have changed since `take_changed`.
    changed: BTreeSet<SessionId>,
}

impl SessionTable {
    pub(crate) fn insert(&mut self, id: SessionId, session: Session) {
        for browser in session.browsers() {
            self.by_browser.entry(browser).or_default().insert(id);
        }
        self.sessions.insert(id, session);
        self.changed.insert(id);
    }

    pub(crate) fn remove(&mut self, id: SessionId) -> Option<Session> {
        let session = self.sessions.remove(&id)?;
        for browser in session.browsers() {
            self.leave(id, browser);
        }
        self.changed.remove(&id);
        Some(session)
    }

    /// A session that may change, except for its browsers.
    pub(crate) fn get_mut(&mut self, id: SessionId) -> Option<&mut Session> {
        let session = self.sessions.get_mut(&id)?;
        self.changed.insert(id);
        Some(session)
    }

    /// Adds a browser to a session.
    pub(crate) fn bind_browser(&mut self, id: SessionId, wanted: &BrowserRef, browser: BrowserId) {
        if let Some(session) = self.get_mut(id) {
            session.bind_browser(wanted, browser);
            self.by_browser.entry(browser).or_default().insert(id);
        }
    }

    /// Removes a browser from a session.
    pub(crate) fn release_browser(&mut self, id: SessionId, browser: BrowserId) {
        if let Some(session) = self.get_mut(id) {
            session.release_browser(browser);
            self.leave(id, browser);
        }
    }

    /// The sessions that could use a browser.
    pub(crate) fn of_browser(&self, browser: BrowserId) -> impl Iterator<Item = SessionId> {
        let ids = self.by_browser.get(&browser);
        ids.into_iter().flatten().copied()
    }

    /// The sessions that may have changed since the last time.
    pub(crate) fn take_changed(&mut self) -> BTreeSet<SessionId> {
        std::mem::take(&mut self.changed)
    }

    fn leave(&mut self, id: SessionId, browser: BrowserId) {
        if let Some(ids) = self.by_browser.get_mut(&browser) {
            ids.remove(&id);
            if ids.is_empty() {
                self.by_browser.remove(&browser);
            }
        }
    }
}

impl Deref for SessionTable {
    type Target = BTreeMap<SessionId, Session>;

    fn deref(&self) -> &Self::Target {
        &self.sessions
    }
}
