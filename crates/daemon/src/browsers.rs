//! The browsers of all sessions: how they are connected, what is counted about them, and the tasks that work for them.

mod attempt;
mod connecting;
mod contexts;
mod extension_links;
mod following;
mod metrics;
mod plans;
mod queued;
mod unconnected;
mod unused_tabs;

pub(crate) use connecting::{CONNECT_LIMIT, Permitted};
pub(crate) use contexts::Context;
pub(crate) use unconnected::UnconnectedBrowser;

use crate::extension::{Extensions, PeerName};
use crate::main_loop::Event;
use crate::options::{BrowserPlan, PlannedBrowser};
use crate::timed_core::TimedCore;
use crate::work;
use contexts::Contexts;
use extension_links::ExtensionLinks;
use following::Following;
use metrics::Metrics;
use plans::Plans;
use queued::Queued;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tabmux_browser::screen::Screen;
use tabmux_browser::{Browser, TabFacts};
use tabmux_core::{BrowserId, Core, Input, SessionId, TargetId};
use tabmux_protocol::limits::END_TAKES;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::task::TaskTracker;
use unused_tabs::Sweeps;

/// All browsers, and what the core does not need to know about them.
pub(crate) struct Browsers {
    connected: HashMap<BrowserId, Browser>,
    pub(crate) plans: Plans,
    pub(crate) links: ExtensionLinks,
    pub(crate) contexts: Contexts,
    pub(crate) following: Following,
    pub(crate) metrics: Metrics,
    sweeps: Sweeps,
    /// The extensions through which people's browsers are reached.
    extensions: Arc<Extensions>,
    /// The display of the last client that had one.
    pub(crate) screen: Option<Screen>,
    /// Attempts that may wait in the queue of a grid.
    pub(crate) queued: Queued,
    /// Connection attempts, tracked so that shutdown can wait for them.
    attempts: JoinSet<()>,
    /// Tabs and contexts that are being closed, tracked so that shutdown can wait for them.
    closing: TaskTracker,
    /// Contexts that are being ended.
    ending: TaskTracker,
    events: mpsc::Sender<Event>,
}

impl Browsers {
    pub(crate) fn new(extensions: Arc<Extensions>, events: mpsc::Sender<Event>) -> Self {
        Self {
            connected: HashMap::new(),
            plans: Plans::default(),
            links: ExtensionLinks::default(),
            contexts: Contexts::default(),
            following: Following::default(),
            metrics: Metrics::default(),
            sweeps: Sweeps::default(),
            extensions,
            screen: None,
            queued: Queued::default(),
            attempts: JoinSet::new(),
            closing: TaskTracker::new(),
            ending: TaskTracker::new(),
            events,
        }
    }

    /// A connected browser.
    pub(crate) fn get(&self, browser: BrowserId) -> Option<&Browser> {
        self.connected.get(&browser)
    }

    /// All connected browsers.
    pub(crate) fn all(&self) -> Vec<Browser> {
        self.connected.values().cloned().collect()
    }

    /// Whether an extension is connected.
    pub(crate) fn has_extension(&self) -> bool {
        self.extensions.is_connected()
    }

    /// Whether a tab is hidden from agents. Events about it may have been sent before the browser was told.
    pub(crate) fn hides(&self, browser: BrowserId, tab: &TabFacts) -> bool {
        self.get(browser).is_some_and(|handle| handle.hides(tab))
    }

    /// Closes a tab that no session uses.
    pub(crate) fn discard(&self, browser: BrowserId, target: TargetId, last: bool) {
        if let Some(browser) = self.get(browser).cloned() {
            self.closing.spawn(work::discard(browser, target, last));
        }
    }

    /// Closes tabs in browsers that no session is connected to.
    pub(crate) fn close_unconnected(&self, tabs: HashMap<UnconnectedBrowser, Vec<TargetId>>) {
        for (browser, targets) in tabs {
            let extensions = Arc::clone(&self.extensions);
            self.closing.spawn(browser.close(targets, extensions));
        }
    }

