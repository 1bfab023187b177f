//! Connecting to browsers, one attempt at a time; losing and reconnecting them.

use super::Core;
use super::plan::Plan;
use crate::browser::{Browser, Connection, Link};
use crate::call::Task;
use crate::timers::Timer;
use crate::{
    BrowserFacts, BrowserId, CallId, ConnectFailure, LostBrowser, Mode, Output, Refusal, Renewal,
    Reply, SessionId, TabFacts, TabOpener, TargetId, Time,
};

impl Core {
    /// Connects to a browser, unless an attempt is already running. Waiting calls then continue or fail.
    pub(super) fn connect(&mut self, id: BrowserId, launch: bool) {
        match self.browsers.get(&id).map(|browser| &browser.link) {
            Some(Link::Connected(_)) => self.join_waiting(id),
            Some(Link::Pending | Link::Disconnected) => self.attempt(id, launch, false),
            Some(Link::Connecting { .. }) | None => {}
        }
    }

    /// The agent wants the browser connected now, and started if necessary. A pause between two attempts is
    /// skipped.
    pub(super) fn reconnect(&mut self, id: BrowserId) {
        match self.browsers.get(&id).map(|browser| &browser.link) {
            Some(Link::Connected(_)) => self.join_waiting(id),
            Some(Link::Connecting { retry_at: None, .. }) | None => {}
            Some(&Link::Connecting {
                retry_at: Some(at), ..
            }) => {
                self.timers.disarm(at, Timer::Retry(id));
                self.attempt(id, true, true);
            }
            Some(Link::Pending | Link::Disconnected) => self.attempt(id, true, true),
        }
    }

    /// The pause between two attempts is over.
    pub(super) fn retry(&mut self, id: BrowserId) {
        let wanted = self.has_sessions(id);
        match self.browsers.get_mut(&id) {
            Some(browser) if !wanted => {
                browser.link = Link::Disconnected;
                self.forget_unwanted(id);
            }
            Some(Browser {
                link:
                    Link::Connecting {
                        launch,
                        retry_at: Some(_),
                        ..
                    },
                ..
            }) => {
                let launch = *launch;
                self.attempt(id, launch, false);
            }
            _ => {}
        }
    }

    pub(super) fn connected(
        &mut self,
        id: BrowserId,
        about: BrowserFacts,
        tabs: Vec<TabFacts>,
        (front, replaces): (Option<TargetId>, bool),
    ) {
        let Some(browser) = self.browsers.get_mut(&id) else {
            return;
        };
        let Link::Connecting { .. } = browser.link else {
            return;
        };
        browser.link = Link::Connected(Connection::new(about, front));
        browser.failures = 0;
        let named = browser.named;
        (browser.last_error, browser.away, browser.cooldown) = (None, None, None);
        let was_connected = std::mem::replace(&mut browser.was_connected, true);
        self.unchecked.browsers.insert(id);
        self.unchecked.page_tools.insert(id);
        let renewal = match (replaces, was_connected) {
            (true, _) => Some(Renewal::Replaced),
            (false, true) => Some(Renewal::Reconnected),
            (false, false) => None,
        };
        for tab in tabs {
            self.tab_appeared(id, tab, TabOpener::Browser);
        }
        for session in self.sessions_meaning(id) {
            // A session that was told that it is disconnected stays so until it calls `connect_browser`.
            if self.will_reconnect(session, id) {
                self.connect_session(session, id);
            }
        }
        self.forget_remembered(id);
        for session in self.sessions_meaning(id) {
            self.restore_tabs(session);
            if let Some(browser_binding) = self.browser_binding_mut(session, id) {
                // What was not told yet is still true.
                let told = renewal.filter(|_| browser_binding.known);
                browser_binding.renewal = browser_binding.renewal.max(told);
            }
        }
        self.join_waiting(id);
        for call in self.waiting_for(id) {
            self.resume(call);
        }
        if named {
            // The sessions that wanted it may have ended meanwhile.
            self.disconnect_if_unused(id);
        }
    }

    /// An attempt waits for its turn. The calls that wait for it begin their time again.
    pub(super) fn still_connecting(&mut self, id: BrowserId) {
        let link = self.browsers.get(&id).map(|browser| &browser.link);
        if !matches!(link, Some(Link::Connecting { .. })) {
            return;
        }
        for id in self.waiting_for(id) {
            let Some(call) = self.calls.get_mut(id) else {
                continue;
            };
            let before = call.deadline;
            call.deadline = call.latest.min(self.now + call.limit).max(before);
            let now = call.deadline;
            self.timers.disarm(before, Timer::Deadline(id));
            self.timers.arm(now, Timer::Deadline(id));
        }
    }

