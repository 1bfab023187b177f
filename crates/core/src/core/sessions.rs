//! Clients come and go.

use super::Core;
use crate::browser::{Browser, Link};
use crate::session::Session;
use crate::timers::Timer;
use crate::{
    BrowserId, BrowserKey, Heritage, OnEnd, Output, Refusal, Reply, SessionConfig, SessionId,
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
        let browser = self.entry(config.browser.clone());
        self.sessions.insert(session, Session::new(config, browser));
        if self.about(browser).is_some() {
            self.inherit(session);
        }
        let tools = self.tools(session);
        if let Some(known) = self.sessions.get_mut(&session) {
            known.announced = tools;
        }
    }

    pub(super) fn close_session(&mut self, session: SessionId) {
        let calls = self.calls_where(|call| call.session == session);
        self.end_all(calls, |core, call| core.abort(call, Reply::Cancelled));
        let Some(known) = self.sessions.remove(&session) else {
            return;
        };
        if let Some(at) = known.announce_at {
            self.timers.disarm(at, Timer::Announce(session));
        }
        if known.config.on_end == OnEnd::Close {
            self.discard_all(session);
        }
        self.release_all(session);
        self.forget_unwanted(known.browser);
    }

    /// Gives a session the tabs back that it had before its daemon died, as far as they are there.
    /// A progressive session has to focus again: its agent knows that it is disconnected.
    pub(super) fn inherit(&mut self, session: SessionId) {
        let Some(known) = self.sessions.get_mut(&session) else {
            return;
        };
        let (browser, is_static) = (known.browser, known.is_static());
        let Heritage { opened, bound } = std::mem::take(&mut known.config.heritage);
        for target in opened {
            if let Some(tab) = self.tab_of(browser, &target) {
                self.change_hold(tab, |tab| {
                    tab.owner.get_or_insert(session);
                });
            }
        }
        let bound = bound.filter(|_| is_static);
        if let Some(tab) = bound.and_then(|target| self.tab_of(browser, &target)) {
            self.move_focus(session, tab);
        }
    }

    /// Forgets a browser that is not connected and that no session means.
    pub(super) fn forget_unwanted(&mut self, browser: BrowserId) {
        let wanted = self.sessions.values().any(|known| known.browser == browser);
        let idle = self
            .browsers
            .get(&browser)
            .is_some_and(|known| matches!(known.link, Link::Pending | Link::Disconnected));
        if idle && !wanted {
            self.browsers.remove(&browser);
        }
    }

    /// The registry's entry for a key, made if there is none.
    fn entry(&mut self, key: BrowserKey) -> BrowserId {
        if let Some((id, _)) = self.browsers.iter().find(|(_, known)| known.key == key) {
            return *id;
        }
        self.browsers_counted += 1;
        let id = BrowserId(self.browsers_counted);
        self.browsers.insert(id, Browser::new(key));
        id
    }
}
