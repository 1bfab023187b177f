//! Calls a page tool: the part that is the same for every source.

use super::found::{CallPath, ToolNumber};
use super::{model_context, web_mcp};
use crate::bounds::{self, PolicyCheck};
use crate::browser::Browser;
use crate::error::{ToolError, dialog_open};
use crate::run::{self, CallContext, Page};
use crate::tab::TargetId;
use crate::tools::changes::{of_generated, with_changes};
use crate::tools::{ToolOutput, generated};
use serde_json::{Map, Value};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tabmux_text::one_line;

/// The answer of a page tool.
#[derive(Clone, Debug, PartialEq)]
pub enum PageAnswer {
    /// The page's answer, unchanged.
    Value(Value),
    /// An answer that we wrote.
    Output(ToolOutput),
}

impl PageAnswer {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Output(ToolOutput::text(text))
    }

    /// For a form that the user has to submit.
    pub(crate) fn filled() -> Self {
        Self::text(
            "The form is filled, and waits for the user to submit it. To submit it yourself, call \
             take_snapshot and click its button.",
        )
    }

    pub(crate) fn nothing() -> Self {
        Self::text("The tool ran and returned nothing.")
    }
}

/// What a call in progress needs to know from its caller.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallState {
    /// Whether the tool may continue although the caller no longer waits for it.
    keeps_running: Arc<AtomicBool>,
}

impl CallState {
    /// Whether dropping the call now should also abort it in the page.
    pub(crate) fn aborts_on_drop(&self) -> bool {
        !self.keeps_running.load(Ordering::Relaxed)
    }
}

/// Calls a tool that was found in a tab. Returns soon after `context.cancel` fires, whatever the page does.
pub async fn call(
    browser: &Browser,
    target: &TargetId,
    number: ToolNumber,
    arguments: &Map<String, Value>,
    context: CallContext,
) -> Result<PageAnswer, ToolError> {
    let tab = run::tab_for(browser, target, &context.cancel).await?;
    tab.used_by(context.files.output().clone());
    browser.guard_new_tabs().await;
    let watch = PolicyCheck::begin(&tab, browser.stops_requests()).await;
    watch.may_touch().await?;
    run::may_begin(&tab, false, true).await?;
    let tool = tab.found().look().find(number).cloned();
    let tool = tool.ok_or(ToolError::ToolGone)?;
    if let CallPath::Native(web_mcp::NativeCall { location, .. })
    | CallPath::InPage(model_context::InPageCall { location, .. }) = &tool.path
    {
        let frame = tab.state().frames.showing(location.document).cloned();
        bounds::may_enter(&tab, &frame.ok_or(ToolError::ToolGone)?)?;
    }
    let state = CallState::default();
    let work = async {
        match &tool.path {
            CallPath::Native(path) => {
                web_mcp::invoke(&tab, path, &tool.name, arguments, &state).await
            }
            CallPath::InPage(path) => {
                model_context::call(&tab, path, &tool.name, arguments, &state).await
            }
            CallPath::Generated => {
                let page = Page::new(tab.clone(), context.files.clone());
                let (changes, arguments) = of_generated(arguments, &tool.schema)?;
                // Boxed: it is a large future.
                let action = Box::pin(generated::call(&page, &tool.name, &arguments));
                let output = match context.viewer.filter(|_| changes) {
                    Some(viewer) => with_changes(&page, viewer, None, action).await,
                    None => action.await,
                };
                output.map(PageAnswer::Output)
            }
        }
    };
    let answer = tokio::select! {
        biased;
        () = context.cancel.cancelled() => None,
        answer = work => Some(answer),
        dialog = run::dialog_opens(&tab) => {
            // The answer to the dialog decides how the tool continues, so it must not be aborted.
            state.keeps_running.store(true, Ordering::Relaxed);
            Some(dialog.map(|dialog| PageAnswer::text(format!(
                "The tool has not answered yet: it opened a dialog. {} Call handle_dialog, then look at \
                 the page to see what came of it.",
                dialog_open(&dialog),
            ))))
        }
    };
    match answer {
        Some(answer) => {
            run::flush_tools(&tab, &context.cancel).await;
            watch.end(answer).await
        }
        None => {
            tab.stop_stuck_scripts().await;
            Err(ToolError::Stuck)
        }
    }
}

/// The first line of an error that a page threw, shortened.
pub(crate) fn first_line(text: &str) -> String {
    one_line(text.lines().next().unwrap_or_default(), 500)
}
