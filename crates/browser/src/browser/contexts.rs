//! Browser contexts: the tabs of one share cookies and storage with each other only.

use super::actor_requests::ActorRequest;
use super::states::StorageSource;
use super::{Browser, ContextId};
use crate::bounds;
use crate::error::ToolError;
use crate::tab::Tab;
use crate::tools::StorageState;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tabmux_cdp::types::target;
use tokio::sync::oneshot;

impl Browser {
    /// Creates a browser context: its tabs share cookies and storage with each other only. With a source, the context
    /// starts with the cookies and local storage from there; if they cannot be loaded, there is no context. It ends with
    /// our connection at the latest.
    pub async fn make_context(
        &self,
        storage: Option<&StorageSource>,
    ) -> Result<ContextId, ToolError> {
        let Some(storage) = storage else {
            return self.make_empty_context().await;
        };
        if !self.0.launched {
            return Err(ToolError::NotActionable {
                why: "--storageState and --state work only in a browser that tabmux launches, and this one is \
                      attached. Use a session without that flag."
                    .into(),
            });
        }
        match storage {
            StorageSource::File(file) => {
                let state = StorageState::read(file).await?;
                self.make_context_with(state, file).await
            }
            StorageSource::Named(state) => self.make_context_of(state).await,
        }
    }

    pub(super) async fn make_context_with(
        &self,
        state: StorageState,
        file: &Path,
    ) -> Result<ContextId, ToolError> {
        let (made, context) = oneshot::channel();
        let make = self.clone().make_loaded_context(state, file.to_owned());
        let policy = bounds::here().unwrap_or_default();
        // A task of its own: if the call is cancelled meanwhile, the tab is closed and the context ends all the same.
        let browser = self.clone();
        tokio::spawn(async move {
            if let Err(Ok(context)) = made.send(bounds::within(policy, make).await) {
                let _ = browser.end_context(context).await;
            }
        });
        context.await.map_err(|_| ToolError::BrowserGone)?
    }

    async fn make_loaded_context(
        self,
        state: StorageState,
        file: PathBuf,
    ) -> Result<ContextId, ToolError> {
        let context = self.make_empty_context().await?;
        let load = async move |tab: Tab| state.load_into(&tab, &file).await;
        match self.in_hidden_tab(context.clone(), LOAD_LIMIT, load).await {
            Ok(()) => Ok(context),
            Err(error) => {
                let _ = self.end_context(context).await;
                Err(error)
            }
        }
    }

    /// Ends a context and closes all its tabs. Its state is saved first, if it has one.
    pub async fn end_context(&self, context: ContextId) -> Result<(), ToolError> {
        self.save_state(&context).await;
        let dispose = target::DisposeBrowserContext {
            browser_context_id: context.clone(),
        };
        self.0.session.send(dispose).await?;
        self.0.privacy.forget_context(&context);
        self.0.grants.end(&context).await;
        Ok(())
    }

    pub(super) async fn make_empty_context(&self) -> Result<ContextId, ToolError> {
        let create = target::CreateBrowserContext {
            dispose_on_detach: Some(true),
            ..Default::default()
        };
        let context = self.0.session.send(create).await?.browser_context_id;
        if let Some(staging) = &self.0.staging {
            let behavior = staging.behavior(Some(context.clone()));
            self.0.session.send(behavior).await?;
        }
        self.0.grants.begin(&context).await;
        self.0.privacy.open(context.clone());
        Ok(context)
    }

    /// Does something in a tab of a context that is never announced: the actor announces no new tab between these two
    /// requests, and the tab is closed by then.
    pub(super) async fn in_hidden_tab<T>(
        &self,
        context: ContextId,
        limit: Duration,
        work: impl AsyncFnOnce(Tab) -> Result<T, ToolError>,
    ) -> Result<T, ToolError> {
        let (done, begun) = oneshot::channel();
        self.request(ActorRequest::BeginMaking { done }).await?;
        let _ = begun.await;
        let worked = self.in_new_tab(context, limit, work).await;
        let (done, ended) = oneshot::channel();
        self.request(ActorRequest::EndMaking { made: None, done })
            .await?;
        let _ = ended.await;
        worked
    }

    async fn in_new_tab<T>(
        &self,
        context: ContextId,
        limit: Duration,
        work: impl AsyncFnOnce(Tab) -> Result<T, ToolError>,
    ) -> Result<T, ToolError> {
        let create = target::CreateTarget {
            url: "about:blank".into(),
            background: Some(true),
            browser_context_id: Some(context),
            ..Default::default()
        };
        let target = self.0.session.send(create).await?.target_id;
        let work = async { work(self.tab(&target).await?).await };
        let worked = tokio::time::timeout(limit, work).await;
        self.close_tab(&target, false).await?;
        worked.unwrap_or_else(|_| {
            Err(ToolError::TimedOut {
                what: "Loading or saving cookies and storage".into(),
                millis: limit.as_millis(),
                next: "The file may have too many origins; remove some, or delete the state with `tabmux state`."
                    .into(),
            })
        })
    }
}

const LOAD_LIMIT: Duration = Duration::from_secs(20);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{self, Asked, FakeBrowser};
    use serde_json::{Value, json};

    /// Like [`fake::usual`], but a new tab is answered by the test.
    fn without_new_tab(asked: &Asked) -> Vec<Value> {
        match asked.method.as_str() {
            "Target.createBrowserContext" => {
                vec![asked.answer(json!({"browserContextId": "CONTEXT"}))]
            }
            "Target.createTarget" => vec![],
            "Target.closeTarget" => {
                let gone = json!({"targetId": fake::TAB});
                let closed = asked.answer(json!({"success": true}));
                vec![closed, fake::browser_event("Target.targetDestroyed", gone)]
            }
            _ => fake::usual(asked),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_that_is_cancelled_while_its_context_is_made_leaves_none() {
        let mut harness = FakeBrowser::new(without_new_tab).await;
        let file = harness.home.path().join("state.json");
        std::fs::write(&file, r#"{"cookies": [], "origins": []}"#).unwrap();
        let state = StorageState::read(&file).await.unwrap();
        let browser = harness.browser.clone();
        let asked = tokio::select! {
            made = browser.make_context_with(state, &file) => panic!("{made:?}"),
            asked = harness.fake.hears("Target.createTarget") => asked.unwrap(),
        };
        // The call is gone; its tab is made only now.
        let made = asked.answer(json!({"targetId": fake::TAB}));
        harness.fake.say(made).await;
        assert!(harness.fake.hears("Target.closeTarget").await.is_some());
        let ended = harness.fake.hears("Target.disposeBrowserContext").await;
        assert_eq!(ended.unwrap().params["browserContextId"], "CONTEXT");
    }
}
