//! Browsers are connected, one attempt at a time, and lost.

use super::Core;
use crate::browser::{Connection, Link};
use crate::call::Task;
use crate::session::Focus;
use crate::{
    BrowserFacts, BrowserId, CallId, ConnectFailure, Origin, Output, Refusal, Reply, SessionId,
    TabFacts, TargetId,
};

impl Core {
    /// Sees to it that those who wait for this browser get it, or word of it.
    pub(super) fn connect(&mut self, id: BrowserId, launch: bool) {
        match self.browsers.get(&id).map(|browser| &browser.link) {
            Some(Link::Connected(_)) => self.join_waiting(id),
            Some(Link::Pending | Link::Disconnected) => self.attempt(id, launch),
            Some(Link::Connecting { .. }) | None => {}
        }
    }

    pub(super) fn connected(
        &mut self,
        id: BrowserId,
        about: BrowserFacts,
        tabs: Vec<TabFacts>,
        front: Option<TargetId>,
    ) {
        let Some(browser) = self.browsers.get_mut(&id) else {
            return;
        };
        let Link::Connecting { .. } = browser.link else {
            return;
        };
        browser.link = Link::Connected(Connection::new(about, front));
        for tab in tabs {
            self.tab_appeared(id, tab, Origin::Browser);
        }
        for session in self.sessions_meaning(id) {
            self.inherit(session);
        }
        self.join_waiting(id);
        for call in self.waiting_for(id) {
            self.resume(call);
        }
    }

    pub(super) fn connect_failed(&mut self, id: BrowserId, failure: ConnectFailure) {
        let Some(browser) = self.browsers.get_mut(&id) else {
            return;
        };
        let Link::Connecting { launch: launched } = browser.link else {
            return;
        };
        browser.link = Link::Disconnected;

        // A caller that would launch joined an attempt that would not: now it is its turn.
        let may_launch = !launched && failure == ConnectFailure::NotFound;
        let (retry, give_up): (Vec<_>, Vec<_>) = self
            .waiting_for(id)
            .into_iter()
            .partition(|call| may_launch && self.would_launch(*call));
        for call in give_up {
            self.give_up(call, failure.clone());
        }
        if retry.is_empty() {
            self.forget_unwanted(id);
        } else {
            self.attempt(id, true);
        }
    }

    pub(super) fn browser_gone(&mut self, id: BrowserId, reason: &str) {
        let Some(browser) = self.browsers.get_mut(&id) else {
            return;
        };
        match browser.link {
            Link::Pending | Link::Disconnected => return,
            Link::Connecting { .. } => {
                let error = format!("The browser is gone: {reason}");
                let instructions = "Try again".to_owned();
                let failure = ConnectFailure::Failed {
                    error,
                    instructions,
                };
                return self.connect_failed(id, failure);
            }
            Link::Connected(_) => browser.link = Link::Disconnected,
        }
        self.tabs.retain(|_, tab| tab.browser != id);
        let calls = self.calls_where(|call| call.browser == id);
        let told = self.sessions_of(&calls);
        for (session, known) in &mut self.sessions {
            if known.browser == id {
                known.lose_browser(told.contains(session));
            }
        }
        self.end_all(calls, |core, call| {
            core.fail(call, |tool, mode| Refusal::BrowserLost {
                tool,
                reason: reason.to_owned(),
                mode,
            });
        });
        self.forget_unwanted(id);
    }

    fn attempt(&mut self, id: BrowserId, launch: bool) {
        if let Some(browser) = self.browsers.get_mut(&id) {
            browser.link = Link::Connecting { launch };
            let key = browser.key.clone();
            self.emit(Output::Connect {
                browser: id,
                key,
                launch,
            });
        }
    }

    /// Answers a call whose browser could not be connected.
    fn give_up(&mut self, id: CallId, failure: ConnectFailure) {
        let reply = match self.calls.get(&id) {
            Some(call) if matches!(call.task, Task::Await { .. }) => {
                let tool = call.tool;
                Reply::Refused(Refusal::NoBrowser { tool, failure })
            }
            _ => Reply::NotConnected(failure),
        };
        self.answer(id, reply);
    }

    /// Joins everybody who called `connect_browser` to a connected browser: first all notices, then
    /// all answers.
    fn join_waiting(&mut self, id: BrowserId) {
        let Some(about) = self.about(id).cloned() else {
            return;
        };
        let waiting = self
            .calls_where(|call| call.browser == id && matches!(call.task, Task::Connect { .. }));
        for session in self.sessions_of(&waiting) {
            if let Some(known) = self.sessions.get_mut(&session) {
                known.focus = Some(Focus::Nothing);
                self.announce(session);
            }
        }
        for id in waiting {
            let Some(call) = self.calls.get(&id) else {
                continue;
            };
            let reply = Reply::Connected {
                name: about.name.clone(),
                version: about.version.clone(),
                tab_count: self.shown(call.session).count(),
            };
            self.answer(id, reply);
        }
    }

    pub(super) fn about(&self, id: BrowserId) -> Option<&BrowserFacts> {
        Some(&self.browsers.get(&id)?.connection()?.about)
    }

    /// Whether the session has its browser now.
    pub(super) fn is_connected(&self, session: SessionId) -> bool {
        self.sessions
            .get(&session)
            .is_some_and(|known| known.focus.is_some() && self.about(known.browser).is_some())
    }

    fn sessions_meaning(&self, id: BrowserId) -> Vec<SessionId> {
        let meant = self
            .sessions
            .iter()
            .filter(|(_, known)| known.browser == id);
        meant.map(|(session, _)| *session).collect()
    }

    fn waiting_for(&self, id: BrowserId) -> Vec<CallId> {
        self.calls_where(|call| {
            call.browser == id && matches!(call.task, Task::Connect { .. } | Task::Await { .. })
        })
    }

    fn would_launch(&self, call: CallId) -> bool {
        self.calls.get(&call).is_some_and(|call| {
            matches!(
                call.task,
                Task::Connect { launch: true } | Task::Await { .. }
            )
        })
    }
}
