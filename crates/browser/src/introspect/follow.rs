//! Reads a page again when it has changed, in at most a twentieth of its time.

use super::read;
use crate::tab::{DocumentId, Load, Tab};
use crate::world::World;
use futures_util::future::{join_all, select_all};
use serde::Deserialize;
use serde_json::json;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::task::AbortHandle;
use tokio::time::Instant;

/// Whether a tab's page is followed, and with which tool limit.
#[derive(Clone, Debug, Default)]
pub(crate) struct Following(Arc<Mutex<Option<(usize, AbortHandle)>>>);

impl Following {
    /// Starts following a tab, or stops if the limit is none. Does nothing if the limit is unchanged.
    pub(crate) fn set(&self, tab: &Tab, limit: Option<usize>) {
        let mut following = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = following.as_ref().map(|(limit, _)| *limit);
        if now == limit {
            return;
        }
        if let Some((_, task)) = following.take() {
            task.abort();
        }
        if let Some(limit) = limit {
            let task = tokio::spawn(follow(tab.clone(), limit));
            *following = Some((limit, task.abort_handle()));
        }
    }

    /// The tool limit, if the tab is followed.
    pub(crate) fn limit(&self) -> Option<usize> {
        let following = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        following.as_ref().map(|(limit, _)| *limit)
    }
}

/// Why a page is read again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    /// Its content has changed.
    Content,
    /// Another document is shown.
    Document,
}

/// Reads the page now and whenever it has changed, until the tab closes.
async fn follow(tab: Tab, limit: usize) {
    loop {
        let ready = tab.until(PATIENCE, |state| {
            state.ready
                && !state.navigating
                && state.load != Load::Loading
                && state.dialog.is_none()
        });
        match ready.await {
            Err(_) => return,
            Ok(false) => continue,
            Ok(true) => {}
        }
        let begun = Instant::now();
        let reading = tokio::time::timeout(READING_LIMIT, read(&tab, limit)).await;
        let (documents, took) = match reading {
            Ok(Ok(reading)) => (reading.documents, reading.took),
            // The page navigated or does not respond: the cost is unknown, so assume that it is high.
            Ok(Err(_)) | Err(_) => (Vec::new(), begun.elapsed().max(MIN_PAUSE)),
        };
        let rest = Instant::now() + pause(took);
        if changed(&tab, &documents).await == Change::Document && !documents.is_empty() {
            continue;
        }
        // Changes come in bursts.
        tokio::time::sleep_until(rest.max(Instant::now() + MIN_PAUSE)).await;
    }
}

/// How long to pause after a read that took this long: twenty times as long.
pub(crate) fn pause(took: Duration) -> Duration {
    (took * 20).clamp(MIN_PAUSE, MAX_PAUSE)
}

/// Returns when one of these documents has changed since it was read, or is no longer shown.
async fn changed(tab: &Tab, documents: &[DocumentId]) -> Change {
    let frames: Vec<_> = {
        let state = tab.state();
        let shown = documents
            .iter()
            .map(|document| state.frames.showing(*document).cloned());
        shown.collect()
    };
    if frames.is_empty() || frames.iter().any(Option::is_none) {
        return Change::Document;
    }
    let moved = tab.until(PATIENCE, |state| {
        let mut documents = documents.iter();
        !documents.all(|document| state.frames.showing(*document).is_some())
    });
    let worlds = join_all(frames.iter().flatten().map(|frame| tab.world_of(frame))).await;
    let watches: Vec<_> = worlds
        .into_iter()
        .flatten()
        .map(|world| Box::pin(one_changed(world)))
        .collect();
    if watches.is_empty() {
        return Change::Content;
    }
    tokio::select! {
        _ = moved => Change::Document,
        _ = select_all(watches) => Change::Content,
    }
}

/// Returns when a document has changed since it was read, or no longer responds.
async fn one_changed(world: World) {
    #[derive(Deserialize)]
    struct Answer {
        changed: bool,
    }
    let ask = json!({ "limitMs": PATIENCE.as_millis() });
    while let Ok(Answer { changed: false }) = world.call("tabmux.changedSince", &ask).await {}
}

/// Changes come in bursts, so the next read waits at least this long.
const MIN_PAUSE: Duration = Duration::from_millis(150);
/// However slow a page is, it is read again after this time.
const MAX_PAUSE: Duration = Duration::from_secs(600);
const READING_LIMIT: Duration = Duration::from_secs(5);
const PATIENCE: Duration = Duration::from_secs(300);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_takes_a_twentieth_of_the_time_at_most() {
        let millis = Duration::from_millis;
        assert_eq!(pause(millis(1)), MIN_PAUSE);
        assert_eq!(pause(millis(40)), millis(800));
        assert_eq!(pause(Duration::from_secs(60)), MAX_PAUSE);
    }
}
