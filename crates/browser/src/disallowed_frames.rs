//! Frames that the current task may not see: they are hidden in pictures and PDFs, and get no input.

use crate::bounds;
use crate::error::ToolError;
use crate::origins::Blocked;
use crate::tab::{DocumentId, Frame, FrameId, Tab};
use crate::tools::{frame_owner, shown_frame};
use crate::world::{RemoteObject, World};
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;
use tabmux_cdp::types::{dom, runtime};

/// Refuses a tool that shows the whole page, while the page has a frame that may not be seen.
pub(crate) fn refuse(tab: &Tab, what: &'static str) -> Result<(), ToolError> {
    match bounds::disallowed_frames(tab).into_iter().next() {
        Some((_, blocked)) => Err(ToolError::DisallowedFrame { what, blocked }),
        None => Ok(()),
    }
}

/// Whether the page has such a frame.
pub(crate) fn is_there(tab: &Tab) -> bool {
    !bounds::disallowed_frames(tab).is_empty()
}

/// Refuses mouse input at a point of the tab's viewport that is in such a frame.
pub(crate) async fn refuse_point(tab: &Tab, x: f64, y: f64) -> Result<(), ToolError> {
    let what = "At this point is a frame of a disallowed site; nothing was clicked.";
    descend(tab, what, "tabmux.frameAt", Some((x, y))).await
}

/// Refuses a drop at a point that is in such a frame.
pub(crate) async fn refuse_drop(tab: &Tab, (x, y): (f64, f64)) -> Result<(), ToolError> {
    let what = "At the drop point is a frame of a disallowed site; nothing was dropped.";
    descend(tab, what, "tabmux.frameAt", Some((x, y))).await
}

/// Refuses keys while such a frame has the focus.
pub(crate) async fn refuse_keys(tab: &Tab) -> Result<(), ToolError> {
    let what = "The focus is in a frame of a disallowed site, and keys go there; no more keys were sent. Click an \
                element outside of it first.";
    descend(tab, what, "tabmux.focusedFrame", None).await
}

/// Follows nested frames inwards, as `function` selects them; an error if that leads to a disallowed one.
async fn descend(
    tab: &Tab,
    what: &'static str,
    function: &str,
    mut point: Option<(f64, f64)>,
) -> Result<(), ToolError> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Next {
        n: Option<u32>,
        x: f64,
        y: f64,
    }
    let disallowed = bounds::disallowed_frames(tab);
    if disallowed.is_empty() {
        return Ok(());
    }
    let mut world = tab.world().await?;
    loop {
        // Looked up for its side effect: closed shadow roots around them become known.
        for child in leading_to(tab, &disallowed, &world.frame) {
            frame_owner(&world, &child).await?;
        }
        let (x, y) = point.unwrap_or_default();
        let next: Next = world.call(function, json!({ "x": x, "y": y })).await?;
        let Some(n) = next.n else {
            return Ok(());
        };
        let Some(id) = shown_frame(&world, n).await? else {
            // It shows an image or similar.
            return Ok(());
        };
        // Process all events that Chrome sent before its last response.
        tab.catch_up().await;
        let child = tab.state().frames.find(&id).cloned();
        let Some(child) = child else {
            return Err(ToolError::NotActionable {
                why: "A frame has just appeared there, and its site is not known yet. Try again."
                    .into(),
            });
        };
        match bounds::may_enter(tab, &child) {
            Err(ToolError::Blocked(blocked)) => {
                return Err(ToolError::DisallowedFrame { what, blocked });
            }
            entered => entered?,
        }
        world = tab.world_of(&child).await?;
        point = point.map(|_| (next.x, next.y));
    }
}

/// The child frames of `outer` that are disallowed or contain a disallowed frame.
fn leading_to(tab: &Tab, disallowed: &[(Frame, Blocked)], outer: &FrameId) -> Vec<FrameId> {
    let state = tab.state();
    let leading = disallowed.iter().filter_map(|(frame, _)| {
        let mut next = Some(frame);
        while let Some(frame) = next {
            let around = frame.parent.as_ref()?;
            if around == outer {
                return Some(frame.id.clone());
            }
            next = state.frames.find(around);
        }
        None
    });
    leading.collect()
}

/// Disallowed frames, hidden for a picture or a PDF; shown again at the latest when this is dropped.
pub(crate) struct HiddenFrames {
    frames: Vec<(FrameId, DocumentId)>,
    blocked: Option<Blocked>,
    worlds: Vec<World>,
    /// The elements that contain them.
    owners: Vec<(World, u32)>,
    /// Documents from this one on are newer than the start of that.
    since: DocumentId,
}

impl HiddenFrames {
    /// Hides disallowed frames. Without any, does nothing.
    pub(crate) async fn begin(tab: &Tab) -> Result<Self, ToolError> {
        let since = DocumentId::next();
        let disallowed = bounds::disallowed_frames(tab);
        let mut cover = Self {
            frames: names(&disallowed),
            blocked: disallowed.first().map(|(_, blocked)| blocked.clone()),
            worlds: Vec::new(),
            owners: Vec::new(),
            since,
        };
        let mut owners: BTreeMap<DocumentId, (World, Vec<u32>)> = BTreeMap::new();
        for (frame, _) in &disallowed {
            let outer = {
                let state = tab.state();
                let outer = frame.parent.as_ref();
                outer.and_then(|outer| state.frames.find(outer)).cloned()
            };
            let world = tab.world_of(&outer.ok_or(ToolError::DocumentGone)?).await?;
            let owner = frame_owner(&world, &frame.id).await?;
            cover.owners.push((world.clone(), owner));
            let all = owners.entry(world.document).or_insert((world, Vec::new()));
            all.1.push(owner);
        }
        if !cover.holds().await {
            return Err(cover.failed());
        }
        for (world, frames) in owners.into_values() {
            cover.worlds.push(world.clone());
            let covered: Covered = world
                .call("tabmux.cover", json!({ "frames": frames }))
                .await?;
            if !covered.ok {
                return Err(cover.failed());
            }
        }
        Ok(cover)
    }

