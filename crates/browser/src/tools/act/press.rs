//! Pressing an element: move the pointer, check the element's position again, press. The press counts only if the
//! element's own document saw it on the element.

use super::after::Before;
use super::reach::{Element, ReachMode, Reached, Spot, reach};
use crate::error::ToolError;
use crate::run::Page;
use crate::tab::{Button, Clicks, Tab};
use futures_util::future::BoxFuture;
use futures_util::{FutureExt, try_join};
use serde::Deserialize;
use serde_json::json;
use tabmux_text::one_line;

/// A press that reached its element.
#[derive(Debug)]
pub(in crate::tools) struct Press {
    pub(super) element: Element,
    /// How many clicks must follow.
    clicks: u8,
}

/// What the element's document reports about the press afterwards.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Report {
    clicks: Option<u8>,
    lost: String,
    reacted: bool,
}

/// The pointer is over the element, and the element's document watches for the press.
pub(in crate::tools) struct Aim {
    /// Its document sees the press: the element itself, or the root of the frame that is pressed.
    receiver: Element,
    spot: Spot,
    seeing: BoxFuture<'static, Result<Seen, ToolError>>,
    /// The result, if it is known already.
    seen: Option<Result<Seen, ToolError>>,
}

/// Moves the pointer to the element and checks that it is still there; none for an option of a closed list.
pub(in crate::tools) async fn aim(
    page: &Page,
    element: &Element,
    clicks: Clicks,
) -> Result<Option<Aim>, ToolError> {
    let tab = &page.tab;
    let mut mode = ReachMode::PressSoon;
    let mut tries = AIM_TRIES;
    loop {
        let Reached::At(spot) = reach(tab, element, mode).await? else {
            return Ok(None);
        };
        page.acting();
        tab.move_pointer(spot.x, spot.y).await?;
        let (receiver, _) = spot.receiver(tab, element).await?;
        let watcher = receiver.clone();
        let watch = json!({ "n": watcher.n, "clicks": click_events(clicks) });
        let mut seeing = async move { watcher.call("tabmux.watchPress", watch).await }.boxed();
        // Sent first: once the receiver's document has answered below, it is watching.
        let mut seen = None;
        let checked = {
            let checking = async {
                try_join!(spot.check(element), receiver.answer_if_other(element)).map(drop)
            };
            let mut checking = std::pin::pin!(checking);
            loop {
                tokio::select! {
                    biased;
                    told = &mut seeing, if seen.is_none() => seen = Some(told),
                    checked = &mut checking => break checked,
                }
            }
        };
        tries -= 1;
        mode = ReachMode::Press;
        match checked {
            // If something appears under the pointer, another part of the element may still be free.
            Err(ToolError::NotActionable { .. }) if tries > 0 => {}
            Err(error) => return Err(error),
            Ok(()) => {
                return Ok(Some(Aim {
                    receiver,
                    spot,
                    seeing,
                    seen,
                }));
            }
        }
    }
}

/// Clicks the element; none if it is an option of a closed list.
pub(in crate::tools) async fn click(
    page: &Page,
    element: &Element,
    clicks: Clicks,
) -> Result<Option<Press>, ToolError> {
    let mut missed = 0;
    let element = loop {
        let Some(aim) = aim(page, element, clicks).await? else {
            return Ok(None);
        };
        let (x, y) = aim.point();
        let receiver = aim.receiver.clone();
        let clicking = page.tab.click(x, y, clicks);
        match aim.landing(&page.tab, clicking).await? {
            Landing::Hit(()) => break receiver,
            Landing::ScrolledAway(_) if missed < SCROLL_TRIES => missed += 1,
            Landing::ScrolledAway(error) => return Err(error),
        }
    };
    Ok(Some(Press {
        element,
        clicks: match clicks.button {
            Button::Left => clicks.times,
            // The browser's own menu may get the others.
            Button::Middle | Button::Right => 1,
        },
    }))
}

/// The events that such a click ends with.
fn click_events(clicks: Clicks) -> &'static [&'static str] {
    match clicks.button {
        // On a Mac, Control makes it a click of the right button.
        Button::Left => &["click", "contextmenu"],
        Button::Middle => &["auxclick"],
        Button::Right => &["contextmenu"],
    }
}

/// The press that begins a drag was seen on its element; no click has to follow.
pub(in crate::tools) fn held(element: Element) -> Press {
    Press { element, clicks: 0 }
}

impl Aim {
    /// The element whose document sees the press.
    pub(in crate::tools) fn receiver(&self) -> &Element {
        &self.receiver
    }

    /// The pointer's position in the tab's viewport.
    pub(in crate::tools) fn point(&self) -> (f64, f64) {
        (self.spot.x, self.spot.y)
    }

