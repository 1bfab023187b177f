//! Dropping files onto an element, as if they were dragged from a folder.

use super::super::act::{self, Drawing, Element, ReachMode, Reached, Spot};
use crate::disallowed_frames;
use crate::error::ToolError;
use crate::run::Page;
use crate::script;
use crate::tab::Tab;
use serde::Deserialize;
use serde_json::json;
use tabmux_cdp::types::input::{DispatchDragEvent, DispatchDragEventType, DragData};

/// Drags the files over the element and drops them, if the page accepts them there; otherwise false, and nothing is
/// dropped: Chrome would open the files instead of the page.
pub(super) async fn drop_files(
    page: &Page,
    element: &Element,
    files: Vec<String>,
) -> Result<bool, ToolError> {
    let tab = &page.tab;
    let _drawing = Drawing::of(tab);
    let Reached::At(spot) = act::reach(tab, element, ReachMode::Point).await? else {
        return Ok(false);
    };
    page.acting();
    let drag = Drag {
        tab,
        at: (spot.x, spot.y),
        data: DragData {
            items: Vec::new(),
            files: Some(files),
            drag_operations_mask: COPY,
        },
    };
    let (receiver, _) = spot.receiver(tab, element).await?;
    let _: Accepted = receiver.call("tabmux.watchFiles", json!({})).await?;
    let dropped = drag.over_and_drop(&receiver, &spot, element).await;
    receiver.world.post("tabmux.endFiles()");
    dropped
}

struct Drag<'a> {
    tab: &'a Tab,
    at: (f64, f64),
    data: DragData,
}

impl Drag<'_> {
    /// Drops the files if the page accepts them.
    async fn over_and_drop(
        &self,
        receiver: &Element,
        spot: &Spot,
        element: &Element,
    ) -> Result<bool, ToolError> {
        self.send(DispatchDragEventType::DRAG_ENTER).await?;
        // Some pages accept only the second one.
        for _ in 0..2 {
            self.send(DispatchDragEventType::DRAG_OVER).await?;
        }
        let accepted: Accepted = receiver.call("tabmux.filesAccepted", json!({})).await?;
        let checked = match accepted.accepted {
            true => spot.check_frames(element).await,
            false => Ok(()),
        };
        if checked.is_err() || !accepted.accepted {
            self.cancel().await?;
            return checked.map(|()| false);
        }
        self.send(DispatchDragEventType::DROP).await?;
        Ok(true)
    }

    /// Sends the next event, unless a frame of a disallowed site would get it.
    async fn send(&self, kind: DispatchDragEventType) -> Result<(), ToolError> {
        if let Err(refused) = disallowed_frames::refuse_drop(self.tab, self.at).await {
            self.cancel().await?;
            return Err(refused);
        }
        self.dispatch(kind).await
    }

    async fn cancel(&self) -> Result<(), ToolError> {
        self.dispatch(DispatchDragEventType::DRAG_CANCEL).await
    }

    async fn dispatch(&self, kind: DispatchDragEventType) -> Result<(), ToolError> {
        let event = DispatchDragEvent {
            r#type: kind,
            x: self.at.0,
            y: self.at.1,
            data: self.data.clone(),
            modifiers: None,
        };
        let sent = self.tab.session().send_within(event, script::LONGEST);
        script::in_page(sent).await?;
        Ok(())
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Accepted {
    accepted: bool,
}

/// The page gets copies.
const COPY: i64 = 1;
