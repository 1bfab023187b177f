//! Scrolling the page, a part of it, or to an element.

use super::act::{self, Before, Drawing, Element, Outcome, ReachMode, Reached};
use super::{Access, Category, Tool, ToolResult};
use crate::error::ToolError;
use crate::run::Page;
use crate::world::World;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// Scrolls the page.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Scroll {
    /// The element to scroll to; with a direction, the part it is in.
    uid: Option<String>,
    /// top and bottom scroll all the way.
    direction: Option<Direction>,
    /// How many pixels. Default: most of the view.
    amount: Option<u32>,
    /// With `y` and a delta: turn the mouse wheel over this point of the viewport, such as on a map.
    #[schemars(extend("unlisted" = true))]
    x: Option<f64>,
    #[schemars(extend("unlisted" = true))]
    y: Option<f64>,
    /// How far to turn the wheel to the right, in pixels; negative is left.
    #[schemars(extend("unlisted" = true))]
    delta_x: Option<f64>,
    /// The same downwards; negative is up.
    #[schemars(extend("unlisted" = true))]
    delta_y: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Direction {
    Up,
    Down,
    Left,
    Right,
    Top,
    Bottom,
}

impl Tool for Scroll {
    const NAME: &'static str = "scroll";
    const DESCRIPTION: &'static str =
        "Scroll to an element, or the page or a part of it. Other tools scroll by themselves.";
    const ACCESS: Access = Access::Act;
    const CATEGORY: Category = Category::Input;
    const TELLS_CHANGES: bool = true;

    fn check(&self) -> Result<(), String> {
        if self.wheel()?.is_some() {
            return Ok(());
        }
        match (&self.uid, self.direction, self.amount) {
            (None, None, _) => Err("give a `uid`, a `direction`, or both".into()),
            (_, Some(Direction::Top | Direction::Bottom) | None, Some(_)) => {
                Err("`amount` needs a direction of up, down, left or right".into())
            }
            (_, _, Some(0)) => Err("`amount` is 0".into()),
            _ => Ok(()),
        }
    }

    async fn run(self, page: Page) -> ToolResult {
        let tab = &page.tab;
        let _drawing = Drawing::of(tab);
        let before = Before::look(tab);
        if let Ok(Some(wheel)) = self.wheel() {
            let done = wheel.turn(&page).await?;
            return act::settle(tab, &before, None, &done).await;
        }
        let element = match &self.uid {
            Some(uid) => Some(Element::find(tab, uid).await?),
            None => None,
        };
        page.acting();
        let done = match (&element, self.direction) {
            (Some(element), None) => to_element(&page, element).await?,
            (element, direction) => {
                let world = match element {
                    Some(element) => element.world.clone(),
                    None => tab.world().await?,
                };
                let direction = direction.unwrap_or(Direction::Down);
                self.in_direction(&page, &world, element.as_ref(), direction)
                    .await?
            }
        };
        act::settle(tab, &before, None, &done).await
    }
}

impl Scroll {
    /// The turn of the wheel that the arguments ask for, if any. The error completes "Invalid arguments: …".
    fn wheel(&self) -> Result<Option<Wheel>, String> {
        let by = (self.delta_x.unwrap_or(0.0), self.delta_y.unwrap_or(0.0));
        let is_wanted = self
            .delta_x
            .or(self.delta_y)
            .or(self.x)
            .or(self.y)
            .is_some();
        if !is_wanted {
            return Ok(None);
        }
        if self.uid.is_some() || self.direction.is_some() || self.amount.is_some() {
            return Err("give a point and deltas, or a `uid` or `direction`, but not both".into());
        }
        if by.0.abs() > MAX_DELTA || by.1.abs() > MAX_DELTA {
            return Err(format!(
                "deltas must be between -{MAX_DELTA} and {MAX_DELTA}"
            ));
        }
        match (self.x, self.y) {
            (Some(x), Some(y)) if by != (0.0, 0.0) => Ok(Some(Wheel { at: (x, y), by })),
            _ => Err("turning the wheel needs `x`, `y`, and `deltaX` or `deltaY`".into()),
        }
    }

