//! The core together with the clock, which the core itself must not read.

use std::ops::Deref;
use std::time::Duration;
use tabmux_core::{BrowserId, Core, Input, Output, SessionId, ShownTab, TabId, TargetId, Time};
use tokio::time::Instant;

/// The core, and the time at which it was started.
pub(crate) struct TimedCore {
    core: Core,
    started: Instant,
}

impl TimedCore {
    pub(crate) fn start(core: Core) -> Self {
        Self {
            core,
            started: Instant::now(),
        }
    }

    /// Passes an input to the core, with the current time.
    pub(crate) fn input(&mut self, input: Input) {
        let now = self.now();
        self.core.handle(now, input);
    }

    /// The session's number of a tab, assigned now if it has none.
    pub(crate) fn assigned_number(
        &mut self,
        session: SessionId,
        browser: BrowserId,
        target: &TargetId,
    ) -> Option<TabId> {
        self.core.assigned_number(session, browser, target)
    }

    /// The tabs that a session sees.
    pub(crate) fn shown_tabs(&mut self, session: SessionId) -> Vec<ShownTab> {
        self.core.shown_tabs(session)
    }

    /// The client is about to fetch a session's list.
    pub(crate) fn list_is_fetched(&mut self, session: SessionId) {
        self.core.list_is_fetched(session);
    }

    /// The next output that has to be carried out.
    pub(crate) fn next_output(&mut self) -> Option<Output> {
        self.core.poll_output()
    }

    /// Resolves when the core wants to be woken; never, if it waits for nothing.
    pub(crate) fn alarm(&self) -> impl Future<Output = ()> + use<> {
        let at = self.core.poll_timeout();
        let at = at.map(|alarm| self.started + alarm.elapsed());
        async move {
            match at {
                Some(at) => tokio::time::sleep_until(at).await,
                None => std::future::pending().await,
            }
        }
    }

    /// Wakes the core.
    pub(crate) fn wake(&mut self) {
        let now = self.now();
        self.core.handle_timeout(now);
    }

    pub(crate) fn started(&self) -> Instant {
        self.started
    }

    pub(crate) fn uptime(&self) -> Duration {
        self.started.elapsed()
    }

    fn now(&self) -> Time {
        Time::since_start(self.uptime())
    }
}

/// What the core knows can be read without the time.
impl Deref for TimedCore {
    type Target = Core;

    fn deref(&self) -> &Core {
        &self.core
    }
}
