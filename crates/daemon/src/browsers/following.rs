//! Tracks the user's tab in each browser, for sessions that follow the user.

use crate::main_loop::Event;
use std::collections::HashMap;
use tabmux_browser::Browser;
use tabmux_core::BrowserId;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

/// The tasks that watch the user's tab in each browser.
#[derive(Debug, Default)]
pub(crate) struct Following {
    /// Whether any session follows the user.
    wanted: watch::Sender<bool>,
    watching: HashMap<BrowserId, JoinHandle<()>>,
}

impl Following {
    /// Sets whether any session follows the user.
    pub(crate) fn want(&self, wanted: bool) {
        self.wanted.send_replace(wanted);
    }

    /// Watches the user's tab in a browser, as long as a session follows the user.
    pub(super) fn watch(
        &mut self,
        browser: BrowserId,
        handle: Browser,
        events: &mpsc::Sender<Event>,
    ) {
        let (wanted, events) = (self.wanted.subscribe(), events.clone());
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
        self.forget(browser);
        self.watching.insert(browser, watching);
    }

    /// A browser is no longer connected.
    pub(super) fn forget(&mut self, browser: BrowserId) {
        if let Some(watching) = self.watching.remove(&browser) {
            watching.abort();
        }
    }
}