    pub(super) fn connect_failed(&mut self, id: BrowserId, failure: ConnectFailure) {
        let Some(browser) = self.browsers.get_mut(&id) else {
            return;
        };
        let Link::Connecting {
            launch: launched,
            since,
            ..
        } = browser.link
        else {
            return;
        };
        let is_away = matches!(failure, ConnectFailure::Away { .. });
        browser.last_error = Some(failure.error().into());
        browser.away = is_away.then(|| failure.clone());
        if self.will_retry(id, &failure) {
            return;
        }
        let Some(browser) = self.browsers.get_mut(&id) else {
            return;
        };
        browser.link = Link::Disconnected;
        let failures = std::mem::take(&mut browser.failures);
        browser.cooldown = (browser.named && failures > 0).then(|| self.now + self.config.cooldown);

        // A call that may launch a browser joined an attempt that may not: try again with launching.
        let may_launch = !launched && failure == ConnectFailure::NotFound;
        // A call that came during this wait for the extension has not waited its full time.
        let (retry, give_up): (Vec<_>, Vec<_>) =
            self.waiting_for(id).into_iter().partition(|call| {
                may_launch && self.would_launch(*call) || is_away && self.came_after(*call, since)
            });
        if retry.is_empty() {
            self.give_up_reconnect(id, is_away);
        }
        self.end_all(give_up, |core, call| core.give_up(call, failure.clone()));
        if retry.is_empty() {
            self.forget_unwanted(id);
        } else {
            self.attempt(id, launched || may_launch, false);
        }
    }

    /// Retries a browser that a user named several times, with growing pauses, for calls that need it.
    /// `connect_browser` calls fail at once.
    fn will_retry(&mut self, id: BrowserId, failure: &ConnectFailure) -> bool {
        let asking = self.calls_needing(id, |call| matches!(call.task(), Task::Connect { .. }));
        let needed = self.waiting_for(id).len() > asking.len() || self.is_followed(id);
        let (tries, pause) = (self.config.connect_tries, self.config.connect_pause);
        let Some(browser) = self.browsers.get_mut(&id) else {
            return false;
        };
        let is_final = match failure {
            ConnectFailure::NotFound | ConnectFailure::Away { .. } => true,
            ConnectFailure::Failed { .. } => false,
        };
        if !browser.named || !needed || is_final {
            return false;
        }
        browser.failures += 1;
        if browser.failures >= tries {
            return false;
        }
        let at = self.now + pause * 2_u32.saturating_pow(browser.failures - 1);
        if let Link::Connecting { retry_at, .. } = &mut browser.link {
            *retry_at = Some(at);
        }
        self.timers.arm(at, Timer::Retry(id));
        for call in asking {
            self.give_up(call, failure.clone());
        }
        true
    }

    /// Whether a static session worked in a lost browser: then the core reconnects without a call.
    fn is_followed(&self, id: BrowserId) -> bool {
        let browser = self.browsers.get(&id);
        let was_connected = browser.is_some_and(|browser| browser.was_connected);
        let mut sessions = self.sessions.of_browser(id);
        was_connected && sessions.any(|session| self.mode(session) == Some(Mode::Static))
    }

    pub(super) fn browser_gone(&mut self, id: BrowserId, reason: &str) {
        self.lose_browser(id, reason, false);
    }

