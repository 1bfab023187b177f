//! What a client makes of a changed tool list: an answer waits until the client has the list that the
//! call changed, and later answers name what a client has missed that does not fetch its list again.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tabmux_protocol::ToolInfo;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout};

/// What one client knows of its list.
#[derive(Debug, Default)]
pub(crate) struct Relisting {
    // Locked for moments only.
    state: Mutex<State>,
    has_fetched: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// The names that it fetched last; none before its first time.
    known: Option<BTreeSet<String>>,
    /// When it was told of a change, as long as it has time to fetch.
    told: Option<Instant>,
    /// How often in a row it was told and did not.
    ignored: u32,
    /// An answer has waited for it without success, and it has not fetched since.
    is_slow: bool,
}

impl Relisting {
    /// The client fetched its list.
    pub(crate) fn fetched(&self, tools: &[ToolInfo]) {
        let mut state = self.lock();
        state.known = Some(tools.iter().map(|tool| tool.name.clone()).collect());
        (state.told, state.ignored, state.is_slow) = (None, 0, false);
        drop(state);
        self.has_fetched.notify_waiters();
    }

    /// Waits for a moment until the client has fetched a list that changed since `start`. Some clients
    /// offer their model what they know when the answer to a call comes, and would be a turn behind.
    pub(crate) async fn catches_up(&self, start: Instant) {
        let fetched = self.has_fetched.notified();
        let is_behind = {
            let state = self.lock();
            let is_new = state.told.is_some_and(|told| told >= start);
            is_new && state.known.is_some() && !state.is_slow
        };
        if !is_behind {
            return;
        }
        match timeout(LONGEST_WAIT, fetched).await {
            Ok(()) => sleep(TIME_TO_READ).await,
            Err(_) => self.lock().is_slow = true,
        }
    }

    /// The client was told that its list changed.
    pub(crate) fn told(&self, now: Instant) {
        let mut state = self.lock();
        state.count(now);
        state.told.get_or_insert(now);
    }

    /// Whether the client works on with an old list.
    pub(crate) fn is_ignored(&self, now: Instant) -> bool {
        let mut state = self.lock();
        state.count(now);
        state.known.is_some() && state.ignored >= PATIENCE
    }

    /// A sentence that names the tools which the client does not know of.
    pub(crate) fn news(&self, tools: &[ToolInfo]) -> Option<String> {
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
        if self.told.is_some_and(|told| now - told >= TIME_TO_FETCH) {
            self.told = None;
            self.ignored += 1;
        }
    }
}

const TIME_TO_FETCH: Duration = Duration::from_secs(2);
/// For how long an answer waits. Node.js clients on a busy machine take 60 ms.
const LONGEST_WAIT: Duration = Duration::from_millis(250);
/// What a client needs to read the list before the answer: both may come to it at once otherwise.
const TIME_TO_READ: Duration = Duration::from_millis(50);
const PATIENCE: u32 = 2;
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
            hints: None,
        };
        names.iter().map(tool).collect()
    }

    #[test]
    fn c_16_a_client_that_ignores_two_changes_is_told_what_it_missed() {
        let (relisting, start) = (Relisting::default(), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        relisting.fetched(&tools(&["connect_browser"]));
        relisting.told(at(0));
        assert!(!relisting.is_ignored(at(1)), "it has time");
        assert!(!relisting.is_ignored(at(3)), "once may be chance");
        relisting.told(at(10));
        assert!(relisting.is_ignored(at(13)));
        let news = relisting.news(&tools(&["connect_browser", "list_tabs", "open_tab"]));
        assert!(
            news.unwrap()
                .contains(": list_tabs, open_tab. They can be called")
        );
        relisting.fetched(&tools(&["list_tabs", "open_tab"]));
        assert!(!relisting.is_ignored(at(20)), "it has learnt");
        assert_eq!(relisting.news(&tools(&["list_tabs"])), None);
    }

    #[test]
    fn a_client_that_fetches_in_time_is_told_nothing() {
        let (relisting, start) = (Relisting::default(), Instant::now());
        for round in 0..5 {
            let told = start + Duration::from_secs(round * 10);
            relisting.told(told);
            relisting.fetched(&tools(&["a"]));
            assert!(!relisting.is_ignored(told + Duration::from_secs(5)));
        }
    }
}
