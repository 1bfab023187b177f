//! Calls a tool of a page: everything that is alike, whoever found the tool.

use super::found::{CallPath, ToolNumber};
use super::{model_context, web_mcp};
use crate::bounds::{self, Watch};
use crate::browser::Browser;
use crate::error::{ToolError, dialog_open};
use crate::run::{self, CallContext, Page};
use crate::tab::{Tab, TargetId};
use crate::text::one_line;
use crate::tools::{ToolOutput, generated};
use serde_json::{Map, Value};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What came of a page's tool.
#[derive(Clone, Debug, PartialEq)]
pub enum PageAnswer {
    /// What the page answered, as it answered it.
    Value(Value),
    /// What we have to say about it.
    Output(ToolOutput),
}

impl PageAnswer {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Output(ToolOutput::text(text))
    }

    /// A form that is left to the user to send.
    pub(crate) fn filled() -> Self {
        Self::text(
            "The form is filled, and waits for the user to send it. To send it yourself, call \
             take_snapshot and click its button.",
        )
    }

    pub(crate) fn nothing() -> Self {
        Self::text("The tool ran, and returned nothing.")
    }
}

/// What the one who carries out a call has to know about it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Calling {
    /// Whether the tool may go on although nobody waits for it.
    goes_on: Arc<AtomicBool>,
}

impl Calling {
    /// Whether a call that is dropped now should be given up in the page.
    pub(crate) fn is_unwanted(&self) -> bool {
        !self.goes_on.load(Ordering::Relaxed)
    }
}

/// Calls a tool that was found in a tab. Resolves soon after `context.cancel` fires, whatever the page
/// does.
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
    let watch = Watch::begin(&tab, browser.stops_requests()).await;
    watch.may_touch().await?;
    run::may_begin(&tab, false, true).await?;
    let tool = tab.found().look().find(number).cloned();
    let tool = tool.ok_or(ToolError::ToolGone)?;
    if let CallPath::Native(web_mcp::NativeCall { home, .. })
    | CallPath::InPage(model_context::ShimCall { home, .. }) = &tool.way
    {
        // A frame's tool runs in the frame.
        let frame = tab.state().frames.showing(home.document).cloned();
        bounds::may_enter(&tab, &frame.ok_or(ToolError::ToolGone)?)?;
    }
    let calling = Calling::default();
    let work = async {
        match &tool.way {
            CallPath::Native(way) => {
                web_mcp::invoke(&tab, way, &tool.name, arguments, &calling).await
            }
            CallPath::InPage(way) => {
                model_context::call(&tab, way, &tool.name, arguments, &calling).await
            }
            CallPath::Generated => {
                let page = Page::new(tab.clone(), context.files.clone());
                let output = generated::call(&page, &tool.name, arguments).await;
                output.map(PageAnswer::Output)
            }
        }
    };
    let answer = tokio::select! {
        biased;
        () = context.cancel.cancelled() => None,
        answer = work => Some(answer),
        dialog = run::dialog_opens(&tab) => {
            // The user's or the agent's word decides what becomes of it, not ours.
            calling.goes_on.store(true, Ordering::Relaxed);
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
            free(&tab).await;
            Err(ToolError::Stuck)
        }
    }
}

/// A page that is still busy after its tool was given up is made to stop.
async fn free(tab: &Tab) {
    if !tab.responds().await {
        tab.suspect(true);
        tab.terminate_scripts().await;
    }
}

/// The first line of what a page threw, bounded.
pub(crate) fn first_line(text: &str) -> String {
    one_line(text.lines().next().unwrap_or_default(), 500)
}
