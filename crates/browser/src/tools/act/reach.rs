//! Finds the point of the tab's viewport at which an element can be pressed, through all frames around it.

use crate::disallowed_frames;
use crate::error::ToolError;
use crate::tab::{FrameId, Tab};
use crate::world::World;
use futures_util::future::try_join_all;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tabmux_cdp::types::runtime;
use tabmux_text::one_line;

/// The element with a uid.
#[derive(Clone, Debug)]
pub(in crate::tools) struct Element {
    /// The isolated world of its document.
    pub world: World,
    /// Its number in that world.
    pub n: u32,
    uid: String,
    /// Whether its frame has its own session, which ends with the frame and not with the tab.
    apart: bool,
}

impl Element {
    /// The element with this uid, if its document is still shown.
    pub(in crate::tools) async fn find(tab: &Tab, uid: &str) -> Result<Self, ToolError> {
        let (world, n) = tab.element(uid).await?;
        Ok(Self {
            apart: world.session.id() != tab.session().id(),
            world,
            n,
            uid: uid.to_owned(),
        })
    }

    /// An element that the agent knows by its label.
    pub(in crate::tools) fn called(tab: &Tab, world: &World, n: u32, words: &str) -> Self {
        Self {
            apart: world.session.id() != tab.session().id(),
            world: world.clone(),
            n,
            uid: format!("\"{}\"", one_line(words, 80)),
        }
    }

    /// Calls one of our functions in the element's document.
    pub(in crate::tools) async fn call<T: DeserializeOwned>(
        &self,
        function: &str,
        argument: Value,
    ) -> Result<T, ToolError> {
        let answer = self.world.call(function, argument).await;
        answer.map_err(|error| match error {
            ToolError::TabGone(_) if self.apart => ToolError::ElementGone {
                uid: self.uid.clone(),
            },
            error => error,
        })
    }

    /// Waits for an answer of this element's document, unless `other` is in the same one.
    pub(in crate::tools) async fn answer_if_other(&self, other: &Self) -> Result<(), ToolError> {
        if self.world.document == other.world.document {
            return Ok(());
        }
        self.call("(() => null)", json!({})).await
    }

    /// Another element of the same document, used in place of this one.
    pub(in crate::tools) fn sibling(&self, n: u32) -> Self {
        Self { n, ..self.clone() }
    }

    /// The name that the agent used for it.
    pub(in crate::tools) fn uid(&self) -> &str {
        &self.uid
    }

    /// The error for a negative answer of our scripts.
    pub(in crate::tools) fn refusal(&self, outcome: &Outcome) -> ToolError {
        self.refusal_for(&outcome.reason, &outcome.detail)
    }

    /// The error for a reason given by our scripts.
    pub(in crate::tools) fn refusal_for(&self, reason: &str, detail: &str) -> ToolError {
        let uid = &self.uid;
        let detail = one_line(detail, 200);
        let by = |words: &str| {
            if detail.is_empty() {
                String::new()
            } else {
                format!(" {words} {detail}")
            }
        };
        let why = match reason {
            "detached" => return ToolError::ElementGone { uid: uid.clone() },
            "covered" => format!(
                "The element {uid} is covered{}. Close or scroll away what covers it, then try again.",
                by("by")
            ),
            "disabled" => format!(
                "The element {uid} is disabled{}. Enable it first, or use another element.",
                by("through")
            ),
            "inert" => format!(
                "The element {uid} is inert{}. Something else on the page, such as a dialog, has to be \
                 dealt with first.",
                by("through")
            ),
            "hidden" => format!(
                "The element {uid} is not visible ({detail}). Open what contains it, or use another element."
            ),
            "moving" => {
                format!("The element {uid} is still moving. Wait for it to stop, then try again.")
            }
            "pointer-events" => format!(
                "The element {uid} ignores the pointer (pointer-events: none). Use the element that \
                 is meant to be pressed."
            ),
            "outside" => {
                format!("The element {uid} cannot be scrolled into view. Use another element.")
            }
            other => format!("The element {uid} cannot be used: {other}{}.", by(":")),
        };
        ToolError::NotActionable { why }
    }
}

/// The answer of our scripts: yes with a point, or no with a reason.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::tools) struct Outcome {
    pub ok: bool,
    pub reason: String,
    pub detail: String,
    pub x: f64,
    pub y: f64,
    pub rect: Rect,
    /// Whether a frame is at this point.
    pub frame: bool,
}

/// A box in the viewport of the element's frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(default)]
pub(in crate::tools) struct Rect {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

/// Why an element is reached, which decides how long to wait for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tools) enum ReachMode {
    /// To press it: it must be enabled.
    Press,
    /// The same, but the caller checks later with [`Spot::check`] that it does not move.
    PressSoon,
    /// To move the pointer there: it may be disabled, since hovering may show why.
    Point,
}

