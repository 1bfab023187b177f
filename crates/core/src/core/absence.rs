//! A browser is away for a while and its tabs are not lost: who had them has them again.

use super::Core;
use crate::session::Focus;
use crate::tab::Stage;
use crate::{BrowserId, RememberedTab};

impl Core {
    /// Calls that need the browser end, as with any loss. What sessions had there is remembered.
    pub(super) fn connection_lost(&mut self, id: BrowserId, reason: &str) {
        if self.about(id).is_none() {
            return self.browser_gone(id, reason);
        }
        self.remember_tabs(id);
        self.browser_gone(id, reason);
        for known in self.sessions.values_mut() {
            // The tab that a session was bound to may be there again, so it is not reported as lost.
            if let Some(seat) = known.seat_mut(id)
                && let Some(Focus::Lost(_)) = seat.focus
            {
                seat.focus = Some(Focus::Nothing);
            }
        }
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

    /// All tabs of a browser are known: those that are not among them have no number any more.
    pub(super) fn forget_remembered(&mut self, id: BrowserId) {
        if let Some(browser) = self.browsers.get(&id) {
            let remembered = &mut self.config.remembered;
            remembered.retain(|tab| tab.browser != browser.key);
        }
    }

    fn remember_tabs(&mut self, id: BrowserId) {
        let Some(key) = self.browsers.get(&id).map(|browser| browser.key.clone()) else {
            return;
        };
        // One with the page library stays in the table, and keeps its number there.
        let open: Vec<_> = self
            .tabs
            .iter()
            .filter(|(_, tab)| tab.stage == Stage::Open)
            .filter_map(|(number, tab)| {
                let home = tab.home.as_ref().filter(|home| home.browser == id)?;
                let bound: Vec<_> = tab.focused_by.iter().copied().collect();
                let number = tab.library.is_none().then_some(*number);
                Some((number, home.target.clone(), tab.owner, bound))
            })
            .collect();
        for (number, target, owner, bound) in open {
            self.config
                .remembered
                .extend(number.map(|number| RememberedTab {
                    browser: key.clone(),
                    target: target.clone(),
                    number,
                }));
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
