//! Reads a tab with the walker script: from one frame down through every visible frame, with closed
//! shadow roots opened and event listeners known.

use crate::error::ToolError;
use crate::tab::{FrameId, Tab};
use crate::world::World;
use futures_util::future::join_all;
use serde::Deserialize;
use serde_json::Value;
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
    /// Whether the walk was given up because it took too long.
    pub(super) late: bool,
    pub(super) title: String,
    /// What happened to the start element, if it is gone.
    pub(super) fate: Option<String>,
    /// How many lines match a search, and after how many lines each reported match ends.
    pub(super) found: usize,
    pub(super) ends: Vec<usize>,
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

/// Reads from `top` down. `call` returns the function to call and its argument, for a frame with a
/// known position or for `top` itself. The first result is that of `top`.
pub(super) async fn look(
    tab: &Tab,
    top: World,
    function: &str,
    argument: impl Fn(Option<&FrameInsertion>) -> Value,
) -> Result<Vec<DocumentView>, ToolError> {
    let view = look_at(&top, function, &argument(None)).await?;
    let mut views = vec![DocumentView::new(view)];
    let mut level = vec![(0, top)];
    while !level.is_empty() && views.len() < MAX_FRAMES {
        let looks = level.iter().map(|(at, world)| {
            let places = &views[*at].view.frames;
            look_inside(tab, world, places, function, &argument)
        });
        let inside = join_all(looks).await;
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
            let view = look_at(&world, function, &argument).await.ok()?;
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
async fn look_at(world: &World, function: &str, argument: &Value) -> Result<View, ToolError> {
    for _ in 0..MAX_ROOT_DEPTH {
        // Listeners rarely change, so both requests are sent together.
        let (listeners, view) = tokio::join!(
            world.learn_listeners(),
            world.call::<View>(function, argument)
        );
        let view = view?;
        let news = listeners.unwrap_or_else(|error| {
            tracing::debug!(%error, "cannot list the event listeners of a document");
            false
        });
        let opened = !view.hosts.is_empty() && world.open_closed_roots(&view.hosts).await?;
        if !opened && !news && !view.more_hosts {
            return Ok(view);
        }
    }
    world.call(function, argument).await
}

const MAX_FRAMES: usize = 100;
const FRAME_LIMIT: Duration = Duration::from_secs(3);
/// How many levels of nested closed shadow roots are opened.
const MAX_ROOT_DEPTH: usize = 4;
