//! Answers the dialogs that a script opens, as the agent said beforehand.

use crate::error::ToolError;
use crate::run;
use crate::script::LONGEST;
use crate::tab::{DialogAnswer, Tab};
use std::future::Future;

/// `accept`, `dismiss`, or the text for a prompt.
pub(in crate::tools) struct Dialogs(DialogAnswer);

impl Dialogs {
    pub(super) fn new(action: &str) -> Self {
        Self(DialogAnswer {
            accept: action != "dismiss",
            prompt_text: (!matches!(action, "accept" | "dismiss")).then(|| action.to_owned()),
        })
    }

    pub(in crate::tools) fn accepted() -> Self {
        Self::new("accept")
    }

    /// Answers the open dialog, if there is one.
    pub(in crate::tools) async fn answer_open(&self, tab: &Tab) -> Result<(), ToolError> {
        let Some(dialog) = tab.state().dialog.clone() else {
            return Ok(());
        };
        // The user or another call may have answered it meanwhile.
        let _ = tab.answer_dialog(self.0.clone()).await;
        tab.dialog_over(dialog.number, LONGEST).await
    }

    /// Answers each dialog of the tab while the work runs.
    pub(in crate::tools) async fn during<T>(
        &self,
        tab: &Tab,
        work: impl Future<Output = Result<T, ToolError>>,
    ) -> Result<T, ToolError> {
        tokio::select! {
            done = work => done,
            failed = self.answer_all(tab) => Err(failed),
        }
    }

    /// Ends only when the tab closes.
    async fn answer_all(&self, tab: &Tab) -> ToolError {
        loop {
            let dialog = match run::dialog_opens(tab).await {
                Ok(dialog) => dialog,
                Err(gone) => return gone,
            };
            if let Err(error) = tab.answer_dialog(self.0.clone()).await {
                return error.into();
            }
            if let Err(gone) = tab.dialog_over(dialog.number, LONGEST).await {
                return gone;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::fake::{self, Asked, FakeBrowser};
    use serde_json::{Value, json};

    #[tokio::test(start_paused = true)]
    async fn a_dialog_that_follows_at_once_is_answered_too() {
        let mut harness = FakeBrowser::new(|asked: &Asked| match asked.method.as_str() {
            _ if asked.runs("alert") => vec![opening()],
            "Page.handleJavaScriptDialog" => vec![],
            _ => fake::usual(asked),
        })
        .await;
        let tab = harness.tab().await.unwrap();
        let arguments =
            json!({"function": "() => { alert(1); alert(1); }", "dialogAction": "accept"});
        let running = tokio::spawn(harness.run("evaluate_script", arguments));
        let first = harness.fake.hears("Page.handleJavaScriptDialog").await;
        let closed = fake::event("Page.javascriptDialogClosed", json!({"result": true}));
        harness.fake.say(closed).await;
        harness.fake.say(opening()).await;
        // The tab knows of both before the code learns that the first one was answered.
        let two = |state: &crate::tab::TabState| state.dialogs_opened == 2;
        tab.until(crate::script::LONGEST, two).await.unwrap();
        harness.fake.say(first.unwrap().answer(json!({}))).await;
        let second = harness.fake.hears("Page.handleJavaScriptDialog").await;
        assert!(second.is_some());
        running.abort();
    }

    fn opening() -> Value {
        let dialog = json!({"type": "alert", "message": "1", "url": "http://here.test/"});
        fake::event("Page.javascriptDialogOpening", dialog)
    }
}