    /// A browser is gone, or only the connection to it (`stays`).
    pub(super) fn lose_browser(&mut self, id: BrowserId, reason: &str, stays: bool) {
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
            Link::Connected(_) => {}
        }
        browser.last_error = Some(reason.into());
        let named = browser.named;
        self.disconnect(id);
        let calls = self.calls_needing(id, |_| true);
        let told = self.sessions_of(&calls);
        let until = self.now + self.config.away;
        for session in self.sessions_meaning(id) {
            let mode = self.mode(session).unwrap_or_default();
            match self.browser_binding_mut(session, id) {
                Some(browser_binding) if stays => browser_binding.lose_connection(mode, until),
                Some(browser_binding) => {
                    browser_binding.lose_browser(mode, told.contains(&session))
                }
                None => {}
            }
        }
        self.end_all(calls, |core, call| {
            core.fail(call, |tool, mode| Refusal::BrowserLost {
                tool,
                reason: reason.to_owned(),
                // The same call connects again.
                mode: if stays { Mode::Static } else { mode },
            });
        });
        self.forget_unwanted(id);
        if named && self.is_followed(id) {
            self.attempt(id, false, false);
        }
    }

    fn attempt(&mut self, id: BrowserId, launch: bool, start: bool) {
        if let Some(browser) = self.browsers.get_mut(&id) {
            browser.link = Link::Connecting {
                launch,
                since: self.now,
                retry_at: None,
            };
            let key = browser.key.clone();
            self.emit(Output::Connect {
                browser: id,
                key,
                launch,
                start,
            });
        }
    }

    /// If a call waits for an extension that is not connected: the failure of the last attempt.
    pub(super) fn away_failure(&self, id: CallId) -> Option<ConnectFailure> {
        let call = self.calls.get(&id)?;
        let waits = matches!(
            call.task(),
            Task::Connect { .. } | Task::Reconnect { .. } | Task::Await { .. }
        );
        let browser = call.browser().filter(|_| waits)?;
        self.browsers.get(&browser)?.away.clone()
    }

    /// Answers a call whose browser could not be connected.
    pub(super) fn give_up(&mut self, id: CallId, failure: ConnectFailure) {
        let reply = match self.calls.get(&id) {
            Some(call) if matches!(call.task(), Task::Await { .. } | Task::Reconnect { .. }) => {
                let tool = call.tool;
                Reply::Refused(match self.mode(call.session) {
                    Some(Mode::Progressive) => LostBrowser::Unreachable { tool, failure }.into(),
                    _ => Refusal::NoBrowser { tool, failure },
                })
            }
            _ => Reply::NotConnected(failure),
        };
        self.answer(id, reply);
    }

    /// Connects the sessions of all waiting `connect_browser` calls to a connected browser, and answers waiting
    /// `reconnect_browser` calls. All notices come before the answers.
    fn join_waiting(&mut self, id: BrowserId) {
        let Some(about) = self.about(id).cloned() else {
            return;
        };
        let waiting = self.calls_needing(id, |call| matches!(call.task(), Task::Connect { .. }));
        for session in self.sessions_of(&waiting) {
            self.connect_session(session, id);
            self.restore_tabs(session);
            // A session that is bound to its tab again has its notice already.
            if self.focused(session, id).is_none() {
                self.announce(session);
            }
        }
        for call in waiting {
            let Some(session) = self.calls.get(&call).map(|call| call.session) else {
                continue;
            };
            let reply = Reply::Connected {
                name: about.name.clone(),
                version: about.version.clone(),
                tab_count: self.shown(session, id).count(),
            };
            self.answer(call, reply);
        }
        let reconnecting =
            self.calls_needing(id, |call| matches!(call.task(), Task::Reconnect { .. }));
        for call in reconnecting {
            let Some(session) = self.calls.get(&call).map(|call| call.session) else {
                continue;
            };
            self.announce_if_changed(session);
            if let Ok(Plan::Answer(reply)) = self.browser_answer(session, id) {
                self.answer(call, reply);
            }
        }
    }

    pub(super) fn about(&self, id: BrowserId) -> Option<&BrowserFacts> {
        Some(&self.browsers.get(&id)?.connection()?.about)
    }

    /// Whether the session is connected to this browser.
    pub(super) fn is_connected(&self, session: SessionId, browser: BrowserId) -> bool {
        let browser_binding = self.browser_binding(session, browser);
        browser_binding.is_some_and(|browser_binding| {
            browser_binding.focus.is_some() && self.about(browser).is_some()
        })
    }

    pub(super) fn sessions_meaning(&self, id: BrowserId) -> Vec<SessionId> {
        self.sessions.of_browser(id).collect()
    }

    /// Whether a session could still use a browser.
    pub fn has_sessions(&self, id: BrowserId) -> bool {
        self.sessions.of_browser(id).next().is_some()
    }

    /// Whether a `connect_browser` call waits for a browser.
    pub fn is_asked_for(&self, id: BrowserId) -> bool {
        let mut calls = self.calls.of_browser(id);
        calls.any(|(_, call)| matches!(call.task(), Task::Connect { .. }))
    }

    /// The calls that wait for a connection to a browser.
    pub fn waiting_for(&self, id: BrowserId) -> Vec<CallId> {
        self.calls_needing(id, |call| {
            matches!(
                call.task(),
                Task::Connect { .. } | Task::Reconnect { .. } | Task::Await { .. }
            )
        })
    }

    /// Whether a session's call launches the browser that it needs. In progressive mode the agent decides with
    /// `connect_browser`.
    pub(super) fn launches_for_calls(&self, session: SessionId) -> bool {
        self.mode(session) == Some(Mode::Static)
    }

    fn came_after(&self, call: CallId, time: Time) -> bool {
        let call = self.calls.get(&call);
        // Its deadline may have been moved since.
        call.is_some_and(|call| call.latest > time + self.config.most_deadline)
    }

    fn would_launch(&self, call: CallId) -> bool {
        self.calls
            .get(&call)
            .is_some_and(|call| match *call.task() {
                Task::Connect { launch } => launch,
                Task::Reconnect { .. } => true,
                Task::Await { .. } => self.launches_for_calls(call.session),
                _ => false,
            })
    }
}
