//! Where the user is, for sessions that follow the user.

use super::{Event, MainLoop};
use std::collections::HashMap;
use tabmux_browser::Browser;
use tabmux_core::BrowserId;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

/// Who watches where users are.
#[derive(Debug, Default)]
pub(super) struct Following {
    /// Whether a session wants to know.
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
    /// Watches where the user of a browser is, as long as a session wants to know.
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

    /// A session came or went.
    pub(super) fn note_followers(&self) {
        self.following.wanted.send_replace(self.is_followed());
    }

    /// Whether a session follows the user.
    pub(super) fn is_followed(&self) -> bool {
        let mut sessions = self.sessions.values();
        sessions.any(|session| session.options.follow_user_focus)
    }
}
