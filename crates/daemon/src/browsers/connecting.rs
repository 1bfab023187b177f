//! Connects browsers, and notices when they are gone.

use super::Browsers;
use super::attempt::Attempt;
use crate::convert;
use crate::extension::PeerName;
use crate::timed_core::TimedCore;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;
use tabmux_browser::{Browser, ConnectError, Connected, OutputRoot};
use tabmux_core::{BrowserId, BrowserKey, Input, TargetId};
use tokio_util::sync::CancellationToken;

/// What an attempt to connect may do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Permitted {
    /// Whether a browser may be launched.
    pub(crate) launch: bool,
    /// Whether the user's start command may be run.
    pub(crate) start: bool,
    /// Whether the agent asked for the browser, so that a longer wait makes sense.
    pub(crate) long_wait: bool,
}

impl Browsers {
    /// Starts an attempt to connect a browser, as its plan says.
    pub(crate) fn connect(
        &mut self,
        browser: BrowserId,
        key: &BrowserKey,
        permitted: Permitted,
        output: &OutputRoot,
    ) {
        let Some(plan) = self.plans.get(key).cloned() else {
            return;
        };
        let given_up = CancellationToken::new();
        if plan.place.is_some() {
            self.queued.begin(browser, given_up.clone());
        }
        let attempt = Attempt {
            browser,
            given_up,
            plan,
            launch: permitted.launch,
            start: permitted.start,
            extensions: Arc::clone(&self.extensions),
            patience: match permitted.long_wait {
                true => CONNECT_EXTENSION_WAIT,
                false => EXTENSION_WAIT,
            },
            screen: self.screen.clone(),
            output: output.clone(),
            events: self.events.clone(),
        };
        self.attempts.spawn(attempt.make());
    }

    /// An attempt has ended.
    pub(crate) fn attempted(
        &mut self,
        browser: BrowserId,
        result: Result<Box<Connected>, ConnectError>,
        peer: Option<PeerName>,
        private_windows: bool,
        core: &mut TimedCore,
    ) {
        self.links.set(browser, peer);
        self.queued.end(browser);
        while self.attempts.try_join_next().is_some() {}
        let known: HashSet<BrowserId> = core.browsers().map(|known| known.id).collect();
        self.metrics.keep_only(|id| known.contains(&id));
        self.links.keep_only(&known);
        self.metrics.attempted(browser, result.is_ok());
        core.input(match result {
            Ok(connected) => self.add(browser, connected.with_private(private_windows)),
            Err(error) => {
                tracing::info!(%error, "could not connect");
                let failure = convert::connect_failure(&error);
                Input::ConnectFailed { browser, failure }
            }
        });
    }

    fn add(&mut self, browser: BrowserId, connected: Connected) -> Input {
        let about = convert::about(&connected.info);
        let tabs = connected.info.tabs.iter().cloned();
        let tabs = tabs.map(|tab| convert::facts(tab, None)).collect();
        let replaces = connected.info.replaces;
        let front = connected.info.front.as_ref();
        let front = front.map(|id| TargetId(id.as_str().into()));
        let handle = connected.follow(browser.0, self.events.clone());
        self.following.watch(browser, handle.clone(), &self.events);
        self.connected.insert(browser, handle);
        Input::Connected {
            browser,
            about,
            tabs,
            front,
            replaces,
        }
    }

    /// A browser reported its end. A grid says whether the browser lives, and what happened.
    pub(crate) fn gone(
        &mut self,
        browser: BrowserId,
        of_grid: Option<(bool, String)>,
        core: &mut TimedCore,
    ) {
        let personal = self.links.of(browser).is_some();
        let reconnected_early = self.links.take_reconnected_early(browser);
        self.remove(browser);
        self.contexts.forget(browser);
        let usual = || (personal, "it was closed or its connection ended".into());
        let (lives, reason) = of_grid.unwrap_or_else(usual);
        core.input(match lives {
            // Chrome may end the extension's worker at any time, which does not affect the tabs.
            true => Input::ConnectionLost { browser, reason },
            false => Input::BrowserGone { browser, reason },
        });
        if reconnected_early {
            self.reach_again(core);
        }
    }

    /// No session uses a browser any more.
    pub(crate) fn disconnect(&mut self, browser: BrowserId) {
        if let Some(browser) = self.remove(browser) {
            self.closing.spawn(async move { browser.shut_down().await });
        }
    }

    fn remove(&mut self, browser: BrowserId) -> Option<Browser> {
        self.metrics.lost(browser);
        self.following.forget(browser);
        self.links.set(browser, None);
        self.connected.remove(&browser)
    }
}

/// How long to wait for an extension that is not connected: it retries every 30 s. Calls that only need the browser
/// wait for a shorter time.
const CONNECT_EXTENSION_WAIT: Duration = Duration::from_secs(35);
const EXTENSION_WAIT: Duration = Duration::from_secs(25);

/// The deadline of `connect_browser`: the wait, and the work after it.
pub(crate) const CONNECT_LIMIT: Duration = tabmux_protocol::limits::CONNECT_TAKES;
