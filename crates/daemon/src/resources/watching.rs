//! Tells a client which of the resources that it watches changed: those of tabs that show another document, or whose
//! address or title changed.

use super::address::Address;
use crate::handle::Submitter;
use crate::state::State;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tabmux_core::ShownTab;
use tabmux_protocol::BackendEvent;
use tabmux_protocol::limits::MOST_WATCHED;
use tokio::sync::{mpsc, watch};
use tokio::task::AbortHandle;

/// The task that looks for changes. Dropping this ends it.
#[derive(Debug)]
pub(crate) struct Watch(AbortHandle);

/// What a session sees of each tab.
type Tabs = HashMap<u32, ShownTab>;

impl Watch {
    /// Watches these resources from now on. `None` if there are none, or the main loop has ended.
    pub(crate) async fn begin(
        calls: Submitter,
        state: watch::Receiver<Arc<State>>,
        notify: mpsc::WeakSender<BackendEvent>,
        uris: Vec<String>,
    ) -> Option<Self> {
        let watched = watched(uris);
        if watched.is_empty() {
            return None;
        }
        let known = tabs(calls.resources_seen().await.ok()?.tabs);
        let look = async move || {
            let seen = calls.resources_seen().await.ok()?;
            Some(tabs(seen.tabs))
        };
        let task = tokio::spawn(watch(watched, known, state, notify, look));
        Some(Self(task.abort_handle()))
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn watch<S>(
    watched: Vec<(String, u32)>,
    mut known: Tabs,
    mut state: watch::Receiver<S>,
    notify: mpsc::WeakSender<BackendEvent>,
    look: impl AsyncFn() -> Option<Tabs>,
) {
    while state.changed().await.is_ok() {
        let Some(now) = look().await else { return };
        let Some(notify) = notify.upgrade() else {
            return;
        };
        for (uri, tab) in &watched {
            if known.get(tab) != now.get(tab) {
                // A client that does not read its events loses some.
                let _ = notify.try_send(BackendEvent::ResourceChanged(uri.clone()));
            }
        }
        known = now;
        drop(notify);
        tokio::time::sleep(PAUSE).await;
    }
}

/// The resources of tabs among these, with the numbers of their tabs.
fn watched(uris: Vec<String>) -> Vec<(String, u32)> {
    let tabs = uris.into_iter().filter_map(|uri| {
        let Address::Tab(tab) = Address::parse(&uri)? else {
            return None;
        };
        Some((uri, tab.tab))
    });
    tabs.take(MOST_WATCHED).collect()
}

/// What counts as a change: not the focus, nor what other sessions do, nor what a tab with a blocked site does.
fn tabs(shown: Vec<ShownTab>) -> Tabs {
    let shown = shown.into_iter().filter(|tab| !tab.is_hidden);
    let tabs = shown.map(|mut tab| {
        (tab.row.focused, tab.row.shared, tab.row.tool_count) = (false, false, 0);
        (tab.row.id.0, tab)
    });
    tabs.collect()
}

/// Between two looks for changes.
const PAUSE: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};
    use tabmux_core::{TabId, TabRow};

    fn tab(title: u32) -> ShownTab {
        ShownTab {
            browser: 1,
            row: TabRow {
                id: TabId(1),
                title: title.to_string().into(),
                url: "http://a.test/".into(),
                focused: false,
                shared: false,
                tool_count: 0,
            },
            document: None,
            is_hidden: false,
        }
    }

    #[test]
    fn only_resources_of_tabs_are_watched_and_not_too_many() {
        let uris = (0..200).map(|n| format!("tabmux://tab/{n}/text"));
        let strange = ["tabmux://file/1", "x"].map(str::to_owned);
        let watched = watched(strange.into_iter().chain(uris).collect());
        assert_eq!(watched.len(), MOST_WATCHED);
        assert_eq!(watched[0], ("tabmux://tab/0/text".to_owned(), 0));
    }

    #[test]
    fn what_a_tab_with_a_blocked_site_does_is_no_change() {
        let hidden = |title| ShownTab {
            is_hidden: true,
            ..tab(title)
        };
        assert_eq!(tabs(vec![hidden(1)]), tabs(vec![hidden(2)]));
        assert_ne!(tabs(vec![tab(1)]), tabs(vec![tab(2)]));
    }

    #[tokio::test(start_paused = true)]
    async fn changes_are_told_once_a_second_and_only_real_ones() {
        let uris = ["tabmux://tab/1/text", "tabmux://tab/2/text"].map(str::to_owned);
        let (state, changes) = watch::channel(());
        let (notify, mut told) = mpsc::channel(8);
        let title = Arc::new(AtomicU32::new(0));
        let now = Arc::clone(&title);
        let look = async move || Some(Tabs::from([(1, tab(now.load(Ordering::Relaxed)))]));
        let known = Tabs::from([(1, tab(0))]);
        let weak = notify.downgrade();
        tokio::spawn(watch(watched(uris.into()), known, changes, weak, look));
        let mut count = 0;
        for step in 1..=100 {
            title.store(step, Ordering::Relaxed);
            let _ = state.send(());
            tokio::time::sleep(Duration::from_millis(100)).await;
            while let Ok(event) = told.try_recv() {
                assert_eq!(
                    event,
                    BackendEvent::ResourceChanged("tabmux://tab/1/text".into())
                );
                count += 1;
            }
        }
        assert!((9..=11).contains(&count), "{count} in ten seconds");
        tokio::time::sleep(PAUSE * 2).await;
        while told.try_recv().is_ok() {}
        let _ = state.send(());
        tokio::time::sleep(PAUSE * 2).await;
        assert!(told.try_recv().is_err(), "nothing changed");
    }
}