/// Where an element was found.
#[derive(Clone, Debug)]
pub(in crate::tools) enum Reached {
    At(Spot),
    /// It is an option of a closed list, so it has no position; it can be chosen.
    ClosedOption,
}

/// CSS pixels from the left and the top of a viewport.
type Point = (f64, f64);

/// A point at which an element can be pressed, with the frames around it.
#[derive(Clone, Debug)]
pub(in crate::tools) struct Spot {
    /// In the tab's viewport.
    pub x: f64,
    pub y: f64,
    /// In the viewport of the element's own frame.
    pub inner: Point,
    /// The element's box there.
    rect: Rect,
    /// Whether the element, or something in it, is a frame at this point.
    in_frame: bool,
    /// The frames around it, innermost first, with the point inside and outside of each.
    frames: Vec<(FrameOwner, Point, Point)>,
}

impl Spot {
    /// Checks that the frames around the element have not moved and are not covered at this point.
    pub(in crate::tools) async fn check_frames(&self, element: &Element) -> Result<(), ToolError> {
        let around = self.frames.iter().map(|(owner, inner, at)| async move {
            let inner = json!({ "x": inner.0, "y": inner.1 });
            let ask = json!({ "n": owner.n, "inner": inner, "x": at.0, "y": at.1 });
            let aimed: Outcome = owner.world.call("tabmux.aimFrame", ask).await?;
            owner.check(element, &aimed)
        });
        try_join_all(around).await.map(drop)
    }

    /// The element whose document sees the pointer here, and the point in that document. If a frame is pressed, that is
    /// the root element of its document.
    pub(in crate::tools) async fn receiver(
        &self,
        tab: &Tab,
        element: &Element,
    ) -> Result<(Element, Point), ToolError> {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Next {
            n: Option<u32>,
            x: f64,
            y: f64,
        }
        let mut receiver = element.clone();
        let (mut x, mut y) = self.inner;
        let mut in_frame = self.in_frame;
        if in_frame {
            disallowed_frames::refuse_point(tab, self.x, self.y).await?;
        }
        while in_frame {
            let next: Next = receiver
                .call("tabmux.frameAt", json!({ "x": x, "y": y }))
                .await?;
            let shown = match next.n {
                Some(n) => shown_frame(&receiver.world, n).await?,
                None => None,
            };
            let inner = shown.and_then(|id| tab.state().frames.find(&id).cloned());
            in_frame = inner.is_some();
            if let Some(inner) = inner {
                let world = tab.world_of(&inner).await?;
                // Only drawn content gets input: before that, the browser does not know its position.
                for _ in 0..2 {
                    let _: bool = world.call("tabmux.nextFrame", DRAW_MS).await?;
                }
                let root = "(() => tabmux.ref(tabmux.dom.documentElement(document)))";
                receiver = Element {
                    n: world.call(root, json!({})).await?,
                    apart: world.session.id() != tab.session().id(),
                    world,
                    uid: receiver.uid,
                };
                (x, y) = (next.x, next.y);
            }
        }
        Ok((receiver, (x, y)))
    }

    /// Checks that the element would still be pressed here, now that the pointer has arrived: pages may move things
    /// when it does.
    pub(in crate::tools) async fn check(&self, element: &Element) -> Result<(), ToolError> {
        self.check_frames(element).await?;
        let (x, y) = self.inner;
        let ask = json!({ "n": element.n, "x": x, "y": y, "rect": self.rect });
        let aimed: Outcome = element.call("tabmux.aim", ask).await?;
        match aimed.ok {
            true => Ok(()),
            false => Err(element.refusal(&aimed)),
        }
    }
}

/// Waits until the element can be acted on, and finds its position.
pub(in crate::tools) async fn reach(
    tab: &Tab,
    element: &Element,
    mode: ReachMode,
) -> Result<Reached, ToolError> {
    let owners = show_frames(tab, element).await?;
    let even_disabled = mode == ReachMode::Point;
    // If frames around it must be stable as well, wait for that first.
    let once = mode == ReachMode::PressSoon && owners.is_empty();
    let ask = json!({
        "n": element.n, "waitMs": WAIT_MS, "evenDisabled": even_disabled, "once": once
    });
    let found: Outcome = element.call("tabmux.prepare", ask).await?;
    if found.reason == "option" {
        return Ok(Reached::ClosedOption);
    }
    if !found.ok {
        return Err(element.refusal(&found));
    }
    let inner = (found.x, found.y);
    let (mut x, mut y) = inner;
    let mut frames = Vec::new();
    for owner in owners {
        let ask = json!({ "n": owner.n, "x": x, "y": y, "waitMs": WAIT_MS });
        let mapped: Outcome = owner.world.call("tabmux.hitFrame", ask).await?;
        owner.check(element, &mapped)?;
        frames.push((owner, (x, y), (mapped.x, mapped.y)));
        (x, y) = (mapped.x, mapped.y);
    }
    Ok(Reached::At(Spot {
        x,
        y,
        inner,
        rect: found.rect,
        in_frame: found.frame,
        frames,
    }))
}

