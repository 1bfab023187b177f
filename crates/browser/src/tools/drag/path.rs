//! Dragging along points of the viewport, where there are no uids.

use super::super::ToolResult;
use super::super::act::{self, Before, Drawing};
use crate::disallowed_frames;
use crate::error::ToolError;
use crate::run::Page;
use crate::tab::{HeldButton, Tab};
use std::ops::RangeInclusive;

type Point = (f64, f64);

/// Presses the button at the first point, moves to each of the others, and releases it at the last.
pub(super) async fn along(page: &Page, points: &[Point]) -> ToolResult {
    let tab = &page.tab;
    let (Some(&start), Some(&end)) = (points.first(), points.last()) else {
        return Err(ToolError::Arguments("`points` is empty.".into()));
    };
    let _drawing = Drawing::of(tab);
    for point in points {
        act::at(tab, *point).await?;
    }
    let before = Before::look(tab);
    page.acting();
    tab.move_pointer(start.0, start.1).await?;
    // Pages may move things when the pointer arrives.
    let from = act::at(tab, start).await?;
    let mut button = HeldButton::begin(tab, start).await?;
    let to = match follow(tab, &mut button, points).await {
        Ok(()) => act::at(tab, end).await.unwrap_or_else(|_| "nothing".into()),
        Err(error) => {
            button.cancel(start).await?;
            return Err(error);
        }
    };
    button.release().await?;
    let done = format!("Dragged from {from} to {to}.");
    act::settle(tab, &before, None, &done).await
}

async fn follow(tab: &Tab, button: &mut HeldButton, points: &[Point]) -> Result<(), ToolError> {
    for pair in points.windows(2) {
        if let [from, to] = pair {
            disallowed_frames::refuse_drop(tab, *to).await?;
            button.drag_to(*from, *to).await?;
        }
    }
    match points.last() {
        Some(end) => disallowed_frames::refuse_drop(tab, *end).await,
        None => Ok(()),
    }
}

/// How many points a path has.
pub(super) const COUNT: RangeInclusive<usize> = 2..=50;
