//! Clicking and hovering.

use super::act::{self, Before, Drawing, Element, Outcome, ReachMode, Reached, Spot};
use super::{Access, Category, Tool, ToolOutput, ToolResult};
use crate::error::ToolError;
use crate::run::Page;
use crate::tab::Tab;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tabmux_text::one_line;

/// Clicks an element.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Click {
    /// The element, from take_snapshot or find.
    uid: String,
    dbl_click: Option<bool>,
    include_snapshot: Option<bool>,
}

impl Tool for Click {
    const NAME: &'static str = "click";
    const DESCRIPTION: &'static str = "Click an element once it is ready; reports what the click caused, \
                                       or what blocks it.";
    const ACCESS: Access = Access::Act;
    const CATEGORY: Category = Category::Input;
    const TELLS_CHANGES: bool = true;

    fn target(&self) -> Option<&str> {
        Some(&self.uid)
    }

    async fn run(self, page: Page) -> ToolResult {
        let tab = &page.tab;
        let element = Element::find(tab, &self.uid).await?;
        let _drawing = Drawing::of(tab);
        let before = Before::look(tab);
        let times = if self.dbl_click == Some(true) { 2 } else { 1 };
        let done = if times == 2 {
            "Double-clicked."
        } else {
            "Clicked."
        };
        let output = press(&page, &element, times, &before, done).await?;
        act::with_snapshot(&page, self.include_snapshot, output).await
    }
}

/// Moves the pointer over an element.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Hover {
    /// The element, from take_snapshot or find.
    uid: String,
    include_snapshot: Option<bool>,
}

impl Tool for Hover {
    const NAME: &'static str = "hover";
    const DESCRIPTION: &'static str = "Move the pointer over an element, such as to open a menu.";
    const ACCESS: Access = Access::Act;
    const CATEGORY: Category = Category::Input;
    const TELLS_CHANGES: bool = true;

    fn target(&self) -> Option<&str> {
        Some(&self.uid)
    }

    async fn run(self, page: Page) -> ToolResult {
        let tab = &page.tab;
        let element = Element::find(tab, &self.uid).await?;
        let _drawing = Drawing::of(tab);
        let before = Before::look(tab);
        let Reached::At(spot) = act::reach(tab, &element, ReachMode::Point).await? else {
            return Err(ToolError::NotActionable {
                why: "This option's list is closed. Use fill on the list, or click the option."
                    .into(),
            });
        };
        page.acting();
        hover(tab, &element, &spot).await?;
        let output = act::settle(tab, &before, None, "The pointer is over the element.").await?;
        act::with_snapshot(&page, self.include_snapshot, output).await
    }
}

/// Clicks a point.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ClickAt {
    /// CSS pixels from the left of the viewport.
    x: f64,
    y: f64,
    dbl_click: Option<bool>,
    include_snapshot: Option<bool>,
}

impl Tool for ClickAt {
    const NAME: &'static str = "click_at";
    const DESCRIPTION: &'static str = "Click a point of the viewport, where there is no uid.";
    const ACCESS: Access = Access::Act;
    const CATEGORY: Category = Category::Input;
    const TELLS_CHANGES: bool = true;
    const PROGRESSIVE: bool = false;

    async fn run(self, page: Page) -> ToolResult {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Hit {
            width: f64,
            height: f64,
            hit: Option<String>,
        }
        let tab = &page.tab;
        let _drawing = Drawing::of(tab);
        let point = json!({ "x": self.x, "y": self.y });
        let found: Hit = tab.world().await?.call("tabmux.at", point).await?;
        let inside = (0.0..found.width).contains(&self.x) && (0.0..found.height).contains(&self.y);
        if !inside {
            return Err(ToolError::Arguments(format!(
                "The point {},{} is outside the viewport of {}x{}. Scroll first, or use another point.",
                self.x, self.y, found.width, found.height
            )));
        }
        let before = Before::look(tab);
        page.acting();
        let times = if self.dbl_click == Some(true) { 2 } else { 1 };
        tab.move_pointer(self.x, self.y).await?;
        // Pages may move things when the pointer arrives.
        let point = json!({ "x": self.x, "y": self.y });
        let found: Hit = tab.world().await?.call("tabmux.at", point).await?;
        tab.click(self.x, self.y, times).await?;
        let hit = found.hit.unwrap_or_else(|| "nothing".into());
        let done = format!("Clicked on {}.", one_line(&hit, 200));
        let output = act::settle(tab, &before, None, &done).await?;
        act::with_snapshot(&page, self.include_snapshot, output).await
    }
}

/// Clicks an element and waits for the effects.
pub(super) async fn press(
    page: &Page,
    element: &Element,
    times: i64,
    before: &Before,
    done: &str,
) -> Result<ToolOutput, ToolError> {
    let tab = &page.tab;
    match act::click(page, element, times).await? {
        Some(press) => act::settle(tab, before, Some(&press), done).await,
        // An option of a closed list.
        None => {
            page.acting();
            let chosen: Outcome = element
                .call("tabmux.choose", json!({ "n": element.n }))
                .await?;
            if !chosen.ok {
                return Err(element.refusal(&chosen));
            }
            act::settle(tab, before, None, "Chose the option.").await
        }
    }
}

/// Moves the pointer over the element. The element's document must see it, even if the page cancels the event.
async fn hover(tab: &Tab, element: &Element, spot: &Spot) -> Result<(), ToolError> {
    let (receiver, (x, y)) = spot.receiver(tab, element).await?;
    let watching: Outcome = receiver
        .call("tabmux.watchHover", json!({ "n": receiver.n }))
        .await?;
    if !watching.ok {
        return Err(element.refusal(&watching));
    }
    tab.move_pointer(spot.x, spot.y).await?;
    let reached: Outcome = receiver
        .call("tabmux.hovered", json!({ "x": x, "y": y }))
        .await?;
    match reached.ok {
        true => Ok(()),
        false => Err(element.refusal(&reached)),
    }
}
