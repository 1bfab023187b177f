//! Secret values that the page shows: they are covered in pictures of it, and what cannot be covered is not made. Without
//! secrets in this process, nothing of this costs anything.

use super::act::{self, Rect};
use super::look::Budget;
use super::screenshot::{bounds_of, repaint};
use super::snapshot;
use crate::bounds;
use crate::error::ToolError;
use crate::picture::{Picture, PixelBox};
use crate::tab::{Frame, Tab};
use futures_util::future::join_all;
use serde::Deserialize;
use serde_json::json;
use std::ops::Range;
use tabmux_text::secrets;

/// A picture that is taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct PictureOf {
    /// Its top left corner, in CSS pixels from that of the page.
    pub(super) x: f64,
    pub(super) y: f64,
    /// In CSS pixels.
    pub(super) width: f64,
    /// Whether it can be painted over: it is a PNG file of what is in view.
    pub(super) is_paintable: bool,
}

/// Takes a picture, and covers the secret values in it.
pub(super) async fn covered(
    tab: &Tab,
    of: PictureOf,
    taking: impl Future<Output = Result<String, ToolError>>,
) -> Result<String, ToolError> {
    if !secrets::exist() {
        return taking.await;
    }
    learn_closed_roots(tab).await?;
    let before = Shown::look(tab).await?;
    if !before.boxes.is_empty() && !of.is_paintable {
        return Err(refused(NOT_PAINTABLE));
    }
    let picture = taking.await?;
    if Shown::look(tab).await? != before {
        return Err(refused(CHANGED));
    }
    if before.boxes.is_empty() {
        return Ok(picture);
    }
    let paint = move |picture: &mut Picture| {
        let scale = f64::from(picture.width()) / of.width.max(1.0);
        let boxes = before
            .boxes
            .iter()
            .map(|rect| before.pixels(*rect, of, scale));
        picture.cover(boxes);
    };
    repaint(&picture, paint).await
}

/// Refuses what would show the page as it is, while it shows a secret value.
pub(super) async fn refuse(tab: &Tab, why: &'static str) -> Result<(), ToolError> {
    if !secrets::exist() {
        return Ok(());
    }
    may_ask(tab)?;
    learn_closed_roots(tab).await?;
    match Shown::look(tab).await?.is_found {
        true => Err(refused(why)),
        false => Ok(()),
    }
}

/// Refuses if there are secret values and the page cannot be asked, because a dialog is open.
pub(super) fn may_ask(tab: &Tab) -> Result<(), ToolError> {
    match secrets::exist() && tab.state().dialog.is_some() {
        true => Err(refused(UNDER_DIALOG)),
        false => Ok(()),
    }
}

/// Where the page shows secret values.
#[derive(Debug, Default, PartialEq)]
struct Shown {
    /// In the tab's viewport.
    boxes: Vec<Rect>,
    /// How far the page is scrolled.
    x: f64,
    y: f64,
    /// Whether there is one at all, such as in the title.
    is_found: bool,
}

