//! A browser is away for a while and its tabs are not lost: who had them has them again.

use super::Core;
use crate::session::Focus;
use crate::tab::Stage;
use crate::timers::Timer;
use crate::{BrowserId, BrowserKey, Fate, LostTab, RememberedTab, SessionId, TargetId};

impl Core {
    /// Calls that need the browser end, as with any loss. What sessions had there is remembered.
    pub(super) fn connection_lost(&mut self, id: BrowserId, reason: &str) {
        if self.about(id).is_none() {
            return self.browser_gone(id, reason);
        }
        self.remember_tabs(id);
        self.lose_browser(id, reason, true);
        let until = self.now + self.config.away;
        self.timers.arm(until, Timer::Away(id));
        // Its tabs keep their numbers, so nobody has to be told that it was away.
        if let Some(browser) = self.browsers.get_mut(&id) {
            browser.was_connected = false;
        }
    }

    /// A progressive session is connected to a browser that is there.
    pub(super) fn connect_session(&mut self, session: SessionId, browser: BrowserId) {
        if let Some(seat) = self.seat_mut(session, browser) {
            seat.connect();
            self.notable += 1;
        }
    }

    /// A browser cannot be reached. Sessions that were to go on there are told that they have to connect; if it
    /// is only away, they need not should it come by itself.
    pub(super) fn give_up_return(&mut self, id: BrowserId, is_away: bool) {
        let now = self.now;
        for session in self.sessions_meaning(id) {
            let seat = self.seat_mut(session, id);
            let Some(returns) = seat.map(|seat| &mut seat.returns) else {
                continue;
            };
            match returns {
                Some(returns) if is_away => returns.until = Some(now),
                Some(_) => *returns = None,
                None => continue,
            }
            self.announce_if_changed(session);
        }
    }

    /// Whether a session's next call connects it again.
    pub(super) fn returns(&self, session: SessionId, browser: BrowserId) -> bool {
        let returns = self.seat(session, browser).and_then(|seat| seat.returns);
        returns.is_some_and(|returns| returns.is_due(self.now))
    }

    /// The browser in which a progressive session would go on after this core: it is connected there, and
    /// was not the one that had it launched.
    pub fn returns_to(&self, session: SessionId) -> Option<&BrowserKey> {
        let known = self.sessions.get(&session)?;
        let seat = known.home_seat().filter(|_| !known.is_static())?;
        let browser = self.browsers.get(&seat.browser)?;
        let about = self.about(seat.browser);
        let stays = about.is_some_and(|about| !about.launched) && seat.focus.is_some();
        (stays || seat.returns.is_some()).then_some(&browser.key)
    }

    /// Connects again for those who have tabs there, before they ask.
    pub(super) fn reachable(&mut self, id: BrowserId) {
        let mut sessions = self.sessions_meaning(id).into_iter();
        let has_tabs = sessions.any(|session| {
            let heritage = self
                .sessions
                .get(&session)
                .map(|known| &known.config.heritage);
            heritage.is_some_and(|had| !had.opened.is_empty() || !had.bound.is_empty())
        });
        if has_tabs && self.about(id).is_none() {
            self.connect(id, false);
        }
    }

    /// All tabs of a browser are known: those that are not among them have no number any more, and who
    /// worked in one is told that it is gone.
    pub(super) fn forget_remembered(&mut self, id: BrowserId) {
        let Some(key) = self.browsers.get(&id).map(|browser| browser.key.clone()) else {
            return;
        };
        let remembered = std::mem::take(&mut self.config.remembered);
        let (gone, others) = remembered.into_iter().partition(|tab| tab.browser == key);
        self.config.remembered = others;
        for session in self.sessions_meaning(id) {
            self.miss(session, id, &gone);
        }
    }

    fn miss(&mut self, session: SessionId, browser: BrowserId, gone: &[RememberedTab]) {
        let Some(known) = self.sessions.get_mut(&session) else {
            return;
        };
        let heritage = &mut known.config.heritage;
        let is_gone = |target: &TargetId| gone.iter().any(|tab| tab.target == *target);
        let is_bound = |tab: &&RememberedTab| heritage.bound.contains(&tab.target);
        let bound = gone.iter().find(is_bound).map(|tab| tab.number);
        heritage.opened.retain(|target| !is_gone(target));
        heritage.bound.retain(|target| !is_gone(target));
        if let (Some(tab), Some(seat)) = (bound, known.seat_mut(browser))
            && seat.focus.is_some()
        {
            let fate = Fate::Closed;
            seat.focus = Some(Focus::Lost(LostTab { tab, fate }));
        }
    }

    fn remember_tabs(&mut self, id: BrowserId) {
        let Some(key) = self.browsers.get(&id).map(|browser| browser.key.clone()) else {
            return;
        };
        let open: Vec<_> = self
            .tabs
            .iter()
            .filter(|(_, tab)| tab.stage == Stage::Open)
            .filter_map(|(number, tab)| {
                let home = tab.home.as_ref().filter(|home| home.browser == id)?;
                let bound: Vec<_> = tab.focused_by.iter().copied().collect();
                Some((*number, home.target.clone(), tab.owner, bound))
            })
            .collect();
        for (number, target, owner, bound) in open {
            self.config.remembered.push(RememberedTab {
                browser: key.clone(),
                target: target.clone(),
                number,
            });
            if let Some(known) = owner.and_then(|owner| self.sessions.get_mut(&owner)) {
                known.config.heritage.opened.push(target.clone());
            }
            for session in bound {
                if let Some(known) = self.sessions.get_mut(&session) {
                    known.config.heritage.bound.push(target.clone());
                }
            }
        }
    }
}
