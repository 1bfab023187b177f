//! Tabs appear, change and vanish.

use super::Core;
use crate::browser::Connection;
use crate::call::Task;
use crate::session::Focus;
use crate::tab::{Stage, Tab};
use crate::{
    BrowserId, CallId, LostTab, Origin, Output, Refusal, Reply, SessionId, TabFacts, TabId,
    TargetId,
};

impl Core {
    pub(super) fn tab_appeared(&mut self, browser: BrowserId, facts: TabFacts, origin: Origin) {
        if self.tab_of(browser, &facts.target).is_some() {
            return self.tab_changed(browser, facts);
        }
        let (stage, owner) = self.place(browser, &facts, &origin);
        let id = TabId(self.tabs_counted + 1);
        let Some(connection) = self.connection_mut(browser) else {
            return;
        };
        connection.tabs.insert(facts.target.clone(), id);
        self.tabs_counted = id.0;
        self.tabs.insert(id, Tab::new(browser, facts, stage));
        match (stage, origin) {
            (Stage::Opening, Origin::Call(call)) => self.give_tab(call, id),
            (Stage::Discarded, _) => self.ask_to_discard(id),
            _ => {}
        }
        self.change_hold(id, |tab| tab.owner = owner);
    }

    pub(super) fn tab_changed(&mut self, browser: BrowserId, facts: TabFacts) {
        let id = self.tab_of(browser, &facts.target);
        if let Some(tab) = id.and_then(|id| self.tabs.get_mut(&id)) {
            tab.change(facts);
        }
    }

    pub(super) fn tab_gone(&mut self, browser: BrowserId, target: &TargetId, crashed: bool) {
        let Some(id) = self.tab_of(browser, target) else {
            return;
        };
        if crashed {
            // What crashed is still in the browser's tab strip. If it is ours, it must not stay there.
            self.discard(id);
        }
        self.remove_tab(LostTab { tab: id, crashed });
    }

    /// Takes a tab out of every table and answers the calls that were about it. To those who wanted it
    /// closed that is good news, to all others it is not.
    pub(super) fn remove_tab(&mut self, lost: LostTab) {
        let Some(tab) = self.tabs.remove(&lost.tab) else {
            return;
        };
        if let Some(connection) = self.connection_mut(tab.browser) {
            connection.tabs.remove(&tab.target);
        }
        let closing = self.calls_where(|call| call.task.closes(lost.tab));
        let closers = self.sessions_of(&closing);
        for id in &tab.focused_by {
            if let Some(session) = self.sessions.get_mut(id) {
                session.focus = Some(match closers.contains(id) {
                    true => Focus::Nothing,
                    false => Focus::Lost(lost),
                });
            }
        }
        for session in closers {
            self.announce_if_changed(session);
        }
        for call in closing {
            self.answer(call, Reply::Closed { tab: lost.tab });
        }
        for call in self.calls_where(|call| call.task.tab() == Some(lost.tab)) {
            self.fail(call, |tool| match tab.stage {
                Stage::Opening | Stage::Discarded => Refusal::NotOpened,
                Stage::Unused | Stage::Open => Refusal::TabLost { tool, lost },
            });
        }
    }

    /// Sees to it that a tab which was opened for nothing is closed.
    pub(super) fn discard(&mut self, id: TabId) {
        if let Some(tab) = self.tabs.get_mut(&id)
            && tab.stage == Stage::Opening
        {
            tab.stage = Stage::Discarded;
            tab.owner = None;
            self.ask_to_discard(id);
        }
    }

    /// Whether closing this tab would leave its browser without any: those that are on their way out
    /// do not count.
    pub(super) fn is_last(&self, id: TabId) -> bool {
        let browser = self.tabs.get(&id).map(|tab| tab.browser);
        let leaving = |id| self.calls.values().any(|call| call.task.closes(id));
        !self.tabs.iter().any(|(other, tab)| {
            *other != id
                && Some(tab.browser) == browser
                && tab.stage != Stage::Discarded
                && !leaving(*other)
        })
    }

    pub(super) fn tab_of(&self, browser: BrowserId, target: &TargetId) -> Option<TabId> {
        let connection = self.browsers.get(&browser)?.connection()?;
        connection.tabs.get(target).copied()
    }

    /// How a new tab begins, and whose it is.
    fn place(
        &self,
        browser: BrowserId,
        facts: &TabFacts,
        origin: &Origin,
    ) -> (Stage, Option<SessionId>) {
        match origin {
            Origin::Browser if facts.blank && self.is_launched(browser) => (Stage::Unused, None),
            Origin::Browser => (Stage::Open, None),
            Origin::Popup { opener } => {
                let opener = self.tab_of(browser, opener);
                let heir = opener.and_then(|id| self.tabs.get(&id)?.heir());
                (Stage::Open, heir)
            }
            Origin::Call(call) => match self.session_opening(browser, *call) {
                Some(session) => (Stage::Opening, Some(session)),
                None => (Stage::Discarded, None),
            },
            Origin::Spare => (Stage::Unused, None),
        }
    }

    /// The session whose `open_tab` waits for its tab.
    fn session_opening(&self, browser: BrowserId, call: CallId) -> Option<SessionId> {
        let call = self.calls.get(&call)?;
        let waits = matches!(call.task, Task::Open { tab: None, .. });
        (waits && call.browser == browser).then_some(call.session)
    }

    fn is_launched(&self, browser: BrowserId) -> bool {
        self.about(browser).is_some_and(|about| about.launched)
    }

    fn connection_mut(&mut self, browser: BrowserId) -> Option<&mut Connection> {
        self.browsers.get_mut(&browser)?.connection_mut()
    }

    fn give_tab(&mut self, call: CallId, id: TabId) {
        if let Some(call) = self.calls.get_mut(&call)
            && let Task::Open { tab, .. } = &mut call.task
        {
            *tab = Some(id);
        }
    }

    fn ask_to_discard(&mut self, id: TabId) {
        let last = self.is_last(id);
        if let Some(tab) = self.tabs.get(&id) {
            let (browser, target) = (tab.browser, tab.target.clone());
            self.emit(Output::Discard {
                browser,
                target,
                last,
            });
        }
    }
}