    /// Does `work`, which presses the button, and checks that the element's document saw the press. The document
    /// reports before the page's own scripts run, so it reports even if it navigates at once.
    pub(in crate::tools) async fn watching<T>(
        self,
        tab: &Tab,
        pressing: impl Future<Output = Result<T, ToolError>>,
    ) -> Result<T, ToolError> {
        match self.landing(tab, pressing).await? {
            Landing::Hit(pressed) => Ok(pressed),
            Landing::ScrolledAway(error) => Err(error),
        }
    }

    async fn landing<T>(
        self,
        tab: &Tab,
        pressing: impl Future<Output = Result<T, ToolError>>,
    ) -> Result<Landing<T>, ToolError> {
        let Self {
            receiver,
            spot,
            mut seeing,
            mut seen,
        } = self;
        let mut pressing = std::pin::pin!(pressing);
        let pressed = loop {
            tokio::select! {
                biased;
                told = &mut seeing, if seen.is_none() => seen = Some(told),
                pressed = &mut pressing => break pressed?,
            }
        };
        // The page has handled the press: if its document has not seen it when the watch ends, it never will.
        let seen = match seen {
            Some(seen) => seen,
            None => {
                let ended = receiver.call::<Report>("tabmux.endPress", json!({}));
                tokio::join!(seeing, ended).0
            }
        };
        match seen {
            Ok(Seen { hit: true, .. }) => Ok(Landing::Hit(pressed)),
            Ok(Seen {
                seen: true,
                instead,
                scrolled,
                ..
            }) => {
                let instead = one_line(&instead, 200);
                match scrolled {
                    true => Ok(Landing::ScrolledAway(scrolled_away(&instead))),
                    false => Err(landed_on(&instead)),
                }
            }
            Ok(Seen { seen: false, .. }) => Err(landed_on(&what_is_at(tab, &spot).await)),
            Err(ToolError::TabGone(gone)) => Err(ToolError::TabGone(gone)),
            Err(_) => Err(ToolError::NotActionable {
                why: format!(
                    "The page navigated before the press reached the element {}. Call take_snapshot to see \
                     what is there now.",
                    receiver.uid()
                ),
            }),
        }
    }
}

impl Press {
    /// A sentence to use instead of `done`, if the element was pressed but not clicked as expected.
    pub(super) fn check_clicks(
        &self,
        report: &Report,
        before: &Before,
        tab: &Tab,
    ) -> Result<Option<String>, ToolError> {
        let clicks = report.clicks.unwrap_or(self.clicks);
        if clicks >= self.clicks {
            return Ok(None);
        }
        let why = one_line(&report.lost, 200);
        let uid = self.element.uid();
        let what = match clicks {
            0 if report.reacted || before.caused_something(tab) => {
                return Ok(Some(format!(
                    "Pressed, and the page changed at once. No click followed: {why}."
                )));
            }
            0 => format!("The press reached the element {uid}, but no click followed"),
            1 => format!("The element {uid} was clicked once, but not a second time"),
            _ => format!("The element {uid} was clicked {clicks} times, but not more often"),
        };
        Err(ToolError::NotActionable {
            why: format!("{what}: {why}. Call take_snapshot to see what changed, then try again."),
        })
    }
}

/// A description of what is at the press's position, if this session may see it.
async fn what_is_at(tab: &Tab, spot: &Spot) -> String {
    #[derive(Deserialize)]
    struct At {
        hit: Option<String>,
    }
    let point = json!({ "x": spot.x, "y": spot.y });
    let at = match tab.world().await {
        Ok(world) => world.call::<At>("tabmux.at", point).await.ok(),
        Err(_) => None,
    };
    let hit = at.and_then(|at| at.hit);
    hit.map_or_else(|| "something else".into(), |hit| one_line(&hit, 200))
}

fn landed_on(instead: &str) -> ToolError {
    ToolError::NotActionable {
        why: format!(
            "The press landed on {instead} instead, which had moved in front. Call take_snapshot to see what happened."
        ),
    }
}

fn scrolled_away(instead: &str) -> ToolError {
    ToolError::NotActionable {
        why: format!(
            "The element was scrolled away and {instead} was under the pointer, so the page did not get the press. Call \
             take_snapshot when the page rests, and try again."
        ),
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Seen {
    seen: bool,
    hit: bool,
    instead: String,
    /// Whether the element was scrolled away before, and the page did not get the press.
    scrolled: bool,
}

/// Where a press went.
enum Landing<T> {
    Hit(T),
    /// The element was scrolled away, and the page did not get the press.
    ScrolledAway(ToolError),
}

/// How often to retry when an element is covered or moves as soon as the pointer arrives.
const AIM_TRIES: u32 = 3;
/// How often to repeat a press because its element was scrolled away.
const SCROLL_TRIES: u32 = 1;
