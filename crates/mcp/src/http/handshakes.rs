//! The sessions that began with a handshake, by their ids. rmcp ends a session without its running calls, so this
//! finds them.

use super::named::OpenedSession;
use http::{HeaderMap, Request};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use tabmux_protocol::Backend;

/// All of them that are open.
pub(super) struct Handshakes<B>(Mutex<HashMap<String, Weak<OpenedSession<B>>>>);

/// In the extensions of a request: what the handshake in it opened, if it is one and succeeded.
pub(super) struct Opened<B>(Arc<OnceLock<Weak<OpenedSession<B>>>>);

impl<B: Backend> Handshakes<B> {
    /// What a request may open.
    pub(super) fn expect<T>(request: &mut Request<T>) -> Opened<B> {
        let opened = Opened(Arc::default());
        request.extensions_mut().insert(opened.clone());
        opened
    }

    /// Notes the session of an answer. False if the answer names one although the handshake failed.
    pub(super) fn note(&self, answer: &HeaderMap, opened: &Opened<B>) -> bool {
        let Some(id) = answer.get(SESSION_ID).and_then(|id| id.to_str().ok()) else {
            return true;
        };
        let Some(session) = opened.0.get() else {
            return false;
        };
        let mut all = self.lock();
        all.retain(|_, session| session.strong_count() > 0);
        all.insert(id.to_owned(), session.clone());
        true
    }

    /// Ends a session with its running calls.
    pub(super) fn end(&self, id: &str) {
        let session = self.lock().remove(id);
        if let Some(session) = session.and_then(|session| session.upgrade()) {
            session.handler().ending().end();
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Weak<OpenedSession<B>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<B> Default for Handshakes<B> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<B> Opened<B> {
    pub(super) fn set(&self, session: &Arc<OpenedSession<B>>) {
        let _ = self.0.set(Arc::downgrade(session));
    }
}

impl<B> Clone for Opened<B> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

pub(super) const SESSION_ID: &str = "mcp-session-id";
