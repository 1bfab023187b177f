//! Answers the dialogs that a script opens, where the agent said beforehand how.

use crate::error::ToolError;
use crate::script::LONGEST;
use crate::tab::Tab;
use std::future::Future;
use tabmux_cdp::types::page::HandleJavaScriptDialog;

/// `accept`, `dismiss`, or what to write into a prompt.
pub(super) struct Dialogs(HandleJavaScriptDialog);

impl Dialogs {
    pub(super) fn new(action: &str) -> Self {
        Self(HandleJavaScriptDialog {
            accept: action != "dismiss",
            prompt_text: (!matches!(action, "accept" | "dismiss")).then(|| action.to_owned()),
        })
    }

    /// Answers each dialog of the tab for as long as the work takes.
    pub(super) async fn during<T>(
        &self,
        tab: &Tab,
        work: impl Future<Output = Result<T, ToolError>>,
    ) -> Result<T, ToolError> {
        tokio::select! {
            done = work => done,
            failed = self.answer_all(tab) => Err(failed),
        }
    }

    /// Never ends but with the tab.
    async fn answer_all(&self, tab: &Tab) -> ToolError {
        loop {
            let opened = tab.until(LONGEST, |state| state.dialog.is_some()).await;
            if let Err(gone) = opened {
                return gone;
            }
            if let Err(error) = tab.session().send(self.0.clone()).await {
                return error.into();
            }
            let closed = tab.until(LONGEST, |state| state.dialog.is_none()).await;
            if let Err(gone) = closed {
                return gone;
            }
        }
    }
}
