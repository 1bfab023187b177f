//! Named sessions: they outlive their clients, until they have been unused for a while.

use super::Session;
use crate::handle::CallerFolders;
use crate::idle::unused;
use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tabmux_protocol::session::BrowserOptions;
use tokio::sync::{Mutex, watch};

/// The named sessions of one daemon.
#[derive(Default)]
pub(crate) struct Named {
    table: Arc<Table>,
}

type Table = Mutex<HashMap<String, Entry>>;

struct Entry {
    session: Arc<Session>,
    browser: BrowserOptions,
    users: watch::Sender<usize>,
}

/// A use of a named session, until this is dropped.
pub(crate) struct Lease {
    users: watch::Sender<usize>,
}

impl Named {
    /// The session of that name, opened if there is none. Returns a sentence if it uses another browser than the
    /// requested one.
    pub(crate) async fn join<F>(
        &self,
        name: &str,
        browser: BrowserOptions,
        folders: CallerFolders,
        open: impl FnOnce() -> F,
    ) -> Result<(Arc<Session>, Lease), String>
    where
        F: Future<Output = Session>,
    {
        if name.is_empty() || name.chars().count() > LONGEST_NAME {
            return Err(format!("A session's name has 1 to {LONGEST_NAME} letters."));
        }
        let mut table = self.table.lock().await;
        if let Some(entry) = table.get(name) {
            // A caller that names no browser uses the session's browser.
            if browser != entry.browser && browser != BrowserOptions::default() {
                return Err(format!(
                    "Session `{name}` works with another browser. Omit the browser's flags, \
                     choose another name, or end it with `tabmux close --session {name}`"
                ));
            }
            entry.session.handle.continue_in(folders).await;
            return Ok((Arc::clone(&entry.session), Lease::take(&entry.users)));
        }
        let entry = Entry {
            session: Arc::new(open().await),
            browser,
            users: watch::Sender::new(0),
        };
        let joined = (Arc::clone(&entry.session), Lease::take(&entry.users));
        tokio::spawn(end_when_idle(
            name.to_owned(),
            entry.users.subscribe(),
            Arc::downgrade(&self.table),
        ));
        table.insert(name.to_owned(), entry);
        Ok(joined)
    }

    /// Ends the session of that name. False if there is none.
    pub(crate) async fn end(&self, name: &str) -> bool {
        self.table.lock().await.remove(name).is_some()
    }

    /// Ends all of them, except one that is just being opened: that one ends with the main loop.
    pub(crate) fn end_all(&self) {
        if let Ok(mut table) = self.table.try_lock() {
            table.clear();
        }
    }
}

impl fmt::Debug for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Named").finish_non_exhaustive()
    }
}

async fn end_when_idle(name: String, users: watch::Receiver<usize>, table: Weak<Table>) {
    loop {
        unused(users.clone(), Some(IDLE)).await;
        let Some(table) = table.upgrade() else {
            return;
        };
        let mut table = table.lock().await;
        // It was ended already, and another session may have its name now.
        let is_this = |entry: &Entry| users.same_channel(&entry.users.subscribe());
        if !table.get(&name).is_some_and(is_this) {
            return;
        }
        if *users.borrow() == 0 {
            tracing::info!(name, "ended a session that was unused for long");
            table.remove(&name);
            return;
        }
    }
}

impl Lease {
    fn take(users: &watch::Sender<usize>) -> Self {
        users.send_modify(|users| *users += 1);
        Self {
            users: users.clone(),
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.users.send_modify(|users| *users -= 1);
    }
}

const LONGEST_NAME: usize = 64;
const IDLE: Duration = Duration::from_secs(30 * 60);
