//! What the driver decides once, before anything happens.

use crate::ToolName;
use std::time::Duration;

/// Settings that hold for the core's whole life.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The generic page actions, in any order: the core publishes them sorted by name.
    pub page_actions: Vec<ToolName>,
    /// How long list changes that no agent asked for are gathered before they are announced.
    pub coalesce: Duration,
    /// The shortest deadline of a call.
    pub least_deadline: Duration,
    /// What a call may take beyond the `timeout` its agent asked for.
    pub deadline_margin: Duration,
    /// The longest deadline of a call, whatever its agent asked for.
    pub most_deadline: Duration,
    /// How many sessions may be open at once.
    pub sessions: usize,
    /// How many calls of one session may be open at once.
    pub calls_per_session: usize,
    /// How many calls may be at work or waiting on one tab; [`Access::Bypass`] does not count.
    ///
    /// [`Access::Bypass`]: crate::Access::Bypass
    pub calls_per_tab: usize,
}

impl Config {
    /// How long a call may take, queueing included, if its agent asked for `timeout`.
    pub(crate) fn deadline(&self, timeout: Option<Duration>) -> Duration {
        timeout
            .map_or(Duration::ZERO, |timeout| {
                timeout.saturating_add(self.deadline_margin)
            })
            .max(self.least_deadline)
            .min(self.most_deadline)
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            page_actions: Vec::new(),
            coalesce: Duration::from_millis(25),
            least_deadline: Duration::from_secs(30),
            deadline_margin: Duration::from_secs(1),
            most_deadline: Duration::from_secs(600),
            sessions: 100,
            calls_per_session: 128,
            calls_per_tab: 64,
        }
    }
}
