//! Browsers that sessions mean come to be connected here.

use super::MainLoop;
use crate::extension::PeerName;
use crate::{convert, work};
use std::collections::HashSet;
use std::sync::Arc;
use tabmux_browser::{ConnectError, Connected};
use tabmux_core::{BrowserId, BrowserKey, Input, TargetId};

impl MainLoop {
    /// Begins an attempt to connect, as it is planned for this browser.
    pub(super) fn connect(
        &mut self,
        browser: BrowserId,
        key: &BrowserKey,
        launch: bool,
        start: bool,
    ) {
        let Some(plan) = self.plans.get(key).cloned() else {
            return;
        };
        let extensions = Arc::clone(&self.extensions);
        let events = self.events.clone();
        let connect = work::connect(browser, plan, launch, start, extensions, events);
        self.connecting.spawn(connect);
    }

    /// An attempt is over.
    pub(super) fn connected(
        &mut self,
        browser: BrowserId,
        result: Result<Box<Connected>, ConnectError>,
        way: Option<PeerName>,
    ) {
        self.persons.reached(browser, way);
        while self.connecting.try_join_next().is_some() {}
        self.count_attempt(browser, result.is_ok());
        match result {
            Ok(connected) => {
                let about = convert::about(&connected.info);
                let tabs = connected.info.tabs.iter().cloned();
                let tabs = tabs.map(|tab| convert::facts(tab, None)).collect();
                let front = connected.info.front.as_ref();
                let front = front.map(|id| TargetId(id.as_str().into()));
                let handle = connected.follow(browser.0, self.events.clone());
                self.watch_front(browser, handle.clone());
                self.browsers.insert(browser, handle);
                self.input(Input::Connected {
                    browser,
                    about,
                    tabs,
                    front,
                });
            }
            Err(error) => {
                tracing::info!(%error, "could not connect");
                let failure = convert::connect_failure(&error);
                self.input(Input::ConnectFailed { browser, failure });
            }
        }
    }

    fn count_attempt(&mut self, browser: BrowserId, connected: bool) {
        let known: HashSet<BrowserId> = self.core.browsers().map(|known| known.id).collect();
        self.metrics.keep_only(|id| known.contains(&id));
        self.metrics.attempted(browser, connected);
    }
}
