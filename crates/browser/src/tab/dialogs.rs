//! The dialogs of a tab: answering the open one, and waiting until it is closed.

use super::{Tab, TabState};
use crate::error::ToolError;
use std::time::Duration;
use tabmux_cdp::CdpError;
use tabmux_cdp::types::page::HandleJavaScriptDialog;

/// What to answer to a dialog.
#[derive(Clone, Debug)]
pub(crate) struct DialogAnswer {
    /// Whether to accept it.
    pub(crate) accept: bool,
    /// The text for a prompt.
    pub(crate) prompt_text: Option<String>,
}

impl Tab {
    /// Answers the open dialog. Fails if the user or another call has answered it meanwhile.
    pub(crate) async fn answer_dialog(&self, answer: DialogAnswer) -> Result<(), CdpError> {
        let answer = HandleJavaScriptDialog {
            accept: answer.accept,
            prompt_text: answer.prompt_text,
        };
        self.session().send(answer).await.map(drop)
    }

    /// Waits until the dialog with this number is closed, at most `limit`. Another one may be open then: the page
    /// continues at once.
    pub(crate) async fn dialog_over(&self, number: u64, limit: Duration) -> Result<(), ToolError> {
        let is_over = |state: &TabState| {
            let now = state.dialog.as_ref();
            now.is_none_or(|dialog| dialog.number != number)
        };
        self.until(limit, is_over).await.map(drop)
    }
}
