//! Opening and closing sessions.

use super::Core;
use crate::browser::{Browser, Link};
use crate::session::{Focus, PendingReconnect, Session};
use crate::tab::Tab;
use crate::timers::Timer;
use crate::{
    BrowserId, BrowserRef, Loss, OnEnd, Output, Refusal, Reply, RestoredTabs, SessionConfig,
    SessionId, TabId, TargetId,
};

impl Core {
    pub(super) fn open_session(&mut self, session: SessionId, config: SessionConfig) {
        if self.sessions.contains_key(&session) {
            return;
        }
        let limit = self.config.sessions;
        if self.sessions.len() >= limit {
            let refusal = Refusal::TooManySessions { limit };
            return self.emit(Output::SessionRefused { session, refusal });
        }
        let wanted = config.browsers.clone();
        let mut opened = Session::new(config);
        for wanted in &wanted {
            let browser = self.entry(wanted);
            // Two entries may refer to the same browser.
            if !opened.is_bound_to(browser) {
                opened.bind_browser(wanted, browser);
            }
        }
        self.sessions.insert(session, opened);
        self.restore_connection(session);
        self.restore_tabs(session);
        let announced = self.offer(session);
        let Some(known) = self.sessions.get_mut(session) else {
            return;
        };
        known.announced = announced;
        if known.config.connects_at_once {
            let browsers: Vec<_> = known
                .browser_bindings
                .iter()
                .map(|browser_binding| browser_binding.browser)
                .collect();
            // One attempt each. If it fails, the first call that needs the browser tries again.
            for browser in browsers {
                self.connect(browser, true);
            }
        }
    }

    pub(super) fn close_session(&mut self, session: SessionId) {
        let calls = self.calls_of(session, |_| true);
        self.end_all(calls, |core, call| core.abort(call, Reply::Cancelled));
        let Some(known) = self.sessions.remove(session) else {
            return;
        };
        if let Some(at) = known.announce_at {
            self.timers.disarm(at, Timer::Announce(session));
        }
        if let Some(at) = known.rest_at {
            self.timers.disarm(at, Timer::Rest(session));
        }
        for id in known.browsers() {
            if known.config.on_end == OnEnd::Close {
                self.discard_all(session, id);
            }
            self.release_all(session, id);
        }
        for id in known.browsers() {
            match self.browsers.get(&id) {
                Some(browser) if browser.leased => self.disconnect_if_unused(id),
                _ => self.forget_unwanted(id),
            }
        }
    }

    /// Reconnects a progressive session that was connected before its daemon crashed: now if its browser is
    /// connected, or else with its next call.
    fn restore_connection(&mut self, session: SessionId) {
        let known = self.sessions.get_mut(session);
        let Some(known) = known.filter(|known| !known.is_static()) else {
            return;
        };
        let connected = known.config.restored_tabs.connected.take();
        let browser_bindings = known
            .browser_bindings
            .iter_mut()
            .filter_map(|browser_binding| {
                let browser = self.browsers.get(&browser_binding.browser)?;
                Some((browser_binding, browser))
            });
        let mut browser_bindings =
            browser_bindings.filter(|(_, browser)| Some(&browser.key) == connected.as_ref());
        if let Some((browser_binding, browser)) = browser_bindings.next() {
            known.home = browser_binding.number;
            let (focus, until) = (Focus::Nothing, None);
            browser_binding.pending_reconnect = Some(PendingReconnect { focus, until });
            if browser.connection().is_some() {
                browser_binding.connect();
            }
        }
    }

    /// Gives a session back the tabs that it had before its daemon crashed, in the browsers that it is connected
    /// to.
    pub(super) fn restore_tabs(&mut self, session: SessionId) {
        let Some(known) = self.sessions.get_mut(session) else {
            return;
        };
        let browsers: Vec<_> = known
            .browser_bindings
            .iter()
            .map(|browser_binding| browser_binding.browser)
            .collect();
        let RestoredTabs {
            opened,
            bound,
            lost,
            ..
        } = std::mem::take(&mut known.config.restored_tabs);
        if let Some(lost) = lost {
            self.restore_loss(session, lost);
        }
        let mut left = RestoredTabs::default();
        let find = |core: &Self, target: &TargetId| {
            let mut places = browsers.iter();
            places.find_map(|browser| core.tab_of(*browser, target))
        };
        for target in opened {
            match find(self, &target) {
                None => left.opened.push(target),
                Some(tab) => self.change_hold(tab, |tab| {
                    tab.owner.get_or_insert(session);
                }),
            }
        }
        for target in bound {
            match find(self, &target) {
                Some(tab) if self.is_connected_at(session, tab) => self.move_focus(session, tab),
                _ => left.bound.push(target),
            }
        }
        if let Some(known) = self.sessions.get_mut(session) {
            known.config.restored_tabs = left;
        }
    }

    /// The session's next call in the browser where it lost its tab reports the loss. If the session no longer
    /// has this browser, a call in its first browser does.
    fn restore_loss(&mut self, session: SessionId, Loss { browser, tab }: Loss) {
        let place = browser.and_then(|key| self.browsers_by_key.get(&key).copied());
        let Some(known) = self.sessions.get_mut(session) else {
            return;
        };
        let mut browser_bindings = known.browser_bindings.iter();
        let number =
            browser_bindings.position(|browser_binding| Some(browser_binding.browser) == place);
        let is_static = known.is_static();
        if let Some(browser_binding) = known.browser_bindings.get_mut(number.unwrap_or(0)) {
            let lost = Focus::Lost(tab);
            match &mut browser_binding.pending_reconnect {
                _ if is_static || browser_binding.focus.is_some() => {
                    browser_binding.focus = Some(lost)
                }
                Some(pending_reconnect) => pending_reconnect.focus = lost,
                // Its browser is gone, too.
                None => browser_binding.gone = Some(tab),
            }
        }
    }

    fn is_connected_at(&self, session: SessionId, tab: TabId) -> bool {
        let browser = self.tabs.get(&tab).and_then(Tab::browser);
        browser.is_some_and(|browser| self.is_connected(session, browser))
    }

    /// Removes a browser that is not connected and that no session uses.
    pub(super) fn forget_unwanted(&mut self, browser: BrowserId) {
        let wanted = self.has_sessions(browser);
        let idle = self
            .browsers
            .get(&browser)
            .is_some_and(|known| matches!(known.link, Link::Pending | Link::Disconnected));
        if idle
            && !wanted
            && let Some(known) = self.browsers.remove(&browser)
        {
            self.browsers_by_key.remove(&known.key);
        }
    }

    /// The entry of a browser, created if there is none. Does not connect.
    pub(super) fn entry(&mut self, wanted: &BrowserRef) -> BrowserId {
        if let Some(id) = self.browsers_by_key.get(&wanted.key) {
            return *id;
        }
        self.browsers_counted += 1;
        let id = BrowserId(self.browsers_counted);
        self.browsers.insert(id, Browser::new(wanted));
        self.browsers_by_key.insert(wanted.key.clone(), id);
        id
    }
}