/// Scrolls to the element and the frames around it.
pub(in crate::tools) async fn show(tab: &Tab, element: &Element) -> Result<Outcome, ToolError> {
    show_frames(tab, element).await?;
    let shown: Outcome = element
        .call("tabmux.bringIntoView", json!({ "n": element.n }))
        .await?;
    match shown.ok {
        true => Ok(shown),
        false => Err(element.refusal(&shown)),
    }
}

/// Scrolls to the frames around the element, from the outside in: frames out of view do not run.
async fn show_frames(tab: &Tab, element: &Element) -> Result<Vec<FrameOwner>, ToolError> {
    let owners = owners(tab, &element.world.frame).await?;
    for owner in owners.iter().rev() {
        let shown: Outcome = owner
            .world
            .call("tabmux.bringIntoView", json!({ "n": owner.n }))
            .await?;
        owner.check(element, &shown)?;
    }
    Ok(owners)
}

/// The matrices `[a, b, c, d, e, f]` from each frame's viewport to that of its parent, innermost first.
pub(in crate::tools) async fn frame_matrices(
    tab: &Tab,
    frame: &FrameId,
) -> Result<Vec<[f64; 6]>, ToolError> {
    #[derive(Deserialize)]
    struct FrameBox {
        matrix: Option<[f64; 6]>,
    }
    let mut matrices = Vec::new();
    for owner in owners(tab, frame).await? {
        let found: FrameBox = owner
            .world
            .call("tabmux.frameBox", json!({ "n": owner.n }))
            .await?;
        matrices.push(found.matrix.ok_or(ToolError::DocumentGone)?);
    }
    Ok(matrices)
}

/// The element that shows a frame, in the parent document.
#[derive(Clone, Debug)]
struct FrameOwner {
    world: World,
    n: u32,
}

impl FrameOwner {
    /// If a frame cannot be used, nothing in it can.
    fn check(&self, inner: &Element, outcome: &Outcome) -> Result<(), ToolError> {
        match outcome.ok {
            true => Ok(()),
            false => Err(inner.refusal(outcome)),
        }
    }
}

/// The elements that show this frame and the frames around it, innermost first.
async fn owners(tab: &Tab, frame: &FrameId) -> Result<Vec<FrameOwner>, ToolError> {
    let mut owners = Vec::new();
    let mut child = frame.clone();
    loop {
        let outer = {
            let state = tab.state();
            let frame = state.frames.find(&child).ok_or(ToolError::DocumentGone)?;
            frame
                .parent
                .as_ref()
                .and_then(|parent| state.frames.find(parent))
                .cloned()
        };
        let Some(outer) = outer else {
            return Ok(owners);
        };
        let world = tab.world_of(&outer).await?;
        owners.push(FrameOwner {
            n: owner_number(&world, &child).await?,
            world,
        });
        child = outer.id;
    }
}

/// The number of the element that shows `frame`, in the world of the parent document.
pub(crate) async fn owner_number(world: &World, frame: &FrameId) -> Result<u32, ToolError> {
    let owner = world.frame_owner(frame).await?;
    let number = runtime::CallFunctionOn {
        function_declaration: "function () { tabmux.adoptAround(this); return tabmux.ref(this); }"
            .into(),
        return_by_value: Some(true),
        ..Default::default()
    };
    let (number, _) = owner.call(number).await?;
    let number = number.value.and_then(|value| value.decode().ok());
    number.ok_or(ToolError::DocumentGone)
}

/// The frame that element `n` of a world shows; none if it is not a frame element.
pub(crate) async fn shown_frame(world: &World, n: u32) -> Result<Option<FrameId>, ToolError> {
    let object = world.object(n).await?;
    Ok(object.describe().await?.frame_id)
}

/// How long an element may take to appear, stop moving or be enabled.
pub(in crate::tools) const WAIT_MS: u32 = 1_000;
/// How long each frame of a document that gets the press may take to be drawn. Only busy machines need more than 20 ms.
const DRAW_MS: u32 = 1_000;
