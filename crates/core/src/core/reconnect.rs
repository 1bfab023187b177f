//! Lost connections: the browser keeps running, and sessions get their tabs back when it reconnects.

use super::Core;
use crate::session::Focus;
use crate::timers::Timer;
use crate::{BrowserId, BrowserKey, Fate, LostTab, RememberedTab, SessionId, TargetId};

impl Core {
    /// Calls that need the browser fail. The tabs of sessions are remembered.
    pub(super) fn connection_lost(&mut self, id: BrowserId, reason: &str) {
        if self.about(id).is_none() {
            return self.browser_gone(id, reason);
        }
        self.remember_tabs(id);
        self.lose_browser(id, reason, true);
        let until = self.now + self.config.away;
        self.timers.arm(until, Timer::Away(id));
        // Its tabs keep their numbers, so sessions need not be told about the reconnect.
        if let Some(browser) = self.browsers.get_mut(&id) {
            browser.was_connected = false;
        }
    }

    /// Connects a progressive session to a connected browser.
    pub(super) fn connect_session(&mut self, session: SessionId, browser: BrowserId) {
        if let Some(browser_binding) = self.browser_binding_mut(session, browser) {
            browser_binding.connect();
            self.persistence_version += 1;
        }
    }

    /// A browser cannot be reached, so the sessions that were to reconnect there become disconnected. If only its
    /// extension is not connected, they continue when it comes back by itself.
    pub(super) fn give_up_reconnect(&mut self, id: BrowserId, is_away: bool) {
        let now = self.now;
        for session in self.sessions_meaning(id) {
            let browser_binding = self.browser_binding_mut(session, id);
            let Some(pending_reconnect) =
                browser_binding.map(|browser_binding| &mut browser_binding.pending_reconnect)
            else {
                continue;
            };
            match pending_reconnect {
                Some(pending_reconnect) if is_away => pending_reconnect.until = Some(now),
                Some(_) => *pending_reconnect = None,
                None => continue,
            }
            self.announce_if_changed(session);
        }
    }

    /// Whether a session's next call reconnects it.
    pub(super) fn will_reconnect(&self, session: SessionId, browser: BrowserId) -> bool {
        let pending_reconnect = self
            .browser_binding(session, browser)
            .and_then(|browser_binding| browser_binding.pending_reconnect);
        pending_reconnect.is_some_and(|pending_reconnect| pending_reconnect.is_due(self.now))
    }

    /// The browser in which a progressive session could continue under a later daemon: it is connected there, and
    /// tabmux did not launch the browser.
    pub fn returns_to(&self, session: SessionId) -> Option<&BrowserKey> {
        let known = self.sessions.get(&session)?;
        let browser_binding = known
            .home_browser_binding()
            .filter(|_| !known.is_static())?;
        let browser = self.browsers.get(&browser_binding.browser)?;
        let about = self.about(browser_binding.browser);
        let stays = about.is_some_and(|about| !about.launched) && browser_binding.focus.is_some();
        (stays || browser_binding.pending_reconnect.is_some()).then_some(&browser.key)
    }

    /// Reconnects to a browser in which sessions have tabs, without waiting for a call.
    pub(super) fn reachable(&mut self, id: BrowserId) {
        let mut sessions = self.sessions_meaning(id).into_iter();
        let has_tabs = sessions.any(|session| {
            let restored_tabs = self
                .sessions
                .get(&session)
                .map(|known| &known.config.restored_tabs);
            restored_tabs.is_some_and(|had| !had.opened.is_empty() || !had.bound.is_empty())
        });
        if has_tabs && self.about(id).is_none() {
            self.connect(id, false);
        }
    }

    /// A browser has reported all its tabs: remembered tabs that are not among them are gone, and their sessions
    /// are told.
    pub(super) fn forget_remembered(&mut self, id: BrowserId) {
        let Some(key) = self.browsers.get(&id).map(|browser| browser.key.clone()) else {
            return;
        };
        let remembered = std::mem::take(&mut self.config.remembered);
        let (gone, others) = remembered.into_iter().partition(|tab| tab.browser == key);
        self.config.remembered = others;
        for session in self.sessions_meaning(id) {
            self.report_missing_tab(session, id, &gone);
        }
    }

    fn report_missing_tab(
        &mut self,
        session: SessionId,
        browser: BrowserId,
        gone: &[RememberedTab],
    ) {
        let Some(known) = self.sessions.get_mut(session) else {
            return;
        };
        let restored_tabs = &mut known.config.restored_tabs;
        let is_gone = |target: &TargetId| gone.iter().any(|tab| tab.target == *target);
        let is_bound = |tab: &&RememberedTab| restored_tabs.bound.contains(&tab.target);
        let bound = gone.iter().find(is_bound).map(|tab| tab.number);
        restored_tabs.opened.retain(|target| !is_gone(target));
        restored_tabs.bound.retain(|target| !is_gone(target));
        if let (Some(tab), Some(browser_binding)) = (bound, known.browser_binding_mut(browser))
            && browser_binding.focus.is_some()
        {
            let fate = Fate::Closed;
            browser_binding.focus = Some(Focus::Lost(LostTab { tab, fate }));
        }
    }

    fn remember_tabs(&mut self, id: BrowserId) {
        let Some(key) = self.browsers.get(&id).map(|browser| browser.key.clone()) else {
            return;
        };
        let open: Vec<_> = self
            .tabs_of(id)
            .into_iter()
            .filter_map(|number| {
                let tab = self.tabs.get(&number).filter(|tab| tab.is_open())?;
                let bound: Vec<_> = tab.focused_by.iter().copied().collect();
                let target = tab.home.as_ref()?.target.clone();
                Some((number, target, tab.owner, bound))
            })
            .collect();
        for (number, target, owner, bound) in open {
            self.config.remembered.push(RememberedTab {
                browser: key.clone(),
                target: target.clone(),
                number,
            });
            if let Some(known) = owner.and_then(|owner| self.sessions.get_mut(owner)) {
                known.config.restored_tabs.opened.push(target.clone());
            }
            for session in bound {
                if let Some(known) = self.sessions.get_mut(session) {
                    known.config.restored_tabs.bound.push(target.clone());
                }
            }
        }
    }
}
