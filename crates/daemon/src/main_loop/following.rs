//! Tracks the user's tab, for sessions that follow the user.

use super::{Event, MainLoop};
use std::collections::HashMap;
use tabmux_browser::Browser;
use tabmux_core::BrowserId;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

/// The tasks that watch the user's tab in each browser.
#[derive(Debug, Default)]
pub(super) struct Following {
    /// Whether any session follows the user.
    wanted: watch::Sender<bool>,
    watching: HashMap<BrowserId, JoinHandle<()>>,
}

impl Following {
    /// A browser is no longer connected.
    pub(super) fn forget(&mut self, browser: BrowserId) {
        if let Some(watching) = self.watching.remove(&browser) {
            watching.abort();
        }
    }
}

impl MainLoop {
    /// Watches the user's tab in a browser, as long as a session follows the user.
    pub(super) fn watch_front(&mut self, browser: BrowserId, handle: Browser) {
        let (wanted, events) = (self.following.wanted.subscribe(), self.events.clone());
        let (tell, mut told) = mpsc::channel(1);
        let watching = tokio::spawn(async move { handle.watch_front(wanted, tell).await });
        tokio::spawn(async move {
            while let Some(event) = told.recv().await {
                if events
                    .send(Event::Browser { browser, event })
                    .await
                    .is_err()
                {
                    return;
                }
            }
        });
        self.following.forget(browser);
        self.following.watching.insert(browser, watching);
    }

    /// A session was opened or closed.
    pub(super) fn note_followers(&self) {
        self.following.wanted.send_replace(self.is_followed());
    }

    /// Whether a session follows the user.
    pub(super) fn is_followed(&self) -> bool {
        let mut sessions = self.sessions.values();
        sessions.any(|session| session.options.follow_user_focus)
    }
}
