//! A browser is away for a while and its tabs are not lost: who had them has them again.

use super::Core;
use crate::session::Focus;
use crate::tab::Stage;
use crate::{BrowserId, Fate, LostTab, RememberedTab, SessionId, TargetId};
use std::collections::BTreeMap;

impl Core {
    /// Calls that need the browser end, as with any loss. What sessions had there is remembered.
    pub(super) fn connection_lost(&mut self, id: BrowserId, reason: &str) {
        if self.about(id).is_none() {
            return self.browser_gone(id, reason);
        }
        let untold = self.losses_in(id);
        self.remember_tabs(id);
        self.browser_gone(id, reason);
        // Its tabs keep their numbers, so nobody has to be told that it was away.
        if let Some(browser) = self.browsers.get_mut(&id) {
            browser.was_connected = false;
        }
        let fixed = self.sessions.iter_mut();
        for (session, known) in fixed.filter(|(_, known)| known.is_static()) {
            if let Some(seat) = known.seat_mut(id) {
                // The tab that a session was bound to may be there again, so it is not reported as lost;
                // one that was lost before is not.
                let lost = untold.get(session).copied();
                seat.focus = Some(lost.map_or(Focus::Nothing, Focus::Lost));
            }
        }
    }

    /// Who lost a tab in a browser and was not told yet.
    fn losses_in(&self, browser: BrowserId) -> BTreeMap<SessionId, LostTab> {
        let losses = self.sessions.iter().filter_map(|(session, known)| {
            let lost = known.seat(browser)?.lost_tab()?;
            Some((*session, lost))
        });
        losses.collect()
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
        let is_static = known.is_static();
        let heritage = &mut known.config.heritage;
        let is_gone = |target: &TargetId| gone.iter().any(|tab| tab.target == *target);
        let is_bound = |tab: &&RememberedTab| heritage.bound.contains(&tab.target);
        let bound = gone.iter().find(is_bound).map(|tab| tab.number);
        heritage.opened.retain(|target| !is_gone(target));
        heritage.bound.retain(|target| !is_gone(target));
        if let (Some(tab), true, Some(seat)) = (bound, is_static, known.seat_mut(browser)) {
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
