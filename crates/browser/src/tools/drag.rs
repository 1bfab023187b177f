//! Dragging one element onto another, or along points of the viewport.

mod path;

use super::act::{self, Before, Drawing, Element, Outcome, ReachMode, Reached};
use super::{Access, Category, Tool, ToolResult};
use crate::disallowed_frames;
use crate::error::ToolError;
use crate::run::Page;
use crate::tab::{Clicks, HeldButton, Tab};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tabmux_text::one_line;

/// Drags an element.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Drag {
    #[schemars(required)]
    from_uid: Option<String>,
    #[schemars(required)]
    to_uid: Option<String>,
    #[serde(rename = "includeSnapshot")]
    include_snapshot: Option<bool>,
    /// Instead of uids: 2 to 50 points of the viewport, each [x, y], along which to drag, such as on a canvas.
    #[schemars(extend("unlisted" = true))]
    points: Option<Vec<(f64, f64)>>,
}

impl Tool for Drag {
    const NAME: &'static str = "drag";
    const DESCRIPTION: &'static str = "Drag an element onto another one.";
    const ACCESS: Access = Access::Act;
    const CATEGORY: Category = Category::Input;
    const TELLS_CHANGES: bool = true;
    const PROGRESSIVE: bool = false;

    fn check(&self) -> Result<(), String> {
        match (&self.from_uid, &self.to_uid, &self.points) {
            (Some(_), Some(_), None) => Ok(()),
            (None, None, Some(points)) if path::COUNT.contains(&points.len()) => Ok(()),
            (None, None, Some(_)) => Err("`points` must have 2 to 50 points".into()),
            _ => Err("give `from_uid` and `to_uid`, or `points`".into()),
        }
    }

    async fn run(self, page: Page) -> ToolResult {
        let output = match (&self.from_uid, &self.to_uid, &self.points) {
            (Some(from), Some(to), _) => onto(&page, from, to).await?,
            (_, _, points) => path::along(&page, points.as_deref().unwrap_or_default()).await?,
        };
        act::with_snapshot(&page, self.include_snapshot, output).await
    }
}

/// Drags one element onto another.
async fn onto(page: &Page, from: &str, to: &str) -> ToolResult {
    let tab = &page.tab;
    let from = Element::find(tab, from).await?;
    let to = Element::find(tab, to).await?;
    let _drawing = Drawing::of(tab);
    let before = Before::look(tab);
    let aim = act::aim(page, &from, Clicks::left(1))
        .await?
        .ok_or_else(no_place)?;
    let (start, receiver) = (aim.point(), aim.receiver().clone());
    let mut button = aim.watching(tab, HeldButton::press(tab, start)).await?;
    let instead = match drag_to(tab, &mut button, start, (&from, &to)).await {
        Ok(()) => {
            button.release().await?;
            dropped(&to).await
        }
        Err(error) => {
            button.cancel(start).await?;
            return Err(error);
        }
    };
    let done = match instead {
        None => "Dragged and dropped.".to_owned(),
        Some(instead) => {
            format!("Dragged, but dropped on {instead}, which had appeared in place of the target.")
        }
    };
    act::settle(tab, &before, Some(&act::held(receiver)), &done).await
}

/// Drags to the target, and checks what is there: pages may move things during a drag.
async fn drag_to(
    tab: &Tab,
    button: &mut HeldButton,
    start: (f64, f64),
    (from, to): (&Element, &Element),
) -> Result<(), ToolError> {
    // Not earlier, because scrolling to the target would have moved the start; the button stays pressed.
    let Reached::At(target) = act::reach(tab, to, ReachMode::Point).await? else {
        return Err(no_place());
    };
    let place = (target.x, target.y);
    disallowed_frames::refuse_drop(tab, place).await?;
    button.drag_to(start, place).await?;
    disallowed_frames::refuse_drop(tab, place).await?;
    target.check_frames(to).await?;
    let from = (from.world.document == to.world.document).then_some(from.n);
    let watch = json!({ "n": to.n, "from": from, "x": target.inner.0, "y": target.inner.1 });
    let watching: Outcome = to.call("tabmux.watchDrop", watch).await?;
    if !watching.ok {
        return Err(to.refusal(&watching));
    }
    disallowed_frames::refuse_drop(tab, place).await
}

/// What the drag was dropped on, if that is neither the target nor the dragged element. A document that has gone away
/// reports nothing.
async fn dropped(to: &Element) -> Option<String> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Dropped {
        instead: String,
    }
    let dropped = to.call::<Dropped>("tabmux.dropped", json!({})).await;
    let instead = one_line(&dropped.unwrap_or_default().instead, 200);
    (!instead.is_empty()).then_some(instead)
}

fn no_place() -> ToolError {
    ToolError::NotActionable {
        why: "An option of a closed list cannot be dragged. Use fill on the list.".into(),
    }
}

#[cfg(test)]
mod tests {
    use crate::fake::{self, Asked, FakeBrowser};
    use serde_json::json;

    #[tokio::test(start_paused = true)]
    async fn a_cancelled_drag_releases_the_button() {
        let mut reached = 0;
        let mut harness = FakeBrowser::new(move |asked: &Asked| {
            reached += usize::from(asked.runs("tabmux.prepare("));
            match asked.runs("tabmux.prepare(") && reached == 2 {
                // The target appears late.
                true => vec![],
                false => fake::with_element(asked),
            }
        })
        .await;
        let uid = harness.element().await;
        let dragging = tokio::spawn(harness.run("drag", json!({"from_uid": uid, "to_uid": uid})));
        let mut next = async || harness.fake.hears("Input.dispatchMouseEvent").await;
        for kind in ["mouseMoved", "mousePressed", "mouseMoved", "mouseMoved"] {
            assert_eq!(next().await.unwrap().params["type"], kind);
        }
        dragging.abort();
        let last = next().await.unwrap().params;
        assert_eq!(last["type"], "mouseReleased");
        assert_eq!((&last["x"], &last["y"]), (&json!(10.0), &json!(20.0)));
    }
}
