//! Clicking and hovering.

mod clicks;

use super::act::{self, Before, Drawing, Element, Modifier, Outcome, ReachMode, Reached, Spot};
use super::{Access, Category, Tool, ToolOutput, ToolResult};
use crate::error::ToolError;
use crate::run::Page;
use crate::tab::{Clicks, Tab};
use clicks::{ButtonName, ClickArguments};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// Clicks an element.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Click {
    /// From take_snapshot or find. Every uid can be replaced by role, name, near (text in the same row).
    uid: String,
    dbl_click: Option<bool>,
    include_snapshot: Option<bool>,
    /// Which button of the mouse. Default: left.
    #[schemars(extend("unlisted" = true))]
    button: Option<ButtonName>,
    /// Keys that are held during the click.
    #[schemars(extend("unlisted" = true))]
    modifiers: Option<Vec<Modifier>>,
    /// 1 to 10 clicks in a row; 3 select a paragraph.
    #[schemars(extend("unlisted" = true))]
    click_count: Option<u8>,
    /// Hold the button for so many milliseconds, up to 10000.
    #[schemars(extend("unlisted" = true))]
    hold_ms: Option<u32>,
}

impl Click {
    fn how(&self) -> ClickArguments<'_> {
        ClickArguments {
            dbl_click: self.dbl_click,
            button: self.button,
            modifiers: self.modifiers.as_deref().unwrap_or_default(),
            click_count: self.click_count,
            hold_ms: self.hold_ms,
        }
    }
}

impl Tool for Click {
    const NAME: &'static str = "click";
    const DESCRIPTION: &'static str =
        "Click an element once it is ready; reports what it caused or what blocks it.";
    const ACCESS: Access = Access::Act;
    const CATEGORY: Category = Category::Input;
    const LISTS_TARGETS: bool = true;
    const TELLS_CHANGES: bool = true;

    fn check(&self) -> Result<(), String> {
        self.how().check()
    }

    fn target(&self) -> Option<&str> {
        Some(&self.uid)
    }

    async fn run(self, page: Page) -> ToolResult {
        let tab = &page.tab;
        let element = Element::find(tab, &self.uid).await?;
        let _drawing = Drawing::of(tab);
        let before = Before::look(tab);
        let how = self.how();
        let done = format!("{}.", how.describe());
        let output = press(&page, &element, how.clicks(), &before, &done).await?;
        act::with_snapshot(&page, self.include_snapshot, output).await
    }
}

/// Moves the pointer over an element.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Hover {
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
    x: f64,
    y: f64,
    dbl_click: Option<bool>,
    include_snapshot: Option<bool>,
    /// Which button of the mouse. Default: left.
    #[schemars(extend("unlisted" = true))]
    button: Option<ButtonName>,
    /// Keys that are held during the click.
    #[schemars(extend("unlisted" = true))]
    modifiers: Option<Vec<Modifier>>,
    /// 1 to 10 clicks in a row; 3 select a paragraph.
    #[schemars(extend("unlisted" = true))]
    click_count: Option<u8>,
    /// Hold the button for so many milliseconds, up to 10000.
    #[schemars(extend("unlisted" = true))]
    hold_ms: Option<u32>,
}

impl ClickAt {
    fn how(&self) -> ClickArguments<'_> {
        ClickArguments {
            dbl_click: self.dbl_click,
            button: self.button,
            modifiers: self.modifiers.as_deref().unwrap_or_default(),
            click_count: self.click_count,
            hold_ms: self.hold_ms,
        }
    }
}

impl Tool for ClickAt {
    const NAME: &'static str = "click_at";
    const DESCRIPTION: &'static str =
        "Click a point (CSS pixels of the viewport), where there is no uid.";
    const ACCESS: Access = Access::Act;
    const CATEGORY: Category = Category::Input;
    const TELLS_CHANGES: bool = true;
    const PROGRESSIVE: bool = false;

    fn check(&self) -> Result<(), String> {
        self.how().check()
    }

    async fn run(self, page: Page) -> ToolResult {
        let tab = &page.tab;
        let _drawing = Drawing::of(tab);
        let at = (self.x, self.y);
        act::at(tab, at).await?;
        let before = Before::look(tab);
        page.acting();
        tab.move_pointer(self.x, self.y).await?;
        // Pages may move things when the pointer arrives.
        let hit = act::at(tab, at).await?;
        let how = self.how();
        tab.click(self.x, self.y, how.clicks()).await?;
        let done = format!("{} on {hit}.", how.describe());
        let output = act::settle(tab, &before, None, &done).await?;
        act::with_snapshot(&page, self.include_snapshot, output).await
    }
}

/// Clicks an element and waits for the effects.
pub(super) async fn press(
    page: &Page,
    element: &Element,
    clicks: Clicks,
    before: &Before,
    done: &str,
) -> Result<ToolOutput, ToolError> {
    let tab = &page.tab;
    match act::click(page, element, clicks).await? {
        Some(press) => act::settle(tab, before, Some(&press), done).await,
        None if clicks != Clicks::left(clicks.times) => Err(ToolError::NotActionable {
            why: "An option of a closed list takes a plain click only. Use fill on the list."
                .into(),
        }),
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