    /// Shows them again. An error if they, or others, may be in the picture.
    pub(crate) async fn end(mut self, tab: &Tab) -> Result<(), ToolError> {
        let mut whole = self.holds().await;
        for world in &self.worlds {
            // For a document that is gone meanwhile, the result is unknown.
            let covered = world.call::<Covered>("tabmux.uncover", json!({})).await;
            whole &= covered.is_ok_and(|covered| covered.ok);
        }
        self.worlds.clear();
        // Process all events that Chrome sent before the picture.
        tab.catch_up().await;
        let disallowed = bounds::disallowed_frames(tab);
        if self.blocked.is_none() {
            self.blocked = disallowed.first().map(|(_, blocked)| blocked.clone());
        }
        // A frame that appeared and went away again may be in it, too.
        let policy = bounds::here().unwrap_or_else(|| tab.guard().policy());
        if let Err(blocked) = tab.state().frames.check_since(self.since, &policy) {
            whole = false;
            self.blocked = self.blocked.take().or(blocked);
        }
        match whole && names(&disallowed) == self.frames {
            true => Ok(()),
            false => Err(self.failed()),
        }
    }

    /// Whether the page's styles cannot show the hidden frames again: for a slotted element, styles of the shadow
    /// root override the element's own.
    async fn holds(&self) -> bool {
        for (world, owner) in &self.owners {
            if !matches!(is_slotted(world, *owner).await, Ok(false)) {
                return false;
            }
        }
        true
    }

    fn failed(&self) -> ToolError {
        match &self.blocked {
            Some(blocked) => ToolError::DisallowedFrame {
                what: "The page has a frame of a disallowed site that could not be hidden. Use take_snapshot, or \
                       try again.",
                blocked: blocked.clone(),
            },
            None => ToolError::DocumentGone,
        }
    }
}

impl Drop for HiddenFrames {
    fn drop(&mut self) {
        for world in &self.worlds {
            world.session.post(runtime::Evaluate {
                expression: "tabmux.uncover()".into(),
                context_id: Some(world.context),
                ..Default::default()
            });
        }
    }
}

/// Whether an element is slotted into a shadow root, or may be: only Chrome knows closed ones.
async fn is_slotted(world: &World, n: u32) -> Result<bool, ToolError> {
    let parent = runtime::Evaluate {
        expression: format!("tabmux.dom.parent(tabmux.element({n}))"),
        context_id: Some(world.context),
        ..Default::default()
    };
    let parent = world.session.send(parent).await?.result.object_id;
    let parent = RemoteObject::new(
        parent.ok_or(ToolError::DocumentGone)?,
        world.session.clone(),
    );
    let describe = dom::DescribeNode {
        object_id: Some(parent.id.clone()),
        ..Default::default()
    };
    let node = world.session.send(describe).await?.node;
    Ok(node.local_name == "slot" || node.shadow_roots.is_some_and(|roots| !roots.is_empty()))
}

fn names(disallowed: &[(Frame, Blocked)]) -> Vec<(FrameId, DocumentId)> {
    let names = disallowed.iter();
    names
        .map(|(frame, _)| (frame.id.clone(), frame.document))
        .collect()
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Covered {
    ok: bool,
}

/// Why there is no screencast, trace or heap snapshot of a page.
pub(crate) const NOT_RECORDED: &str =
    "The page shows a frame of a disallowed site, so it cannot be recorded. Use take_snapshot.";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{self, Asked, FRAME, FakeBrowser};
    use crate::origins::{OriginPolicy, OriginRules, RuledBy};

    /// The result of a screenshot, while one frame shows these sites one after the other.
    async fn picture(sites: Vec<&'static str>) -> Result<(), String> {
        let harness = FakeBrowser::new(move |asked: &Asked| {
            let mut said = Vec::new();
            if asked.method == "Page.captureScreenshot" {
                for site in &sites {
                    let frame = fake::frame("INNER", Some(FRAME), site);
                    said.push(fake::event(
                        "Page.frameNavigated",
                        json!({ "frame": frame }),
                    ));
                }
                said.push(asked.answer(json!({ "data": "" })));
                return said;
            }
            fake::usual(asked)
        })
        .await;
        let policy = OriginPolicy::of([OriginRules {
            by: RuledBy::Flags,
            allowed: Vec::new(),
            blocked: vec!["http://blocked.test".parse().unwrap()],
        }]);
        let tab = harness.tab().await.unwrap();
        let taking = async {
            let cover = HiddenFrames::begin(&tab).await?;
            let picture = tabmux_cdp::types::page::CaptureScreenshot::default();
            tab.session().send(picture).await?;
            cover.end(&tab).await
        };
        let taken = bounds::within(policy, taking).await;
        taken.map_err(|error| error.to_string())
    }

    #[tokio::test(start_paused = true)]
    async fn a_blocked_frame_that_came_and_went_prevents_the_screenshot() {
        let (free, blocked) = ("http://free.test", "http://blocked.test");
        assert_eq!(picture(vec![free, free]).await, Ok(()));
        let error = picture(vec![free, blocked, free]).await.unwrap_err();
        assert!(error.contains("could not be hidden"), "{error}");
        let many = ["http://a.test", "http://b.test"].repeat(50);
        assert!(picture(many).await.is_err(), "more than are remembered");
    }
}
