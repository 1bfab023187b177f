//! The keyboard of a tab: trusted input. No key is sent while a forbidden frame has the focus.

use super::Tab;
use crate::disallowed_frames;
use crate::error::ToolError;
use crate::script;
use futures_util::future::try_join_all;
use tabmux_cdp::types::input::{DispatchKeyEvent, InsertText};

impl Tab {
    /// Sends key events in order. Returns when the page has handled them.
    pub(crate) async fn send_keys(&self, events: Vec<DispatchKeyEvent>) -> Result<(), ToolError> {
        if events.is_empty() {
            return Ok(());
        }
        disallowed_frames::refuse_keys(self).await?;
        let sent = events
            .into_iter()
            .map(|event| self.session().send_within(event, script::LONGEST));
        script::in_page(try_join_all(sent)).await?;
        Ok(())
    }

    /// Inserts text at the caret, as an input method does.
    pub(crate) async fn insert_text(&self, text: String) -> Result<(), ToolError> {
        disallowed_frames::refuse_keys(self).await?;
        let inserted = self
            .session()
            .send_within(InsertText { text }, script::LONGEST);
        script::in_page(inserted).await?;
        Ok(())
    }
}
