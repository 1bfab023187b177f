//! Named sessions: they outlive their connections, until they have been unused for a while.

use super::connection::Session;
use super::server::{Shared, idle};
use crate::handle::Here;
use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tabmux_protocol::session::BrowserOptions;
use tokio::sync::{Mutex, watch};

/// The named sessions of one daemon.
#[derive(Default)]
pub(super) struct Named {
    table: Mutex<HashMap<String, Entry>>,
}

struct Entry {
    session: Arc<Session>,
    browser: BrowserOptions,
    users: watch::Sender<usize>,
}

/// A use of a named session, until this is dropped.
pub(super) struct Lease {
    users: watch::Sender<usize>,
}

impl Named {
    /// The session of that name, opened if there is none. Returns a sentence if it uses another browser than the
    /// requested one.
    pub(super) async fn join<F>(
        &self,
        name: &str,
        browser: BrowserOptions,
        here: Here,
        shared: &Arc<Shared>,
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
            entry.session.handle.works_here(here).await;
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
            Arc::clone(shared),
        ));
        table.insert(name.to_owned(), entry);
        Ok(joined)
    }

    /// Ends the session of that name. False if there is none.
    pub(super) async fn end(&self, name: &str) -> bool {
        self.table.lock().await.remove(name).is_some()
    }
}

async fn end_when_idle(name: String, users: watch::Receiver<usize>, shared: Arc<Shared>) {
    loop {
        tokio::select! {
            () = shared.stop.cancelled() => return,
            () = idle(users.clone(), Some(IDLE)) => {}
        }
        let mut table = shared.named.table.lock().await;
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
