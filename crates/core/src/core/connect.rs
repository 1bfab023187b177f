//! Browsers are connected, one attempt at a time, and lost.

use super::Core;
use crate::browser::Link;
use crate::call::Task;
use crate::session::Focus;
use crate::{
    BrowserFacts, BrowserId, CallId, ConnectFailure, Origin, Output, Refusal, Reply, SessionId,
    TabFacts,
};
use std::collections::{BTreeMap, BTreeSet};
use std::mem;

impl Core {
    /// Answers a `connect_browser` at once, or lets it wait for the one attempt there is.
    pub(super) fn connect(&mut self, call: CallId, browser: BrowserId, launch: bool) {
        let Some(known) = self.browsers.get_mut(&browser) else {
            return;
        };
        match &mut known.link {
            Link::Connected { .. } => self.join_sessions(browser, vec![call]),
            Link::Connecting { waiting, .. } => waiting.push(call),
            Link::Disconnected => self.attempt(browser, launch, vec![call]),
        }
    }

    pub(super) fn connected(&mut self, id: BrowserId, about: BrowserFacts, tabs: Vec<TabFacts>) {
        let Some(browser) = self.browsers.get_mut(&id) else {
            return;
        };
        let Link::Connecting { waiting, .. } = &mut browser.link else {
            return;
        };
        let waiting = mem::take(waiting);
        browser.link = Link::Connected {
            about,
            tabs: BTreeMap::new(),
        };
        for tab in tabs {
            self.tab_appeared(id, tab, Origin::Browser);
        }
        self.join_sessions(id, waiting);
    }

    pub(super) fn connect_failed(&mut self, id: BrowserId, failure: ConnectFailure) {
        let Some(browser) = self.browsers.get_mut(&id) else {
            return;
        };
        let Link::Connecting { launch, waiting } = &mut browser.link else {
            return;
        };
        let tried_without_launch = !*launch;
        let waiting = mem::take(waiting);
        browser.link = Link::Disconnected;

        // A caller that would launch joined an attempt that would not: now it is its turn.
        let may_launch = tried_without_launch && failure == ConnectFailure::NotFound;
        let (retry, give_up): (Vec<_>, Vec<_>) = waiting
            .into_iter()
            .partition(|call| may_launch && self.would_launch(*call));
        for call in give_up {
            self.answer(call, Reply::NotConnected(failure.clone()));
        }
        if retry.is_empty() {
            self.forget_unwanted(id);
        } else {
            self.attempt(id, true, retry);
        }
    }

    pub(super) fn browser_gone(&mut self, id: BrowserId, reason: &str) {
        let Some(browser) = self.browsers.get_mut(&id) else {
            return;
        };
        match browser.link {
            Link::Disconnected => return,
            Link::Connecting { .. } => {
                let error = format!("The browser is gone: {reason}");
                let instructions = "Call connect_browser again".to_owned();
                let failure = ConnectFailure::Failed {
                    error,
                    instructions,
                };
                return self.connect_failed(id, failure);
            }
            Link::Connected { .. } => browser.link = Link::Disconnected,
        }
        self.tabs.retain(|_, tab| tab.browser != id);
        for session in self.sessions.values_mut() {
            if session.browser == id {
                session.focus = None;
            }
        }
        for call in self.calls_where(|call| call.browser == id) {
            self.fail(call, |tool| Refusal::BrowserLost {
                tool,
                reason: reason.to_owned(),
            });
        }
        self.forget_unwanted(id);
    }

    fn attempt(&mut self, id: BrowserId, launch: bool, waiting: Vec<CallId>) {
        if let Some(browser) = self.browsers.get_mut(&id) {
            browser.link = Link::Connecting { launch, waiting };
            let key = browser.key.clone();
            self.emit(Output::Connect {
                browser: id,
                key,
                launch,
            });
        }
    }

    /// Joins the sessions of these calls to a connected browser: first all notices, then all answers.
    fn join_sessions(&mut self, id: BrowserId, calls: Vec<CallId>) {
        let Some(Link::Connected { about, .. }) = self.browsers.get(&id).map(|known| &known.link)
        else {
            return;
        };
        let (name, version) = (about.name.clone(), about.version.clone());
        let sessions: BTreeSet<SessionId> = calls
            .iter()
            .filter_map(|call| self.calls.get(call))
            .map(|call| call.session)
            .collect();
        for session in sessions {
            if let Some(known) = self.sessions.get_mut(&session) {
                known.focus = Some(Focus::Nothing);
                self.announce(session);
            }
        }
        for id in calls {
            let Some(call) = self.calls.get(&id) else {
                continue;
            };
            let reply = Reply::Connected {
                name: name.clone(),
                version: version.clone(),
                tab_count: self.shown(call.session).count(),
            };
            self.answer(id, reply);
        }
    }

    fn would_launch(&self, call: CallId) -> bool {
        self.calls
            .get(&call)
            .is_some_and(|call| matches!(call.task, Task::Connect { launch: true }))
    }
}
