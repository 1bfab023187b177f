//! Reads a tab with the walker script: from one frame down through every visible frame, with closed
//! shadow roots opened and event listeners known.

use crate::error::ToolError;
use crate::tab::{FrameId, Tab};
use crate::world::World;
use futures_util::future::join_all;
use serde::Deserialize;
use serde_json::Value;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What the walker found in one frame.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct View {
    pub(super) lines: Vec<String>,
    /// One character for each line: `1` if a user can act on its element.
    pub(super) marks: String,
    /// The frames inside, in order.
    pub(super) frames: Vec<FrameInsertion>,
    pub(super) left: LeftOut,
    /// Whether the walk reached the end of the document.
    pub(super) whole: bool,
    /// Whether it was given up because it took too long.
    pub(super) late: bool,
    /// How many milliseconds it took in the page, and how often it asked whether that is too long.
    took: f64,
    looks: u32,
    pub(super) title: String,
    /// What happened to the start element, if it is gone.
    pub(super) fate: Option<String>,
    /// How many lines match a search, and after how many lines each reported match ends.
    pub(super) found: usize,
    pub(super) ends: Vec<usize>,
    /// The addresses of links, and the type of a document that has no text: for `read_page`.
    pub(super) links: Vec<String>,
    pub(super) kind: Option<String>,
    /// What was found for each named target.
    pub(super) targets: Vec<super::targets::Found>,
    /// Elements that may hide a closed shadow root, and whether there are more of them.
    hosts: Vec<u32>,
    more_hosts: bool,
}

/// Where the lines of a frame belong: before line `line`, with this indentation.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct FrameInsertion {
    pub(super) line: usize,
    pub(super) indent: usize,
    element: u32,
    /// The visible part of the frame's document, if requested.
    pub(super) view: Option<Value>,
}

/// What was counted but not printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct LeftOut {
    /// Lines over the budget, and how many of them are actionable or frames.
    pub(super) lines: usize,
    pub(super) operable: usize,
    pub(super) frames: usize,
    /// Lines below the requested depth, and lines out of view.
    pub(super) deeper: usize,
    pub(super) outside: usize,
    /// Characters cut from long texts.
    pub(super) characters: usize,
}

/// One document that was read.
#[derive(Debug)]
pub(super) struct DocumentView {
    pub(super) view: View,
    /// What each entry of `view.frames` contains, if it was read.
    inside: Vec<Inside>,
}

/// The content of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inside {
    /// A document: its index among the results.
    DocumentView(usize),
    /// A document that could not be read.
    Unread,
    /// No document, but a plug-in or an image.
    Nothing,
}

impl DocumentView {
    fn new(view: View) -> Self {
        Self {
            view,
            inside: Vec::new(),
        }
    }

    /// The content of the frame with this index.
    pub(super) fn inside(&self, frame: usize) -> Inside {
        self.inside.get(frame).copied().unwrap_or(Inside::Unread)
    }

    /// Whether every frame in this document could be read.
    pub(super) fn is_complete(&self) -> bool {
        (0..self.view.frames.len()).all(|frame| self.inside(frame) != Inside::Unread)
    }
}

/// Reads from `top` down. `argument` returns the argument of `function` for a frame with a known position, or for `top`
/// itself. The first result is that of `top`.
pub(super) async fn look(
    tab: &Tab,
    top: World,
    function: &str,
    argument: impl Fn(Option<&FrameInsertion>) -> Value,
) -> Result<Vec<DocumentView>, ToolError> {
    look_for(tab, top, function, argument, &Budget::default()).await
}

/// The same, as long as the page works for it no longer than the budget says. A document for which that is too short is
/// late.
pub(super) async fn look_for(
    tab: &Tab,
    top: World,
    function: &str,
    argument: impl Fn(Option<&FrameInsertion>) -> Value,
    budget: &Budget,
) -> Result<Vec<DocumentView>, ToolError> {
    let view = look_at(&top, function, argument(None), budget.share(1)).await?;
    let mut views = vec![DocumentView::new(view)];
    let mut level = vec![(0, top)];
    while !level.is_empty() && views.len() < MAX_FRAMES {
        // Frames of one process work one after the other, so each gets its part.
        let frames: usize = level
            .iter()
            .map(|(at, _)| views[*at].view.frames.len())
            .sum();
        let share = budget.share(frames);
        let inside = {
            let looks = level.iter().map(|(at, world)| {
                let places = &views[*at].view.frames;
                look_inside(tab, world, places, function, &argument, share)
            });
            join_all(looks).await
        };
        let mut next = Vec::new();
        for ((at, _), frames) in level.into_iter().zip(inside) {
            for frame in frames {
                let inside = match frame {
                    Looked::At(world, view) => {
                        views.push(DocumentView::new(*view));
                        next.push((views.len() - 1, world));
                        Inside::DocumentView(views.len() - 1)
                    }
                    Looked::InVain => Inside::Unread,
                    Looked::AtNothing => Inside::Nothing,
                };
                views[at].inside.push(inside);
            }
        }
        level = next;
    }
    Ok(views)
}

/// How long pages may work for one look, without the time in which they do something else.
#[derive(Debug, Default)]
pub(super) struct Budget {
    most_ms: Option<f64>,
    spent: Mutex<Spent>,
}

#[derive(Debug, Default)]
struct Spent {
    millis: f64,
    looks: u32,
}

/// What is left of a budget. As long as there are looks at the clock, time does not count: what is small is read on any
/// machine, however busy it is.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Left {
    millis: f64,
    looks: u32,
}

impl Left {
    fn is_nothing(self) -> bool {
        self.millis <= 0.0 && self.looks == 0
    }
}

