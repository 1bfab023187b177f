//! The contexts that have a login state: which origins they showed, and saving them when they end.

use super::actor::Actor;
use super::{Browser, ContextId};
use crate::error::ToolError;
use crate::saved_state::{NamedState, StateLock};
use crate::tools::StorageState;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tabmux_cdp::types::target;
use url::Url;

/// Where the cookies and storage of a new context come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StorageSource {
    /// A file in Playwright's format.
    File(std::path::PathBuf),
    /// A state, which is saved again when the context ends.
    Named(NamedState),
}

/// The contexts of a browser that have a state. Shared by the handle and the actor.
#[derive(Clone, Debug, Default)]
pub(super) struct States(Arc<Mutex<HashMap<ContextId, Active>>>);

/// The state of a context.
#[derive(Debug)]
pub(super) struct Active {
    state: NamedState,
    _lock: StateLock,
    /// Sites that the context has shown, or has storage of.
    origins: BTreeSet<String>,
    /// The storage that was loaded, in case an origin cannot be read at the end.
    loaded: Option<StorageState>,
    /// Held while the state is written.
    writing: Writing,
}

impl States {
    pub(super) fn begin(&self, context: ContextId, active: Active) {
        self.lock().insert(context, active);
    }

    /// A tab of a context shows this address.
    pub(super) fn shows(&self, tab: &target::TargetInfo) {
        let Some(context) = &tab.browser_context_id else {
            return;
        };
        let mut states = self.lock();
        let Some(active) = states.get_mut(context) else {
            return;
        };
        let url = Url::parse(&tab.url).ok();
        let url = url.filter(|url| matches!(url.scheme(), "http" | "https"));
        if let Some(url) = url.filter(|_| active.origins.len() < MOST_ORIGINS) {
            active.origins.insert(url.origin().ascii_serialization());
        }
    }

    /// The state of a context, what was loaded, and the lock for writing it.
    fn of(&self, context: &ContextId) -> Option<(NamedState, Option<StorageState>, Writing)> {
        let states = self.lock();
        let active = states.get(context)?;
        let writing = Arc::clone(&active.writing);
        Some((active.state.clone(), active.loaded.clone(), writing))
    }

    pub(super) fn take(&self, context: &ContextId) -> Option<Active> {
        self.lock().remove(context)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ContextId, Active>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<E> Actor<E> {
    /// Notes in these states what their tabs show.
    pub(super) fn noting(mut self, states: States) -> Self {
        self.states = states;
        self
    }
}

impl Browser {
    /// Creates a context with a state, which no other session has meanwhile.
    pub(super) async fn make_context_of(&self, state: &NamedState) -> Result<ContextId, ToolError> {
        let lock = state.lock().await.map_err(ToolError::File)?;
        let loaded = state.read().await.map_err(ToolError::File)?;
        let context = match loaded.clone() {
            Some(loaded) => self.make_context_with(loaded, &state.path()).await?,
            None => self.make_empty_context().await?,
        };
        let origins = loaded.iter().flat_map(StorageState::origins).collect();
        let active = Active {
            state: state.clone(),
            _lock: lock,
            origins,
            loaded,
            writing: Writing::default(),
        };
        self.0.states.begin(context.clone(), active);
        self.keep_saving(context.clone());
        Ok(context)
    }

    /// Saves the cookies of a context from time to time, in case its end cannot be saved because something is killed.
    fn keep_saving(&self, context: ContextId) {
        let browser = Arc::downgrade(&self.0);
        tokio::spawn(async move {
            let mut saved = String::new();
            loop {
                tokio::time::sleep(SAVE_EVERY).await;
                let Some(browser) = browser.upgrade().map(Browser) else {
                    return;
                };
                if browser.save_cookies(&context, &mut saved).await.is_none() {
                    return;
                }
            }
        });
    }

    /// Saves the cookies of a context if they have changed. `None` if the context has ended.
    async fn save_cookies(&self, context: &ContextId, saved: &mut String) -> Option<()> {
        let (state, loaded, writing) = self.0.states.of(context)?;
        let _turn = writing.lock().await;
        let read = StorageState::cookies_of(&self.0.session, context.clone(), loaded).await;
        // Its end saves everything, and must not be overwritten.
        self.0.states.of(context)?;
        let Ok(content) = read else {
            return Some(());
        };
        let now = serde_json::to_string(&content).unwrap_or_default();
        if now != *saved {
            match state.write(content).await {
                Ok(()) => *saved = now,
                Err(error) => tracing::warn!(error, ?state, "a login state was not saved"),
            }
        }
        Some(())
    }

    /// Saves the state of a context that is about to end, if it has one. If that fails, the earlier one stays.
    pub(super) async fn save_state(&self, context: &ContextId) {
        let Some(active) = self.0.states.take(context) else {
            return;
        };
        let _turn = active.writing.lock().await;
        let (origins, loaded) = (active.origins, active.loaded);
        let read = self.in_hidden_tab(context.clone(), SAVE_LIMIT, async move |tab| {
            StorageState::read_from(&tab, origins, loaded).await
        });
        let saved = match read.await {
            Ok(content) => active.state.write(content).await,
            Err(error) => Err(error.to_string()),
        };
        if let Err(error) = saved {
            tracing::warn!(error, state = ?active.state, "a login state was not saved");
        }
    }
}

type Writing = Arc<tokio::sync::Mutex<()>>;

/// How often the cookies of a state are saved.
const SAVE_EVERY: Duration = Duration::from_secs(60);
/// How many sites a state remembers the storage of.
const MOST_ORIGINS: usize = 50;
const SAVE_LIMIT: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{self, Asked, FakeBrowser};
    use serde_json::json;

    #[tokio::test(start_paused = true)]
    async fn cookies_are_saved_while_the_session_lasts() {
        let harness = FakeBrowser::new(|asked: &Asked| match asked.method.as_str() {
            "Target.createBrowserContext" => vec![asked.answer(json!({"browserContextId": "C"}))],
            "Storage.getCookies" => {
                let cookie = json!({"name": "user", "value": "token-17", "domain": "a.test", "path": "/",
                    "expires": -1, "size": 1, "httpOnly": false, "secure": false, "session": true,
                    "priority": "Medium", "sourceScheme": "Secure", "sourcePort": 443});
                vec![asked.answer(json!({"cookies": [cookie]}))]
            }
            _ => fake::usual(asked),
        })
        .await;
        let folder = harness.home.path().join("states");
        let state = NamedState::in_folder("work".parse().unwrap(), None, folder);
        harness.browser.make_context_of(&state).await.unwrap();
        assert!(!state.path().exists());
        let saved = async {
            loop {
                tokio::time::sleep(Duration::from_secs(1)).await;
                let text = std::fs::read_to_string(state.path()).unwrap_or_default();
                if text.contains("token-17") {
                    return;
                }
            }
        };
        let limit = 10 * SAVE_EVERY;
        assert!(tokio::time::timeout(limit, saved).await.is_ok());
    }
}