impl Shown {
    async fn look(tab: &Tab) -> Result<Self, ToolError> {
        let frames: Vec<_> = tab.state().frames.iter().cloned().collect();
        let mut frames: Vec<_> = frames
            .into_iter()
            .filter(|frame| bounds::may_enter(tab, frame).is_ok())
            .collect();
        if frames.len() > MOST_FRAMES {
            return Err(refused(TOO_MUCH));
        }
        // The main frame is the first.
        frames.sort_by_key(|frame| frame.parent.is_some());
        let looks = frames.iter().map(|frame| look_in(tab, frame));
        let mut all = Self::default();
        for (looked, frame) in join_all(looks).await.into_iter().zip(&frames) {
            match looked {
                Ok(shown) => all.add(shown, frame.parent.is_none()),
                // What is in it is gone with it.
                Err(error) if frame.parent.is_some() && is_gone(tab, frame, &error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(all)
    }

    fn add(&mut self, inside: Self, is_main: bool) {
        self.boxes.extend(inside.boxes);
        self.is_found |= inside.is_found;
        if is_main {
            (self.x, self.y) = (inside.x, inside.y);
        }
    }

    /// A box in the picture, with what letters draw around theirs.
    #[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
    fn pixels(&self, rect: Rect, of: PictureOf, scale: f64) -> PixelBox {
        let around = 2.0 + rect.height / 8.0;
        let pixel = |place: f64| (place * scale).clamp(-1e6, 1e6);
        let (left, top) = (
            rect.x - around + self.x - of.x,
            rect.y - around + self.y - of.y,
        );
        let right = pixel(left + rect.width + 2.0 * around).ceil() as i64;
        let bottom = pixel(top + rect.height + 2.0 * around).ceil() as i64;
        let (x, y) = (pixel(left).floor() as i64, pixel(top).floor() as i64);
        PixelBox {
            x,
            y,
            width: right - x,
            height: bottom - y,
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ShownText {
    text: String,
    title: String,
    is_too_long: bool,
    x: f64,
    y: f64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ShownBoxes {
    boxes: Vec<Rect>,
    are_too_many: bool,
}

async fn look_in(tab: &Tab, frame: &Frame) -> Result<Shown, ToolError> {
    let world = tab.world_of(frame).await?;
    let shown: ShownText = world.call("tabmux.shownText", json!({})).await?;
    if shown.is_too_long {
        return Err(refused(TOO_MUCH));
    }
    let mut found = Shown {
        x: shown.x,
        y: shown.y,
        is_found: frame.parent.is_none() && secrets::are_in(&shown.title),
        ..Shown::default()
    };
    let parts = in_utf16(&shown.text, secrets::places(&shown.text));
    if parts.is_empty() {
        return Ok(found);
    }
    let shown: ShownBoxes = world
        .call("tabmux.shownBoxes", json!({ "parts": parts }))
        .await?;
    if shown.are_too_many {
        return Err(refused(TOO_MUCH));
    }
    let matrices = act::frame_matrices(tab, &frame.id).await?;
    let boxes = shown.boxes.into_iter();
    found.boxes = boxes.map(|rect| bounds_of(rect, &matrices)).collect();
    found.is_found = true;
    Ok(found)
}

/// Parts of a text, in order, as a script counts them.
fn in_utf16(text: &str, mut parts: Vec<Range<usize>>) -> Vec<(usize, usize)> {
    parts.sort_unstable_by_key(|part| (part.start, part.end));
    let mut counted = Vec::new();
    let (mut at, mut units) = (0, 0);
    for part in parts {
        // What an earlier part has already is not counted again.
        let start = part.start.max(at);
        if part.end <= start {
            continue;
        }
        let first = units + text[at..start].encode_utf16().count();
        units = first + text[start..part.end].encode_utf16().count();
        at = part.end;
        counted.push((first, units));
    }
    counted
}

/// A script sees closed shadow roots after the page was read once.
async fn learn_closed_roots(tab: &Tab) -> Result<(), ToolError> {
    let world = tab.world().await?;
    let read = snapshot::read(tab, &world, &Budget::millis(MOST_WORK_MS)).await?;
    read.map(drop).ok_or_else(|| refused(TOO_MUCH))
}

/// Whether a frame is gone, or shows another document now.
fn is_gone(tab: &Tab, frame: &Frame, error: &ToolError) -> bool {
    let is_there = tab.state().frames.showing(frame.document).is_some();
    match error {
        ToolError::TabGone(_) => tab.state().gone.is_none(),
        _ => !is_there,
    }
}

fn refused(why: &str) -> ToolError {
    ToolError::NotActionable {
        why: why.to_owned(),
    }
}

/// Why there is no PDF.
pub(super) const NO_PDF: &str = "The page shows a secret value, and a PDF would show it, too. Use take_snapshot, or save \
                                 another page.";
/// Why there is no recording.
pub(super) const NO_VIDEO: &str = "The page shows a secret value, and a video would show it, too. Use take_snapshot, or \
                                   record another page.";
const UNDER_DIALOG: &str = "A dialog of the page is open, so it is not known whether the page shows a secret value. Call \
                            handle_dialog first.";
const NOT_PAINTABLE: &str = "The page shows a secret value, which can be covered only in a png picture of what is in \
                             view. Omit `format` and `fullPage`, and name a `uid` only of an element that fits into the \
                             view.";
const CHANGED: &str = "While the picture was taken, the page moved a text with a secret value. Try again, or use take_snapshot.";
const TOO_MUCH: &str = "The page has too much text to find the secret values that a picture must not show. Use \
                        take_snapshot or find.";
const MOST_FRAMES: usize = 100;
/// A picture is refused if the page cannot be read in this time.
const MOST_WORK_MS: f64 = 3_000.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_counted_as_scripts_count() {
        let text = "é𝄞abc𝄞d";
        let place = |part: &str| {
            let start = text.find(part).unwrap();
            start..start + part.len()
        };
        let parts = vec![place("c𝄞d"), place("ab"), place("b"), place("abc")];
        assert_eq!(in_utf16(text, parts), [(3, 5), (5, 6), (6, 9)]);
        assert_eq!(in_utf16(text, Vec::new()), []);
    }
}
