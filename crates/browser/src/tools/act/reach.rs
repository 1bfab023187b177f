//! Finds the point of the tab's viewport at which an element can be pressed, through any frames.

use crate::disallowed_frames;
use crate::error::ToolError;
use crate::script;
use crate::tab::{FrameId, Tab};
use crate::text::one_line;
use crate::world::{RemoteObject, World};
use futures_util::future::try_join_all;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tabmux_cdp::types::{dom, runtime};

/// An element that a uid names.
#[derive(Clone, Debug)]
pub(in crate::tools) struct Element {
    /// The world of its document.
    pub world: World,
    /// Its number there.
    pub n: u32,
    uid: String,
    /// Whether its frame has a session of its own, which ends with the frame and not with the tab.
    apart: bool,
}

impl Element {
    /// The element that `uid` names, if its document is still shown.
    pub(in crate::tools) async fn find(tab: &Tab, uid: &str) -> Result<Self, ToolError> {
        let (world, n) = tab.element(uid).await?;
        Ok(Self {
            apart: world.session.id() != tab.session().id(),
            world,
            n,
            uid: uid.to_owned(),
        })
    }

    /// An element that the agent knows by the words on it.
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

    /// Another element of the same document, which stands in for this one.
    pub(in crate::tools) fn sibling(&self, n: u32) -> Self {
        Self { n, ..self.clone() }
    }

    /// What the agent called it.
    pub(in crate::tools) fn uid(&self) -> &str {
        &self.uid
    }

    /// The error for an answer of our scripts that says no.
    pub(in crate::tools) fn refusal(&self, outcome: &Outcome) -> ToolError {
        self.refusal_for(&outcome.reason, &outcome.detail)
    }

    /// The error for a reason that our scripts give.
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
                "The element {uid} is covered{}. Close or scroll away what lies over it, then try again.",
                by("by")
            ),
            "disabled" => format!(
                "The element {uid} is disabled{}. Do first what enables it, or use another element.",
                by("through")
            ),
            "inert" => format!(
                "The element {uid} is inert{}. Something else on the page, such as a dialog, has to be \
                 dealt with first.",
                by("through")
            ),
            "hidden" => format!(
                "The element {uid} is not visible ({detail}). Open what it is in, or use another element."
            ),
            "moving" => {
                format!("The element {uid} is still moving. Wait for it to stop, then try again.")
            }
            "pointer-events" => format!(
                "The element {uid} lets the pointer through (pointer-events: none). Use the element that \
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

/// What our scripts answer: yes with a place, or no with a reason.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::tools) struct Outcome {
    pub ok: bool,
    pub reason: String,
    pub detail: String,
    pub x: f64,
    pub y: f64,
    pub rect: Rect,
    /// Whether a frame is what is there.
    pub frame: bool,
}

/// A box in the viewport of the element's frame.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(in crate::tools) struct Rect {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

/// For what an element is reached, and so how long it is worth waiting for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tools) enum Patience {
    /// It is to be pressed: it has to be enabled.
    Press,
    /// The same, by somebody who looks again with [`Spot::check`] whether it stands still.
    PressSoon,
    /// The pointer only goes there: a disabled element may show why it is disabled.
    Point,
}

/// Where an element was found.
#[derive(Clone, Debug)]
pub(in crate::tools) enum Reached {
    /// At this point.
    At(Spot),
    /// It is an option of a list that is closed, so it is nowhere; it can be chosen.
    ClosedOption,
}

/// CSS pixels from the left and the top of a viewport.
type Point = (f64, f64);

/// A point at which an element can be pressed, and the way there through its frames.
#[derive(Clone, Debug)]
pub(in crate::tools) struct Spot {
    /// In the tab's viewport.
    pub x: f64,
    pub y: f64,
    /// In the viewport of the element's own frame.
    pub inner: Point,
    /// The element's box there.
    rect: Rect,
    /// Whether a frame inside the element, or the element itself, is what is there.
    in_frame: bool,
    /// The frames around it, innermost first, with the point in and around each.
    frames: Vec<(Owner, Point, Point)>,
}