    async fn in_direction(
        &self,
        page: &Page,
        world: &World,
        element: Option<&Element>,
        direction: Direction,
    ) -> Result<String, ToolError> {
        let ask = json!({
            "n": element.map(|element| element.n),
            "direction": format!("{direction:?}").to_lowercase(),
            "amount": self.amount,
        });
        let moved: Moved = world.call("tabmux.scroll", ask).await?;
        match (moved.outcome.reason.as_str(), element) {
            ("detached", Some(element)) => return Err(element.refusal(&moved.outcome)),
            // Maps and the like cannot be scrolled but handle the wheel.
            ("no-scroller", Some(element)) => return self.by_wheel(page, element, direction).await,
            ("no-scroller", None) => {
                return Err(ToolError::NotActionable {
                    why: "Nothing on this page can be scrolled that way.".into(),
                });
            }
            _ => {}
        }
        Ok(moved.describe(direction))
    }

    async fn by_wheel(
        &self,
        page: &Page,
        element: &Element,
        direction: Direction,
    ) -> Result<String, ToolError> {
        let amount = f64::from(self.amount.unwrap_or(500));
        let by = match direction {
            Direction::Up => (0.0, -amount),
            Direction::Down => (0.0, amount),
            Direction::Left => (-amount, 0.0),
            Direction::Right => (amount, 0.0),
            Direction::Top | Direction::Bottom => {
                return Err(ToolError::NotActionable {
                    why: "Nothing around this element can be scrolled.".into(),
                });
            }
        };
        let Reached::At(spot) = act::reach(&page.tab, element, ReachMode::Point).await? else {
            return Err(ToolError::NotActionable {
                why: "This option's list is closed, so it cannot be scrolled.".into(),
            });
        };
        page.tab.turn_wheel(spot.x, spot.y, by).await?;
        Ok("Nothing around this element scrolls by itself; turned the mouse wheel over it.".into())
    }
}

/// A turn of the mouse wheel at a point.
#[derive(Clone, Copy, Debug)]
struct Wheel {
    at: (f64, f64),
    by: (f64, f64),
}

impl Wheel {
    async fn turn(&self, page: &Page) -> Result<String, ToolError> {
        let tab = &page.tab;
        act::at(tab, self.at).await?;
        page.acting();
        tab.move_pointer(self.at.0, self.at.1).await?;
        // Pages may move things when the pointer arrives.
        let hit = act::at(tab, self.at).await?;
        tab.turn_wheel(self.at.0, self.at.1, self.by).await?;
        Ok(format!("Turned the mouse wheel over {hit}."))
    }
}

async fn to_element(page: &Page, element: &Element) -> Result<String, ToolError> {
    act::show(&page.tab, element).await?;
    Ok("Scrolled to the element.".into())
}

/// How far it scrolled, and the position now.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Moved {
    #[serde(flatten)]
    outcome: Outcome,
    /// The element that scrolled, if it is not the page.
    scroller: String,
    moved: (f64, f64),
    at: Extent,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Extent {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
    view_width: f64,
    view_height: f64,
}

impl Moved {
    fn describe(&self, direction: Direction) -> String {
        let sideways = matches!(direction, Direction::Left | Direction::Right);
        let what = if self.scroller.is_empty() {
            "the page"
        } else {
            &self.scroller
        };
        let Extent {
            x,
            y,
            width,
            height,
            view_width,
            view_height,
        } = self.at;
        let (moved, position, end) = match sideways {
            true => (self.moved.0, x, width - view_width),
            false => (self.moved.1, y, height - view_height),
        };
        let place = match position {
            _ if position >= end - 1.0 => "at the end",
            _ if position < 1.0 => "at the start",
            _ => "more follows",
        };
        let at = format!(
            "now at {position:.0} of {:.0} pixels, {place}",
            end.max(0.0)
        );
        match moved.abs() {
            0.0 => format!("Nothing moved: {what} is {at}."),
            moved => format!("Scrolled {what} by {moved:.0} pixels; {at}."),
        }
    }
}

const MAX_DELTA: f64 = 10_000.0;
