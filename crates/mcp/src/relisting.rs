//! Detects a client that does not fetch its tool list again after a change, so that later answers can
//! name the new tools.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tabmux_protocol::ToolInfo;
use tokio::time::Instant;

/// What one client knows about its list.
#[derive(Debug, Default)]
pub(crate) struct Relisting {
    // Locked briefly.
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The names that it fetched last; `None` before its first fetch.
    known: Option<BTreeSet<String>>,
    /// When it was notified of a change, while it still has time to fetch.
    notified: Option<Instant>,
    /// How many notifications in a row it has ignored.
    ignored: u32,
}

impl Relisting {
    /// The client fetched its list.
    pub(crate) fn fetched(&self, tools: &[ToolInfo]) {
        let mut state = self.lock();
        state.known = Some(tools.iter().map(|tool| tool.name.clone()).collect());
        (state.notified, state.ignored) = (None, 0);
    }

    /// The client was notified that its list changed.
    pub(crate) fn notified(&self, now: Instant) {
        let mut state = self.lock();
        state.count(now);
        state.notified.get_or_insert(now);
    }

    /// Whether the client keeps using an old list.
    pub(crate) fn is_ignored(&self, now: Instant) -> bool {
        let mut state = self.lock();
        state.count(now);
        state.known.is_some() && state.ignored >= MOST_IGNORED
    }

    /// A sentence with the names of tools that the client does not know.
    pub(crate) fn describe_new(&self, tools: &[ToolInfo]) -> Option<String> {
        let state = self.lock();
        let known = state.known.as_ref()?;
        let names = tools.iter().map(|tool| tool.name.as_str());
        let missed: Vec<_> = names.filter(|name| !known.contains(*name)).collect();
        let (shown, more) = missed.split_at(missed.len().min(MOST_NAMES));
        let more = match more.len() {
            0 => String::new(),
            count => format!(" and {count} more"),
        };
        (!shown.is_empty()).then(|| {
            format!(
                "New tools since the list was last fetched: {}{more}. They can be called by name; \
                 tools/list has their schemas.",
                shown.join(", ")
            )
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn count(&mut self, now: Instant) {
        if self
            .notified
            .is_some_and(|notified| now - notified >= TIME_TO_FETCH)
        {
            self.notified = None;
            self.ignored += 1;
        }
    }
}

const TIME_TO_FETCH: Duration = Duration::from_secs(2);
const MOST_IGNORED: u32 = 2;
const MOST_NAMES: usize = 30;

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Map;

    fn tools(names: &[&str]) -> Vec<ToolInfo> {
        let tool = |name: &&str| ToolInfo {
            name: (*name).to_owned(),
            description: String::new(),
            input_schema: Map::new().into(),
            output_schema: None,
            hints: None,
        };
        names.iter().map(tool).collect()
    }

    /// Spec: decisions 16.
    #[test]
    fn a_client_that_ignores_two_changes_learns_the_new_names() {
        let (relisting, start) = (Relisting::default(), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        relisting.fetched(&tools(&["first"]));
        relisting.notified(at(0));
        assert!(!relisting.is_ignored(at(1)), "it has time");
        assert!(!relisting.is_ignored(at(3)), "once may be chance");
        relisting.notified(at(10));
        assert!(relisting.is_ignored(at(13)));
        let text = relisting.describe_new(&tools(&["first", "second", "third"]));
        assert!(
            text.unwrap()
                .contains(": second, third. They can be called")
        );
        relisting.fetched(&tools(&["second", "third"]));
        assert!(!relisting.is_ignored(at(20)), "it has learnt");
        assert_eq!(relisting.describe_new(&tools(&["second"])), None);
    }

    #[test]
    fn a_client_that_fetches_in_time_gets_no_notification() {
        let (relisting, start) = (Relisting::default(), Instant::now());
        for round in 0..5 {
            let notified = start + Duration::from_secs(round * 10);
            relisting.notified(notified);
            relisting.fetched(&tools(&["a"]));
            assert!(!relisting.is_ignored(notified + Duration::from_secs(5)));
        }
    }
}
