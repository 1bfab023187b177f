//! Dragging one element onto another.

use super::act::{self, Before, Drawing, Element, Grip, Patience, Reached};
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
        let aim = act::aim(&page, &from).await?.ok_or_else(no_place)?;
        let start = aim.point();
        let mut grip = aim.watching(tab, Grip::grab(tab, start)).await?;
        // Only now, because scrolling to the goal would have moved the start; the button stays down.
        let goal = match act::reach(tab, &to, Patience::Point).await {
            Ok(Reached::At(goal)) => Ok((goal.x, goal.y)),
            Ok(Reached::ClosedOption) => Err(no_place()),
            Err(error) => Err(error),
        };
        let goal = match goal {
            Ok(goal) => goal,
            Err(error) => {
                grip.release().await?;
                return Err(error);
            }
        };
        grip.carry(start, goal).await?;
        grip.release().await?;
        let output = act::settle(
            tab,
            &before,
            Some(&act::held(&from)),
            "Dragged and dropped.",
        )
        .await?;
        act::with_snapshot(&page, self.include_snapshot, output).await
    }
}

fn no_place() -> ToolError {
    ToolError::NotActionable {
        why: "An option of a closed list cannot be dragged. Use fill on the list.".into(),
    }
}

#[cfg(test)]
mod tests {
    use crate::fake::{self, Asked, Stand};
    use serde_json::json;

    #[tokio::test(start_paused = true)]
    async fn a_drag_that_is_stopped_on_its_way_lets_the_button_go() {
        let mut reached = 0;
        let mut stand = Stand::new(move |asked: &Asked| {
            reached += usize::from(asked.runs("tabmux.prepare("));
            match asked.runs("tabmux.prepare(") && reached == 2 {
                // The goal takes its time to appear.
                true => vec![],
                false => fake::with_element(asked),
            }
        })
        .await;
        let uid = stand.element().await;
        let dragging = tokio::spawn(stand.run("drag", json!({"from_uid": uid, "to_uid": uid})));
        let mut next = async || stand.fake.hears("Input.dispatchMouseEvent").await;
        for kind in ["mouseMoved", "mousePressed", "mouseMoved", "mouseMoved"] {
            assert_eq!(next().await.unwrap().params["type"], kind);
        }
        dragging.abort();
        let last = next().await.unwrap().params;
        assert_eq!(last["type"], "mouseReleased");
        assert_eq!((&last["x"], &last["y"]), (&json!(10.0), &json!(20.0)));
    }
}