impl Budget {
    pub(super) fn millis(most: f64) -> Self {
        Self {
            most_ms: Some(most),
            ..Self::default()
        }
    }

    /// How long they have worked.
    pub(super) fn spent(&self) -> Duration {
        Duration::try_from_secs_f64(self.lock().millis / 1e3).unwrap_or_default()
    }

    fn spend(&self, millis: f64, looks: u32) {
        let mut spent = self.lock();
        spent.millis += millis.max(0.0);
        spent.looks = spent.looks.saturating_add(looks);
    }

    /// An equal part of what is left now, for each of so many documents.
    fn share(&self, documents: usize) -> Share<'_> {
        let spent = self.lock();
        let left = |most: f64| Left {
            millis: (most - spent.millis).max(0.0) / documents as f64,
            looks: FREE_LOOKS.saturating_sub(spent.looks)
                / u32::try_from(documents).unwrap_or(u32::MAX).max(1),
        };
        Share {
            budget: self,
            left: self.most_ms.map(left),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Spent> {
        self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What one document may take of a budget.
#[derive(Clone, Copy)]
struct Share<'a> {
    budget: &'a Budget,
    /// `None` without a limit.
    left: Option<Left>,
}

impl Share<'_> {
    fn spend(&mut self, millis: f64, looks: u32) {
        self.budget.spend(millis, looks);
        if let Some(left) = &mut self.left {
            left.millis = (left.millis - millis.max(0.0)).max(0.0);
            left.looks = left.looks.saturating_sub(looks);
        }
    }
}

enum Looked {
    At(World, Box<View>),
    InVain,
    AtNothing,
}

/// The frames at these positions of a document, if they can be read soon.
async fn look_inside(
    tab: &Tab,
    world: &World,
    places: &[FrameInsertion],
    function: &str,
    argument: &impl Fn(Option<&FrameInsertion>) -> Value,
    share: Share<'_>,
) -> Vec<Looked> {
    let elements: Vec<u32> = places
        .iter()
        .map(|place| place.element)
        .take(MAX_FRAMES)
        .collect();
    let frames = match world.frames_of(&elements).await {
        Ok(frames) => frames,
        Err(error) => {
            tracing::debug!(%error, "cannot list the frames of a document");
            return Vec::new();
        }
    };
    let looks = places.iter().zip(frames).map(|(place, frame)| async move {
        let Some(frame) = frame else {
            return Looked::AtNothing;
        };
        let argument = argument(Some(place));
        let look = async {
            let world = world_of(tab, &frame).await?;
            let view = look_at(&world, function, argument, share).await.ok()?;
            Some(Looked::At(world, Box::new(view)))
        };
        // A frame of another site may be busy forever although the page around it is not.
        let looked = tokio::time::timeout(FRAME_LIMIT, look).await;
        looked.ok().flatten().unwrap_or(Looked::InVain)
    });
    join_all(looks).await
}

async fn world_of(tab: &Tab, id: &FrameId) -> Option<World> {
    let frame = tab.state().frames.find(id).cloned()?;
    tab.world_of(&frame).await.ok()
}

/// Calls the walker in one document; again if that revealed more of the document.
async fn look_at(
    world: &World,
    function: &str,
    mut argument: Value,
    mut share: Share<'_>,
) -> Result<View, ToolError> {
    let mut rounds = 0;
    loop {
        rounds += 1;
        if let Some(left) = share.left {
            if left.is_nothing() {
                return Ok(View {
                    late: true,
                    ..View::default()
                });
            }
            argument["capMs"] = left.millis.into();
            argument["freeLooks"] = left.looks.into();
        }
        // Listeners rarely change, so both requests are sent together.
        let (listeners, view) = tokio::join!(
            world.learn_listeners(),
            world.call::<View>(function, &argument)
        );
        let view = view?;
        share.spend(view.took, view.looks);
        let news = listeners.unwrap_or_else(|error| {
            tracing::debug!(%error, "cannot list the event listeners of a document");
            false
        });
        if view.late {
            return Ok(view);
        }
        let opened = !view.hosts.is_empty() && world.open_closed_roots(&view.hosts).await?;
        let is_more = opened || news || view.more_hosts;
        if !is_more || rounds > MAX_ROOT_DEPTH {
            return Ok(view);
        }
    }
}

const MAX_FRAMES: usize = 100;
/// How many looks at the clock are free, with all frames and rounds: some 200 lines.
const FREE_LOOKS: u32 = 48;
const FRAME_LIMIT: Duration = Duration::from_secs(3);
/// How many levels of nested closed shadow roots are opened.
const MAX_ROOT_DEPTH: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    fn left(millis: f64, looks: u32) -> Option<Left> {
        Some(Left { millis, looks })
    }

    #[test]
    fn each_level_shares_equally_what_those_before_left() {
        let budget = Budget::millis(50.0);
        budget.share(1).spend(10.0, 8);
        let mut frame = budget.share(4);
        assert_eq!(frame.left, left(10.0, 10));
        frame.spend(4.0, 2);
        assert_eq!(frame.left, left(6.0, 8));
        assert_eq!(budget.share(2).left, left(18.0, 19));
        assert_eq!(Budget::default().share(2).left, None);
    }

    #[test]
    fn what_is_small_is_read_for_free_only_once_with_all_frames() {
        let budget = Budget::millis(50.0);
        // On a busy machine.
        budget.share(1).spend(80.0, 40);
        let mut frame = budget.share(2);
        assert_eq!(frame.left, left(0.0, 4));
        frame.spend(1.0, 5);
        assert!(frame.left.is_some_and(Left::is_nothing));
        budget.spend(1.0, u32::MAX);
        let rest = budget.share(2).left;
        assert!(rest.is_some_and(Left::is_nothing));
    }
}
