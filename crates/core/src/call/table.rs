//! All open calls, and which of them concern a session, a browser or a tab.

use super::{Call, Task};
use crate::{BrowserId, CallId, SessionId, TabId};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;

/// The open calls.
///
/// With thousands of calls at once, no input may look at all of them: what it concerns is found by an index.
#[derive(Debug, Default)]
pub(crate) struct CallTable {
    calls: BTreeMap<CallId, Call>,
    by_session: Index<SessionId>,
    by_browser: Index<BrowserId>,
    by_tab: Index<TabId>,
}

/// The calls of each key, oldest first. No set is empty.
type Index<K> = BTreeMap<K, BTreeSet<CallId>>;

impl CallTable {
    pub(crate) fn insert(&mut self, id: CallId, call: Call) {
        enter(&mut self.by_session, Some(call.session), id);
        enter(&mut self.by_browser, call.browser, id);
        enter(&mut self.by_tab, call.task.tab(), id);
        self.calls.insert(id, call);
    }

    pub(crate) fn remove(&mut self, id: CallId) -> Option<Call> {
        let call = self.calls.remove(&id)?;
        leave(&mut self.by_session, Some(call.session), id);
        leave(&mut self.by_browser, call.browser, id);
        leave(&mut self.by_tab, call.task.tab(), id);
        Some(call)
    }

    /// A call. What it does, and where, is changed with [`change_task`](Self::change_task).
    pub(crate) fn get_mut(&mut self, id: CallId) -> Option<&mut Call> {
        self.calls.get_mut(&id)
    }

    /// Changes what a call does, perhaps in another tab.
    pub(crate) fn change_task(&mut self, id: CallId, change: impl FnOnce(&mut Task)) {
        if let Some(call) = self.calls.get_mut(&id) {
            let before = call.task.tab();
            change(&mut call.task);
            let after = call.task.tab();
            leave(&mut self.by_tab, before, id);
            enter(&mut self.by_tab, after, id);
        }
    }

    /// Changes the browser that a call needs.
    pub(crate) fn change_browser(&mut self, id: CallId, browser: Option<BrowserId>) {
        if let Some(call) = self.calls.get_mut(&id) {
            let before = std::mem::replace(&mut call.browser, browser);
            leave(&mut self.by_browser, before, id);
            enter(&mut self.by_browser, browser, id);
        }
    }

    /// The calls of a session.
    pub(crate) fn of_session(&self, session: SessionId) -> impl Iterator<Item = (CallId, &Call)> {
        self.found(self.by_session.get(&session))
    }

    /// The calls that need a browser.
    pub(crate) fn of_browser(&self, browser: BrowserId) -> impl Iterator<Item = (CallId, &Call)> {
        self.found(self.by_browser.get(&browser))
    }

    /// The calls whose work is in a tab.
    pub(crate) fn of_tab(&self, tab: TabId) -> impl Iterator<Item = (CallId, &Call)> {
        self.found(self.by_tab.get(&tab))
    }

    fn found(&self, ids: Option<&BTreeSet<CallId>>) -> impl Iterator<Item = (CallId, &Call)> {
        let ids = ids.into_iter().flatten();
        ids.filter_map(|id| Some((*id, self.calls.get(id)?)))
    }
}

impl Deref for CallTable {
    type Target = BTreeMap<CallId, Call>;

    fn deref(&self) -> &Self::Target {
        &self.calls
    }
}

fn enter<K: Ord>(index: &mut Index<K>, key: Option<K>, id: CallId) {
    if let Some(key) = key {
        index.entry(key).or_default().insert(id);
    }
}

fn leave<K: Ord>(index: &mut Index<K>, key: Option<K>, id: CallId) {
    if let Some(key) = key
        && let Some(ids) = index.get_mut(&key)
    {
        ids.remove(&id);
        if ids.is_empty() {
            index.remove(&key);
        }
    }
}
