//! The sessions of clients without a handshake. Each of their requests stands alone, so a call names its session, and
//! what it means is the session of that name of its own principal.

use super::calls::Calls;
use super::places::Places;
use super::{OpenSession, Principal};
use crate::connection::Connection;
use crate::handler::Handler;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::task::AbortHandle;
use tokio::time::Instant;

/// All of them.
pub(super) struct NamedSessions<O: OpenSession> {
    opener: O,
    calls: Calls,
    places: Places,
    // Locked briefly.
    open: Mutex<HashMap<Key, Arc<OpenedSession<O::Backend>>>>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    principal: Principal,
    name: String,
}

/// A session, and the task that passes its events on. Both end with it.
pub(super) struct OpenedSession<B> {
    handler: Handler<B>,
    notifying: AbortHandle,
    running: AtomicUsize,
    used: Mutex<Instant>,
}

/// While a request has this, its session does not end.
pub(super) struct InUse<B>(Arc<OpenedSession<B>>);

impl<O: OpenSession> NamedSessions<O> {
    pub(super) fn new(opener: O) -> Self {
        Self {
            opener,
            calls: Calls::default(),
            places: Places::default(),
            open: Mutex::default(),
        }
    }

    /// The calls of all sessions.
    pub(super) fn calls(&self) -> &Calls {
        &self.calls
    }

    /// The places of reads of all sessions.
    pub(super) fn places(&self) -> &Places {
        &self.places
    }

    /// A session that no name leads to.
    pub(super) fn unnamed(
        &self,
        principal: &Principal,
    ) -> Result<Arc<OpenedSession<O::Backend>>, String> {
        let backend = self.opener.open(principal)?;
        let (handler, notifier) = Connection::start(backend);
        Ok(Arc::new(OpenedSession {
            handler,
            notifying: tokio::spawn(notifier.run()).abort_handle(),
            running: AtomicUsize::new(0),
            used: Mutex::new(Instant::now()),
        }))
    }

    /// The principal's session of this name, if it is open.
    pub(super) fn opened(&self, principal: &Principal, name: &str) -> Option<InUse<O::Backend>> {
        let key = Key {
            principal: principal.clone(),
            name: name.to_owned(),
        };
        let open = self.lock();
        open.get(&key).map(|session| Arc::clone(session).in_use())
    }

    /// The names of the principal's open sessions, in order.
    pub(super) fn names(&self, principal: &Principal) -> Vec<String> {
        let open = self.lock();
        let own = open.keys().filter(|key| key.principal == *principal);
        let mut names: Vec<_> = own.map(|key| key.name.clone()).collect();
        names.sort();
        names
    }

    /// The principal's session of this name, opened if there is none.
    pub(super) fn named(
        &self,
        principal: &Principal,
        name: &str,
    ) -> Result<InUse<O::Backend>, String> {
        check_name(name)?;
        let key = Key {
            principal: principal.clone(),
            name: name.to_owned(),
        };
        let mut open = self.lock();
        if let Some(session) = open.get(&key) {
            return Ok(Arc::clone(session).in_use());
        }
        let own = open.keys().filter(|key| key.principal == *principal);
        if own.count() >= MOST_NAMES {
            return Err(format!(
                "This token has {MOST_NAMES} sessions already. Use the name of one of them, or wait until one is \
                 idle."
            ));
        }
        if open.len() >= MOST_SESSIONS {
            return Err("Too many sessions are open on this server. Try again later.".to_owned());
        }
        let session = self.unnamed(principal)?;
        open.insert(key, Arc::clone(&session));
        // Counted while the table is locked, so that no idle end comes in between.
        Ok(session.in_use())
    }

    pub(super) fn end_unused(&self, limit: Duration, may: impl Fn(&Principal) -> bool) {
        self.lock().retain(|key, session| {
            if !may(&key.principal) {
                // Its running calls hold it, and end with it.
                session.handler.ending().end();
                return false;
            }
            session.is_running() || session.last_used().elapsed() < limit
        });
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Arc<OpenedSession<O::Backend>>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<B> OpenedSession<B> {
    pub(super) fn handler(&self) -> &Handler<B> {
        &self.handler
    }

    /// Keeps the session open for a request.
    pub(super) fn in_use(self: Arc<Self>) -> InUse<B> {
        self.running.fetch_add(1, Ordering::Relaxed);
        InUse(self)
    }

    fn is_running(&self) -> bool {
        self.running.load(Ordering::Relaxed) > 0
    }

    fn last_used(&self) -> Instant {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<B> Drop for OpenedSession<B> {
    fn drop(&mut self) {
        self.notifying.abort();
    }
}

impl<B> InUse<B> {
    pub(super) fn handler(&self) -> &Handler<B> {
        self.0.handler()
    }
}

impl<B> Drop for InUse<B> {
    fn drop(&mut self) {
        *self.0.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        self.0.running.fetch_sub(1, Ordering::Relaxed);
    }
}

fn check_name(name: &str) -> Result<(), String> {
    let is_good = |character: char| character.is_ascii_alphanumeric() || "._-".contains(character);
    match !name.is_empty() && name.len() <= LONGEST_NAME && name.chars().all(is_good) {
        true => Ok(()),
        false => Err(format!(
            "`session` is a name of at most {LONGEST_NAME} letters, digits, dots, hyphens and underscores."
        )),
    }
}

/// A client with more tasks than this uses names again.
const MOST_NAMES: usize = 16;
/// With as many that begin with a handshake, this leaves some of the daemon's sessions to clients on this machine.
const MOST_SESSIONS: usize = 32;
const LONGEST_NAME: usize = 64;
