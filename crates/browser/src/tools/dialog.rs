//! Answering the dialogs that pages open.

use super::{Access, Tool, ToolOutput, ToolResult};
use crate::error::ToolError;
use crate::run::Page;
use schemars::JsonSchema;
use serde::Deserialize;
use std::time::Duration;
use tabmux_cdp::types::page;

/// Answers the dialog that blocks the page.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct HandleDialog {
    action: Action,
    /// What to type into a prompt before accepting it.
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
        "Accept or dismiss the alert, confirm, prompt or leave-page dialog that is open.";
    const ACCESS: Access = Access::Bypass;
    const DURING_DIALOG: bool = true;
    const NEEDS_PAGE: bool = false;

    async fn run(self, page: Page) -> ToolResult {
        let Some(dialog) = page.tab.state().dialog.clone() else {
            return Err(ToolError::Arguments(
                "No dialog is open. There is nothing to handle; go on.".into(),
            ));
        };
        let accept = matches!(self.action, Action::Accept);
        let answer = page::HandleJavaScriptDialog {
            accept,
            prompt_text: self.prompt_text,
        };
        page.tab.session().send(answer).await?;
        // The page runs on at once and may open the next dialog; this one is over when Chrome says so.
        page.tab
            .until(CLOSE_LIMIT, |state| state.dialog.as_ref() != Some(&dialog))
            .await?;
        let verb = if accept { "Accepted" } else { "Dismissed" };
        Ok(ToolOutput::text(format!(
            "{verb} the {} dialog.",
            dialog.kind
        )))
    }
}

const CLOSE_LIMIT: Duration = Duration::from_secs(2);
