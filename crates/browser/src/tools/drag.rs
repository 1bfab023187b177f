//! Dragging one element onto another.

use super::act::{self, Before, Drawing, Element, Patience, Reached};
use super::{Access, Category, Tool, ToolResult};
use crate::error::ToolError;
use crate::run::Page;
use schemars::JsonSchema;
use serde::Deserialize;

/// Drags an element.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Drag {
    from_uid: String,
    to_uid: String,
    #[serde(rename = "includeSnapshot")]
    include_snapshot: Option<bool>,
}

impl Tool for Drag {
    const NAME: &'static str = "drag";
    const DESCRIPTION: &'static str = "Drag an element onto another one.";
    const ACCESS: Access = Access::Act;
    const CATEGORY: Category = Category::Input;
    const PROGRESSIVE: bool = false;

    async fn run(self, page: Page) -> ToolResult {
        let tab = &page.tab;
        let from = Element::find(tab, &self.from_uid).await?;
        let to = Element::find(tab, &self.to_uid).await?;
        let _drawing = Drawing::of(tab);
        let before = Before::look(tab);
        let start = place(act::reach(tab, &from, Patience::Press).await?)?;
        page.acting();
        act::grab(tab, start).await?;
        // Only now, because scrolling to the goal would have moved the start; the button stays down.
        let goal = match act::reach(tab, &to, Patience::Point).await {
            Ok(reached) => place(reached),
            Err(error) => Err(error),
        };
        let goal = match goal {
            Ok(goal) => goal,
            Err(error) => {
                act::release(tab, start).await?;
                return Err(error);
            }
        };
        act::carry(tab, start, goal).await?;
        act::release(tab, goal).await?;
        let output = act::settle(tab, &before, Some(&from), "Dragged and dropped.").await?;
        act::with_snapshot(&page, self.include_snapshot, output).await
    }
}

fn place(reached: Reached) -> Result<(f64, f64), ToolError> {
    match reached {
        Reached::At { x, y } => Ok((x, y)),
        Reached::ClosedOption => Err(ToolError::NotActionable {
            why: "An option of a closed list cannot be dragged. Use fill on the list.".into(),
        }),
    }
}