    /// Detaches a tab that its person took back.
    pub(crate) fn detach(&self, browser: BrowserId, target: &TargetId) {
        if let Some(handle) = self.get(browser).cloned() {
            let target = tabmux_browser::TargetId::from(&*target.0);
            tokio::spawn(async move { handle.detach(&target).await });
        }
    }

    /// Shows tabs of private windows to agents, or hides them. Returns the tabs that are hidden now.
    pub(crate) fn set_private(&self, allowed: bool) -> Vec<(BrowserId, TargetId)> {
        let hidden = self.connected.iter().flat_map(|(browser, handle)| {
            let targets = handle.set_private(allowed).into_iter();
            targets.map(|target| (*browser, TargetId(target.as_str().into())))
        });
        hidden.collect()
    }

    /// A session was closed: closes its contexts, and forgets its plans.
    pub(crate) fn session_closed(&mut self, session: SessionId, core: &Core) {
        self.plans.over(session);
        self.plans.forget_unused(core);
        for (browser, context) in self.contexts.take(session) {
            if let Some(browser) = self.get(browser).cloned() {
                // Not cut short at shutdown like the closing of tabs: it may save a login state.
                self.ending.spawn(work::end_context(browser, context));
            }
        }
    }

    /// Reconnects browsers of sessions that had tabs in them, as soon as their extension is connected.
    pub(crate) fn reach_again(&self, core: &mut TimedCore) {
        let away = core.browsers().filter(|browser| browser.about.is_none());
        let reachable = away.filter(|browser| {
            let plan = self.plans.get(browser.key);
            plan.is_some_and(|plan| self.extension_for(plan).is_some())
        });
        let reachable: Vec<_> = reachable.map(|browser| browser.id).collect();
        for browser in reachable {
            core.input(Input::Reachable { browser });
        }
    }

    /// The browser in which a session can be given this person's tabs: it is connected, or will be with the session's
    /// first call.
    pub(crate) fn of_person(
        &self,
        peer: &PeerName,
        session: SessionId,
        core: &Core,
    ) -> Option<BrowserId> {
        let mut browsers = core.browsers();
        let will_reach = |plan: &BrowserPlan| self.extension_for(plan).as_ref() == Some(peer);
        let found = browsers.find(|browser| {
            core.can_be_given(session, browser.id)
                && match self.links.of(browser.id) {
                    Some(its_peer) => its_peer == peer,
                    None => {
                        let plan = self.plans.get(browser.key);
                        browser.about.is_none() && plan.is_some_and(will_reach)
                    }
                }
        });
        found.map(|browser| browser.id)
    }

    /// The extension through which a browser would be connected now.
    fn extension_for(&self, plan: &BrowserPlan) -> Option<PeerName> {
        match &plan.browser {
            PlannedBrowser::Extension { name } => self.extensions.meant_by(name.as_deref()),
            PlannedBrowser::Any => self.extensions.meant_by(None),
            PlannedBrowser::Launched | PlannedBrowser::Running | PlannedBrowser::At(_) => None,
        }
    }

    /// Stops connecting, and waits for tabs that are being closed, but not for long.
    pub(crate) async fn finish_closing(&mut self, limit: Duration) {
        self.attempts.shutdown().await;
        self.closing.close();
        self.ending.close();
        let (_, saved) = tokio::join!(
            tokio::time::timeout(limit, self.closing.wait()),
            tokio::time::timeout(SAVING_LIMIT, self.ending.wait())
        );
        if saved.is_err() {
            tracing::warn!("a login state was not saved: its browser did not answer in time");
        }
    }

    /// Disconnects every browser, and ends those that we launched.
    pub(crate) async fn shut_down(&self) {
        let ends = self.connected.values().map(Browser::shut_down);
        futures_util::future::join_all(ends).await;
    }
}

/// How long shutdown waits for login states that are being saved. Closing browsers and removing profiles takes two more
/// seconds on an idle machine, and then the process ends in any case.
const SAVING_LIMIT: Duration = END_TAKES.saturating_sub(Duration::from_secs(2));