impl Spot {
    /// Whether the frames around the element are still where they were, with nothing over them here.
    pub(in crate::tools) async fn check_frames(&self, element: &Element) -> Result<(), ToolError> {
        let around = self.frames.iter().map(|(owner, inner, at)| async move {
            let inner = json!({ "x": inner.0, "y": inner.1 });
            let ask = json!({ "n": owner.n, "inner": inner, "x": at.0, "y": at.1 });
            let aimed: Outcome = owner.world.call("tabmux.aimFrame", ask).await?;
            owner.check(element, &aimed)
        });
        try_join_all(around).await.map(drop)
    }

    /// The element whose document sees what the pointer does here, and the point there: the root of what is in the
    /// frame, where a frame is pressed.
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
                // Only what has been drawn gets input: before that, the browser does not know where it is.
                for _ in 0..2 {
                    let _: bool = world.call("tabmux.nextFrame", 250).await?;
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

    /// Whether the element is still what would be pressed here, now that the pointer has arrived: pages
    /// move things when it does.
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

/// Waits until the element can be acted upon, and finds where.
pub(in crate::tools) async fn reach(
    tab: &Tab,
    element: &Element,
    patience: Patience,
) -> Result<Reached, ToolError> {
    let owners = show_frames(tab, element).await?;
    let even_disabled = patience == Patience::Point;
    // Where the frames around it have to stand still as well, that is waited for first.
    let once = patience == Patience::PressSoon && owners.is_empty();
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

/// Scrolls to the element, and to the frames it is in.
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

/// Scrolls to the frames around the element, from the outside in: those out of view do not run.
async fn show_frames(tab: &Tab, element: &Element) -> Result<Vec<Owner>, ToolError> {
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

/// The matrices `[a, b, c, d, e, f]` that lead from a frame's viewport to the tab's, innermost first.
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

/// The element that shows a frame, in the document around it.
#[derive(Clone, Debug)]
struct Owner {
    world: World,
    n: u32,
}

impl Owner {
    /// What is wrong with a frame is wrong with everything in it.
    fn check(&self, inner: &Element, outcome: &Outcome) -> Result<(), ToolError> {
        match outcome.ok {
            true => Ok(()),
            false => Err(inner.refusal(outcome)),
        }
    }
}

/// The elements that show the frame and the frames around it, innermost first.
async fn owners(tab: &Tab, frame: &FrameId) -> Result<Vec<Owner>, ToolError> {
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
        owners.push(Owner {
            n: owner_number(&world, &child).await?,
            world,
        });
        child = outer.id;
    }
}

/// The number, in the world of the outer document, of the element that shows `frame`.
pub(crate) async fn owner_number(world: &World, frame: &FrameId) -> Result<u32, ToolError> {
    let owner = dom::GetFrameOwner {
        frame_id: frame.clone(),
    };
    let owner = world
        .session
        .send(owner)
        .await
        .map_err(script::document_gone_or)?;
    let resolve = dom::ResolveNode {
        backend_node_id: Some(owner.backend_node_id),
        execution_context_id: Some(world.context),
        ..Default::default()
    };
    let node = world
        .session
        .send(resolve)
        .await
        .map_err(script::document_gone_or)?;
    let id = node.object.object_id.ok_or(ToolError::DocumentGone)?;
    let object = RemoteObject::new(id, world.session.clone());
    let number = runtime::CallFunctionOn {
        function_declaration: "function () { tabmux.adoptAround(this); return tabmux.ref(this); }"
            .into(),
        object_id: Some(object.id.clone()),
        return_by_value: Some(true),
        ..Default::default()
    };
    let number = script::in_page(world.session.send(number))
        .await
        .map_err(script::document_gone_or)?;
    let number = number.result.value.and_then(|value| value.decode().ok());
    number.ok_or(ToolError::DocumentGone)
}

/// The frame that element `n` of a world shows; none if it is not the element of a frame.
pub(crate) async fn shown_frame(world: &World, n: u32) -> Result<Option<FrameId>, ToolError> {
    let object = world.object(n).await?;
    let describe = dom::DescribeNode {
        object_id: Some(object.id.clone()),
        ..Default::default()
    };
    let described = world.session.send(describe).await;
    let described = described.map_err(script::document_gone_or)?;
    Ok(described.node.frame_id)
}

/// How long an element may take to appear, stop moving or be enabled.
pub(in crate::tools) const WAIT_MS: u32 = 1_000;
