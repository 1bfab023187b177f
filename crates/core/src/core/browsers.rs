//! A session's browsers: which one a call is for, and how they are added and removed.

use super::Core;
use super::plan::Plan;
use crate::browser::Link;
use crate::call::Task;
use crate::session::{BrowserBinding, Session};
use crate::{
    BrowserId, BrowserRef, BrowserRow, CallKind, Mode, OnEnd, Output, Refusal, Reply, SessionId,
};

impl Core {
    /// The browser that a call is for. With one browser `browserIndex` must be absent, with several it must be
    /// present.
    pub(super) fn browser_of_call(
        &self,
        session: SessionId,
        kind: &CallKind,
        given: Option<i64>,
    ) -> Result<BrowserId, Refusal> {
        let tool = kind.tool();
        let known = self.sessions.get(&session).ok_or(Refusal::NoSession)?;
        if let ([only], Some(_)) = (&known.browser_bindings[..], given) {
            // `select_default_browser` takes the number even if there is only one.
            if !matches!(kind, CallKind::SelectDefaultBrowser) {
                return Err(Refusal::IndexForbidden);
            }
            return browser_binding_given(known, given, only)
                .map(|browser_binding| browser_binding.browser);
        }
        let browser_binding = match (&known.browser_bindings[..], known.config.mode, given) {
            ([], ..) => return Err(Refusal::NoBrowserLeft { tool }),
            ([only], _, None) => only,
            ([first, ..], Mode::Progressive, None) if !is_connect(kind) => {
                known.home_browser_binding().unwrap_or(first)
            }
            (_, Mode::Progressive, Some(_)) if !is_connect(kind) => {
                return Err(Refusal::IndexMisplaced { tool });
            }
            ([first, ..], _, Some(_)) => browser_binding_given(known, given, first)?,
            (_, _, None) => known
                .default
                .and_then(|number| known.browser_binding_numbered(number))
                .ok_or_else(|| Refusal::IndexRequired {
                    tool,
                    available: numbers(known),
                    mode: known.config.mode,
                })?,
        };
        Ok(browser_binding.browser)
    }

    /// `reconnect_browser`, `disconnect_browser` and `select_default_browser`.
    pub(super) fn plan_browsers(
        &mut self,
        session: SessionId,
        browser: BrowserId,
        kind: &CallKind,
    ) -> Result<Plan, Refusal> {
        let tool = kind.tool();
        match kind {
            CallKind::ReconnectBrowser { force } => {
                if self.about(browser).is_some() {
                    return self.browser_answer(session, browser);
                }
                if !force {
                    self.check_cooldown(session, browser, tool)?;
                }
                let added = false;
                Ok(Plan::Work(Some(browser), Task::Reconnect { added }))
            }
            CallKind::DisconnectBrowser => {
                let number = self
                    .browser_binding(session, browser)
                    .map(|browser_binding| browser_binding.number);
                let number = number.ok_or(Refusal::NoBrowserLeft { tool })?;
                self.detach_browser(session, browser, "disconnect_browser was called");
                Ok(Plan::Answer(Reply::Disconnected { number }))
            }
            CallKind::SelectDefaultBrowser => {
                if let Some(known) = self.sessions.get_mut(session) {
                    known.default = known
                        .browser_binding(browser)
                        .map(|browser_binding| browser_binding.number);
                }
                self.browser_answer(session, browser)
            }
            _ => Err(Refusal::NotOffered { tool }),
        }
    }

    /// `add_browser`: adds a browser, which is removed again if it cannot be connected.
    pub(super) fn plan_addition(
        &mut self,
        session: SessionId,
        wanted: &BrowserRef,
    ) -> Result<Plan, Refusal> {
        let known = self.sessions.get(&session).ok_or(Refusal::NoSession)?;
        let limit = self.config.browsers_per_session;
        let taken = known.browser_bindings.iter().find(|browser_binding| {
            let browser = self.browsers.get(&browser_binding.browser);
            browser.is_some_and(|browser| browser.key == wanted.key)
        });
        if let Some(browser_binding) = taken {
            return Err(Refusal::BrowserKnown {
                number: browser_binding.number,
                label: browser_binding.label.clone(),
            });
        }
        if known.browser_bindings.len() >= limit {
            return Err(Refusal::TooManyBrowsers { limit });
        }
        let browser = self.entry(wanted);
        self.sessions.bind_browser(session, wanted, browser);
        self.unchecked.sessions.insert(session);
        if self.about(browser).is_some() {
            return self.browser_answer(session, browser);
        }
        let added = true;
        Ok(Plan::Work(Some(browser), Task::Reconnect { added }))
    }

