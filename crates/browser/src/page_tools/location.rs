//! The document that a tool belongs to, and how to notice that it is gone.

use crate::error::ToolError;
use crate::tab::{DocumentId, FrameId, Load, Tab, TabState};
use std::time::Duration;
use tabmux_cdp::Session;
use tabmux_cdp::types::runtime;
use tabmux_text::one_line;

/// The document of a tool.
#[derive(Clone, Debug)]
pub(crate) struct ToolLocation {
    pub(crate) session: Session,
    pub(crate) frame: FrameId,
    pub(crate) document: DocumentId,
}

impl ToolLocation {
    /// Returns when the document is no longer shown; fails when the tab closes.
    pub(crate) async fn left(&self, tab: &Tab) -> Result<(), ToolError> {
        let left = |state: &TabState| {
            let frame = state.frames.find(&self.frame);
            frame.is_none_or(|frame| frame.document != self.document)
        };
        while !tab.until(crate::script::LONGEST, left).await? {}
        Ok(())
    }

    /// The error for a call that was unanswered when its document went away.
    pub(crate) fn unanswered(&self, tab: &Tab) -> ToolError {
        let state = tab.state();
        let what = match state.frames.find(&self.frame) {
            Some(frame) if frame.parent.is_none() => {
                format!("The page went to {}", one_line(&frame.url, 200))
            }
            Some(_) => "The frame with the tool went to another page".to_owned(),
            None => "The frame with the tool was removed".to_owned(),
        };
        ToolError::PageTool(format!(
            "{what} before its tool answered, so the effect of the tool is unknown. Look at the page, and \
             call list_page_tools to see what it offers now."
        ))
    }
}

/// Waits until the page that a tool navigated to is loaded, for answers that come only then.
pub(crate) async fn wait_for_load(tab: &Tab) {
    let here = |state: &TabState| state.load == Load::Complete && !state.navigating;
    let _ = tab.until(LOAD_LIMIT, here).await;
    // Chrome reads the new page in a task of that page. Once a later task has run, the answer has been sent before
    // ours, or there is none.
    let _ = tab.session().send_within(later_tasks(), LOAD_LIMIT).await;
    tab.catch_up().await;
}

fn later_tasks() -> runtime::Evaluate {
    runtime::Evaluate {
        expression:
            "new Promise((done) => requestIdleCallback(() => setTimeout(done), {timeout: 1000}))"
                .into(),
        await_promise: Some(true),
        ..Default::default()
    }
}

/// "The tool led to another page: …"
pub(crate) fn navigated_to(tab: &Tab) -> String {
    let state = tab.state();
    let url = state.frames.main().map(|main| main.url.as_str());
    let url = one_line(url.unwrap_or_default(), 200);
    format!("The tool led to another page: {url}.")
}

const LOAD_LIMIT: Duration = Duration::from_secs(10);
