//! Clients come and go.

use super::Core;
use crate::browser::{Browser, Link};
use crate::session::{Focus, Session};
use crate::timers::Timer;
use crate::{
    BrowserId, Heritage, Loss, Meant, OnEnd, Output, Refusal, Reply, SessionConfig, SessionId,
    TargetId,
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
        let meant = config.browsers.clone();
        let mut opened = Session::new(config);
        for meant in &meant {
            let browser = self.entry(meant);
            // Two names of one browser are one browser.
            if !opened.means(browser) {
                opened.sit_down(meant, browser);
            }
        }
        self.sessions.insert(session, opened);
        self.inherit(session);
        let announced = self.offer(session);
        let Some(known) = self.sessions.get_mut(&session) else {
            return;
        };
        known.announced = announced;
        if known.config.connects_at_once {
            let browsers: Vec<_> = known.seats.iter().map(|seat| seat.browser).collect();
            // One attempt each, which nobody waits for; whoever needs one that failed tries again.
            for browser in browsers {
                self.connect(browser, true);
            }
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
            self.discard_all(session, None);
        }
        self.release_all(session, None);
        for seat in known.seats {
            self.forget_unwanted(seat.browser);
        }
    }

    /// Gives a session the tabs back that it had before its daemon died, in those of its browsers that
    /// are connected. A progressive session has to focus again: its agent knows that it is disconnected.
    pub(super) fn inherit(&mut self, session: SessionId) {
        let Some(known) = self.sessions.get_mut(&session) else {
            return;
        };
        let is_static = known.is_static();
        let browsers: Vec<_> = known.seats.iter().map(|seat| seat.browser).collect();
        let Heritage {
            opened,
            bound,
            lost,
            ..
        } = std::mem::take(&mut known.config.heritage);
        if let (Some(lost), true) = (lost, is_static) {
            self.inherit_loss(session, lost);
        }
        let mut left = Heritage::default();
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
                None => left.bound.push(target),
                Some(tab) if is_static => self.move_focus(session, tab),
                Some(_) => {}
            }
        }
        if let Some(known) = self.sessions.get_mut(&session) {
            known.config.heritage = left;
        }
    }

    /// The next call in the browser where a session lost its tab is told. If the session does not mean that
    /// one any more, it is told in the first that it means.
    fn inherit_loss(&mut self, session: SessionId, Loss { browser, tab }: Loss) {
        let mut browsers = self.browsers.iter();
        let place = browsers.find(|(_, known)| Some(&known.key) == browser.as_ref());
        let place = place.map(|(id, _)| *id);
        let Some(known) = self.sessions.get_mut(&session) else {
            return;
        };
        let mut seats = known.seats.iter();
        let number = seats.position(|seat| Some(seat.browser) == place);
        if let Some(seat) = known.seats.get_mut(number.unwrap_or(0)) {
            seat.focus = Some(Focus::Lost(tab));
        }
    }

    /// Forgets a browser that is not connected and that no session means.
    pub(super) fn forget_unwanted(&mut self, browser: BrowserId) {
        let wanted = self.sessions.values().any(|known| known.means(browser));
        let idle = self
            .browsers
            .get(&browser)
            .is_some_and(|known| matches!(known.link, Link::Pending | Link::Disconnected));
        if idle && !wanted {
            self.browsers.remove(&browser);
        }
    }

    /// The registry's entry for a browser, made if there is none. Nothing is connected for that.
    pub(super) fn entry(&mut self, meant: &Meant) -> BrowserId {
        let mut known = self.browsers.iter();
        if let Some((id, _)) = known.find(|(_, known)| known.key == meant.key) {
            return *id;
        }
        self.browsers_counted += 1;
        let id = BrowserId(self.browsers_counted);
        let browser = Browser::new(meant.key.clone(), meant.attached);
        self.browsers.insert(id, browser);
        id
    }
}
