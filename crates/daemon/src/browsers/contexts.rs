//! The browser contexts of sessions: separate cookies, storage and tabs. An isolated session has one for everything,
//! and any session may have more, by name.

use std::collections::HashMap;
use std::sync::Arc;
use tabmux_browser::ContextId;
use tabmux_core::{BrowserId, SessionId};
use tokio::sync::OnceCell;

/// A context, created together with its first tab, once only.
pub(crate) type Context = Arc<OnceCell<ContextId>>;

/// The contexts of all sessions.
#[derive(Debug, Default)]
pub(crate) struct Contexts(HashMap<Key, Context>);

type Key = (BrowserId, SessionId, Option<String>);

impl Contexts {
    /// The session's own context in a browser, or its context of the given name.
    pub(crate) fn of(
        &mut self,
        browser: BrowserId,
        session: SessionId,
        name: Option<String>,
    ) -> Context {
        Arc::clone(self.0.entry((browser, session, name)).or_default())
    }

    /// The session whose own context this is.
    pub(crate) fn owner(&self, browser: BrowserId, context: &ContextId) -> Option<SessionId> {
        let mut own = self.0.iter().filter(|((place, ..), _)| *place == browser);
        let (key, _) = own.find(|(_, known)| known.get() == Some(context))?;
        Some(key.1)
    }

    /// Removes and returns the contexts of a closed session.
    pub(crate) fn take(&mut self, session: SessionId) -> Vec<(BrowserId, ContextId)> {
        let taken = self.0.extract_if(|(_, owner, _), _| *owner == session);
        let made =
            taken.filter_map(|((browser, ..), context)| Some((browser, context.get()?.clone())));
        made.collect()
    }

    /// Forgets the contexts of a browser that is gone.
    pub(crate) fn forget(&mut self, browser: BrowserId) {
        self.0.retain(|(place, ..), _| *place != browser);
    }
}
