//! Answering the dialogs that pages open.

use super::act::{self, Before};
use super::{Access, Category, Tool, ToolOutput, ToolResult};
use crate::error::{ToolError, dialog_open};
use crate::run::Page;
use crate::script::LONGEST;
use crate::tab::{Dialog, DialogAnswer, Tab};
use schemars::JsonSchema;
use serde::Deserialize;
use std::time::Duration;

/// Answers the dialog that blocks the page.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct HandleDialog {
    action: Action,
    /// Text for a prompt.
    prompt_text: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Action {
    Accept,
    Dismiss,
}

impl Tool for HandleDialog {
    const NAME: &'static str = "handle_dialog";
    const DESCRIPTION: &'static str =
        "Answer the dialog that is open: alert, confirm, prompt or leave-page.";
    const ACCESS: Access = Access::Bypass;
    const CATEGORY: Category = Category::Input;
    const TELLS_CHANGES: bool = true;
    const DURING_DIALOG: bool = true;
    const NEEDS_PAGE: bool = false;

    async fn run(self, page: Page) -> ToolResult {
        let tab = &page.tab;
        let Some(dialog) = tab.state().dialog.clone() else {
            return Err(ToolError::Arguments(
                "No dialog is open. There is nothing to handle; go on.".into(),
            ));
        };
        let before = Before::look(tab);
        let accept = matches!(self.action, Action::Accept);
        let answer = DialogAnswer {
            accept,
            prompt_text: self.prompt_text,
        };
        tab.answer_dialog(answer).await?;
        // The page continues at once and may open another dialog; this one is closed when Chrome says so.
        tab.dialog_over(dialog.number, CLOSE_LIMIT).await?;
        let verb = if accept { "Accepted" } else { "Dismissed" };
        let done = format!("{verb} the {} dialog.", dialog.kind);
        tokio::select! {
            settled = tokio::time::timeout(SETTLE_LIMIT, act::settle(tab, &before, None, &done)) => {
                settled.unwrap_or_else(|_| Ok(ToolOutput::text(done.clone())))
            }
            next = next_dialog(tab) => Ok(ToolOutput::text(format!(
                "{done} Then the page opened another one. {} Call handle_dialog again.",
                dialog_open(&next?)
            ))),
        }
    }
}

async fn next_dialog(tab: &Tab) -> Result<Dialog, ToolError> {
    loop {
        tab.until(LONGEST, |state| state.dialog.is_some()).await?;
        if let Some(dialog) = tab.state().dialog.clone() {
            return Ok(dialog);
        }
    }
}

const CLOSE_LIMIT: Duration = Duration::from_secs(2);
const SETTLE_LIMIT: Duration = Duration::from_secs(6);
