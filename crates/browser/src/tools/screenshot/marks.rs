//! Marks on a screenshot: the uids of elements, drawn on the picture and not in the page.

use super::super::act::{self, Element, Rect};
use super::super::snapshot;
use super::{bounds_of, repaint};
use crate::error::ToolError;
use crate::picture::{Picture, PixelBox};
use crate::tab::Tab;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tabmux_text::one_line;

/// Which elements are marked.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum Marks {
    Kind(Kind),
    Uids(Vec<String>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    None,
    Interactive,
}

impl Marks {
    /// Whether anything is to be marked.
    pub(super) fn are_wanted(&self) -> bool {
        !matches!(self, Self::Kind(Kind::None))
    }

    /// Checks the argument. The error completes "Invalid arguments: …".
    pub(super) fn check(&self) -> Result<(), String> {
        match self {
            Self::Uids(uids) if !(1..=MOST).contains(&uids.len()) => {
                Err(format!("`marks` must have 1 to {MOST} uids"))
            }
            _ => Ok(()),
        }
    }

    /// The elements to mark that are in view and not covered, larger ones first.
    pub(super) async fn find(&self, tab: &Tab) -> Result<Found, ToolError> {
        let is_kind = matches!(self, Self::Kind(_));
        let lines = match self {
            Self::Kind(_) => snapshot::actionable(tab).await?,
            Self::Uids(uids) => uids.iter().map(|uid| (uid.clone(), uid.clone())).collect(),
        };
        let mut marks = Vec::new();
        for (uid, line) in lines.into_iter().take(MOST_SEEN) {
            match visible_box(tab, &uid).await {
                Ok(Some(rect)) => marks.push(Mark { uid, line, rect }),
                Ok(None) => {}
                // A frame may go away meanwhile. Elements that the call names must be there.
                Err(error) if is_kind && is_gone(tab, &error) => {}
                Err(error) => return Err(error),
            }
        }
        let size = |mark: &Mark| mark.rect.width * mark.rect.height;
        marks.sort_by(|one, other| size(other).total_cmp(&size(one)));
        let more = marks.len().saturating_sub(MOST);
        marks.truncate(MOST);
        Ok(Found { marks, more })
    }
}

/// The elements to mark.
#[derive(Debug)]
pub(super) struct Found {
    marks: Vec<Mark>,
    /// How many more there are.
    more: usize,
}

#[derive(Debug)]
struct Mark {
    uid: String,
    /// Its line in a snapshot.
    line: String,
    /// In the tab's viewport.
    rect: Rect,
}

impl Found {
    /// Draws them on a picture of the whole viewport, which is `width` CSS pixels wide.
    pub(super) async fn draw(&self, picture: &str, width: f64) -> Result<String, ToolError> {
        let marks: Vec<_> = self
            .marks
            .iter()
            .map(|mark| (mark.rect, mark.uid.clone()))
            .collect();
        let draw = move |picture: &mut Picture| {
            let scale = f64::from(picture.width()) / width.max(1.0);
            let marks: Vec<_> = marks
                .into_iter()
                .map(|(rect, uid)| (in_pixels(rect, scale), uid))
                .collect();
            picture.mark(&marks);
        };
        repaint(picture, draw).await
    }

    /// What the marks mean, a line for each.
    pub(super) fn legend(&self) -> String {
        let lines = self.marks.iter().map(|mark| {
            let Rect {
                x,
                y,
                width,
                height,
            } = mark.rect;
            let line = one_line(&mark.line, MAX_LINE);
            format!("{line} {x:.0},{y:.0},{width:.0},{height:.0}")
        });
        let mut lines: Vec<_> = lines.collect();
        match (self.marks.len(), self.more) {
            (0, _) => lines.push("Nothing is marked: nothing to act on is in view.".into()),
            (_, 0) => {}
            (_, more) => lines.push(format!("{more} more not marked.")),
        }
        lines.join("\n")
    }
}

/// Whether an element or its frame is gone, and not the tab.
fn is_gone(tab: &Tab, error: &ToolError) -> bool {
    match error {
        ToolError::DocumentGone | ToolError::StaleUid { .. } | ToolError::ElementGone { .. } => {
            true
        }
        // The frame had a session of its own.
        ToolError::TabGone(_) => tab.state().gone.is_none(),
        _ => false,
    }
}

/// The box of an element in the tab's viewport; none if it is out of view, covered, or cannot be used.
async fn visible_box(tab: &Tab, uid: &str) -> Result<Option<Rect>, ToolError> {
    let element = Element::find(tab, uid).await?;
    let rect: Option<Rect> = element
        .call("tabmux.visibleBox", json!({ "n": element.n }))
        .await?;
    let Some(rect) = rect else {
        return Ok(None);
    };
    let matrices = act::frame_matrices(tab, &element.world.frame).await?;
    Ok(Some(bounds_of(rect, &matrices)))
}

#[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
fn in_pixels(rect: Rect, scale: f64) -> PixelBox {
    let pixels = |length: f64| (length * scale).round().clamp(-1e6, 1e6) as i64;
    PixelBox {
        x: pixels(rect.x),
        y: pixels(rect.y),
        width: pixels(rect.width),
        height: pixels(rect.height),
    }
}

const MOST: usize = 60;
/// How many elements are looked at.
const MOST_SEEN: usize = 400;
const MAX_LINE: usize = 140;