    /// Removes a browser from a session: its calls there end, and the tabs that it created there are closed.
    pub(super) fn detach_browser(&mut self, session: SessionId, browser: BrowserId, why: &str) {
        let calls = self.calls_of(session, |call| call.browser() == Some(browser));
        self.end_all(calls, |core, call| {
            core.fail(call, |tool, mode| Refusal::BrowserLost {
                tool,
                reason: why.to_owned(),
                mode,
            });
        });
        if self.on_end(session) == Some(OnEnd::Close) {
            self.discard_all(session, browser);
        }
        self.release_all(session, browser);
        self.sessions.release_browser(session, browser);
        self.unchecked.sessions.insert(session);
        self.persistence_version += 1;
        self.disconnect_if_unused(browser);
    }

    /// Disconnects a browser that no session uses any more.
    pub(super) fn disconnect_if_unused(&mut self, id: BrowserId) {
        let wanted = self.has_sessions(id);
        let connected = self.about(id).is_some();
        if !wanted && connected {
            self.emit(Output::Disconnect { browser: id });
            self.disconnect(id);
        }
        self.forget_unwanted(id);
    }

    /// Refuses a call whose browser is in its cooldown.
    pub(super) fn check_cooldown(
        &self,
        session: SessionId,
        browser: BrowserId,
        tool: crate::ToolName,
    ) -> Result<(), Refusal> {
        let known = self.browsers.get(&browser);
        let until = known.and_then(|known| known.cooldown);
        let (Some(known), Some(until)) = (known, until.filter(|until| *until > self.now)) else {
            return Ok(());
        };
        let browser_binding = self
            .browser_binding(session, browser)
            .ok_or(Refusal::NoSession)?;
        let sessions = self.sessions.get(&session);
        Err(Refusal::CoolingDown {
            tool,
            number: browser_binding.number,
            label: browser_binding.label.clone(),
            error: known.last_error.clone().unwrap_or_default(),
            left: until.since(self.now),
            several: sessions.is_some_and(Session::has_several),
        })
    }

    /// The session's browsers, by number.
    pub(super) fn browser_rows(&self, session: SessionId) -> Vec<BrowserRow> {
        let known = self.sessions.get(&session);
        let browser_bindings = known.map_or(&[][..], |known| &known.browser_bindings[..]);
        let default = known.and_then(|known| known.default);
        let rows = browser_bindings.iter().filter_map(|browser_binding| {
            let browser = self.browsers.get(&browser_binding.browser)?;
            let about = browser.connection().map(|connection| &connection.about);
            Some(BrowserRow {
                index: browser_binding.number,
                label: browser_binding.label.clone(),
                name: about.map(|about| about.name.clone()),
                state: browser.state(),
                error: match browser.link {
                    Link::Disconnected => browser.last_error.clone(),
                    _ => None,
                },
                is_default: default == Some(browser_binding.number),
            })
        });
        rows.collect()
    }

    /// The state of one of the session's browsers, as an answer.
    pub(super) fn browser_answer(
        &self,
        session: SessionId,
        browser: BrowserId,
    ) -> Result<Plan, Refusal> {
        let number = self
            .browser_binding(session, browser)
            .map(|browser_binding| browser_binding.number);
        let mut rows = self.browser_rows(session).into_iter();
        let row = rows.find(|row| Some(row.index) == number);
        row.map(|browser| Plan::Answer(Reply::Browser { browser }))
            .ok_or(Refusal::NoSession)
    }

    /// The browsers that a session can use, connected or not.
    pub(super) fn browsers_of(&self, session: SessionId) -> impl Iterator<Item = BrowserId> {
        let known = self.sessions.get(&session);
        known.into_iter().flat_map(Session::browsers)
    }

    pub(super) fn browser_binding(
        &self,
        session: SessionId,
        browser: BrowserId,
    ) -> Option<&BrowserBinding> {
        self.sessions.get(&session)?.browser_binding(browser)
    }

    pub(super) fn browser_binding_mut(
        &mut self,
        session: SessionId,
        browser: BrowserId,
    ) -> Option<&mut BrowserBinding> {
        self.sessions.get_mut(session)?.browser_binding_mut(browser)
    }

    fn on_end(&self, session: SessionId) -> Option<OnEnd> {
        Some(self.sessions.get(&session)?.config.on_end)
    }
}

fn is_connect(kind: &CallKind) -> bool {
    matches!(kind, CallKind::ConnectBrowser { .. })
}

/// The browser with the given number; `first` if none was given.
fn browser_binding_given<'a>(
    known: &'a Session,
    given: Option<i64>,
    first: &'a BrowserBinding,
) -> Result<&'a BrowserBinding, Refusal> {
    let Some(given) = given else {
        return Ok(first);
    };
    let number = usize::try_from(given).ok();
    let browser_binding = number.and_then(|number| known.browser_binding_numbered(number));
    browser_binding.ok_or_else(|| Refusal::UnknownBrowser {
        given,
        available: numbers(known),
        mode: known.config.mode,
    })
}

fn numbers(known: &Session) -> Vec<usize> {
    known
        .browser_bindings
        .iter()
        .map(|browser_binding| browser_binding.number)
        .collect()
}
