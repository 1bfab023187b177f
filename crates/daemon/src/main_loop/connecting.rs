//! Connects the browsers of sessions.

use super::MainLoop;
use crate::attempt::Attempt;
use crate::convert;
use crate::extension::PeerName;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;
use tabmux_browser::{ConnectError, Connected};
use tabmux_core::{BrowserId, BrowserKey, Input, TargetId};

impl MainLoop {
    /// Starts an attempt to connect a browser, as its plan says.
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
        let patience = match self.core.is_asked_for(browser) {
            true => CONNECT_EXTENSION_WAIT,
            false => EXTENSION_WAIT,
        };
        let attempt = Attempt {
            browser,
            plan,
            launch,
            start,
            extensions: Arc::clone(&self.extensions),
            patience,
            screen: self.screen.clone(),
            output: self.output.clone(),
            events: self.events.clone(),
        };
        self.connecting.spawn(attempt.make());
    }

    /// An attempt takes long: tells the waiting clients why.
    pub(super) fn awaited(&mut self, browser: BrowserId, message: &str) {
        for call in self.core.waiting_for(browser) {
            self.progressed(call, message.to_owned());
        }
    }

    /// An attempt has ended.
    pub(super) fn connected(
        &mut self,
        browser: BrowserId,
        result: Result<Box<Connected>, ConnectError>,
        peer: Option<PeerName>,
    ) {
        self.persons.reached(browser, peer);
        while self.connecting.try_join_next().is_some() {}
        self.count_attempt(browser, result.is_ok());
        match result {
            Ok(connected) => {
                let connected = connected.with_private(self.policy_file.private_windows());
                let about = convert::about(&connected.info);
                let tabs = connected.info.tabs.iter().cloned();
                let tabs = tabs.map(|tab| convert::facts(tab, None)).collect();
                let front = connected.info.front.as_ref();
                let front = front.map(|id| TargetId(id.as_str().into()));
                let handle = connected.follow(browser.0, self.events.clone());
                self.watch_front(browser, handle.clone());
                self.browsers.insert(browser, handle);
                self.core.input(Input::Connected {
                    browser,
                    about,
                    tabs,
                    front,
                });
            }
            Err(error) => {
                tracing::info!(%error, "could not connect");
                let failure = convert::connect_failure(&error);
                self.core.input(Input::ConnectFailed { browser, failure });
            }
        }
    }

    fn count_attempt(&mut self, browser: BrowserId, connected: bool) {
        let known: HashSet<BrowserId> = self.core.browsers().map(|known| known.id).collect();
        self.metrics.keep_only(|id| known.contains(&id));
        self.persons.keep_only(&known);
        self.metrics.attempted(browser, connected);
    }
}

/// How long to wait for an extension that is not connected: it retries every 30 s. Calls that only need the browser
/// wait for a shorter time.
const CONNECT_EXTENSION_WAIT: Duration = Duration::from_secs(35);
const EXTENSION_WAIT: Duration = Duration::from_secs(25);

/// The deadline of `connect_browser`: the wait, and the work after it.
pub(super) const CONNECT_LIMIT: Duration = tabmux_protocol::limits::CONNECT_TAKES;
