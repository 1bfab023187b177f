//! Looks at a tab with the walker: from one frame down through every frame that shows, with closed
//! shadow roots opened and listeners known.

use crate::error::ToolError;
use crate::tab::{FrameId, Tab};
use crate::world::World;
use futures_util::future::join_all;
use serde::Deserialize;
use serde_json::Value;
use std::time::Duration;

/// What the walker saw in one frame.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct View {
    pub(super) lines: Vec<String>,
    /// One character for each line: `1` if a person can act on what it names.
    pub(super) marks: String,
    /// The frames inside, in order.
    pub(super) frames: Vec<FrameInsertion>,
    pub(super) left: Left,
    /// Whether the walk came to the end of the document.
    pub(super) whole: bool,
    pub(super) title: String,
    /// What became of the element to start from, if it is not there.
    pub(super) fate: Option<String>,
    /// How many lines match a search, and after how many lines each match that is told ends.
    pub(super) found: usize,
    pub(super) ends: Vec<usize>,
    /// Elements that may hide a closed shadow root, and whether there are more of them.
    hosts: Vec<u32>,
    more_hosts: bool,
}

/// Where the lines of a frame belong: before line `line`, so far in.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct FrameInsertion {
    pub(super) line: usize,
    pub(super) indent: usize,
    element: u32,
    /// What part of the frame's document can be seen, if that was asked.
    pub(super) view: Option<Value>,
}

/// What was counted but not printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct Left {
    /// Lines beyond the budget, and how many of them a person can act on or are frames.
    pub(super) lines: usize,
    pub(super) operable: usize,
    pub(super) frames: usize,
    /// Lines deeper than asked for, and lines out of view.
    pub(super) deeper: usize,
    pub(super) outside: usize,
    /// Characters of texts that were too long.
    pub(super) characters: usize,
}

/// One document that was looked at.
#[derive(Debug)]
pub(super) struct Sight {
    pub(super) view: View,
    /// What is at the places of `view.frames`, as far as that was looked at.
    inside: Vec<Inside>,
}

/// What is at the place of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inside {
    /// A document: where it is among the sights.
    Sight(usize),
    /// A document that could not be read.
    Unread,
    /// No document, but a plug-in or a picture.
    Nothing,
}

impl Sight {
    fn new(view: View) -> Self {
        Self {
            view,
            inside: Vec::new(),
        }
    }

    /// What is at the place of the frame of that number.
    pub(super) fn inside(&self, frame: usize) -> Inside {
        self.inside.get(frame).copied().unwrap_or(Inside::Unread)
    }

    /// Whether every frame in this document could be read.
    pub(super) fn is_complete(&self) -> bool {
        (0..self.view.frames.len()).all(|frame| self.inside(frame) != Inside::Unread)
    }
}

/// Looks from `top` down. `call` gives the function to call and its argument for a frame inside, of
/// which the place is known, or for `top` itself. The first sight is that of `top`.
pub(super) async fn look(
    tab: &Tab,
    top: World,
    function: &str,
    argument: impl Fn(Option<&FrameInsertion>) -> Value,
) -> Result<Vec<Sight>, ToolError> {
    let view = look_at(&top, function, &argument(None)).await?;
    let mut sights = vec![Sight::new(view)];
    let mut level = vec![(0, top)];
    while !level.is_empty() && sights.len() < MOST_FRAMES {
        let looks = level.iter().map(|(at, world)| {
            let places = &sights[*at].view.frames;
            look_inside(tab, world, places, function, &argument)
        });
        let inside = join_all(looks).await;
        let mut next = Vec::new();
        for ((at, _), frames) in level.into_iter().zip(inside) {
            for frame in frames {
                let inside = match frame {
                    Looked::At(world, view) => {
                        sights.push(Sight::new(*view));
                        next.push((sights.len() - 1, world));
                        Inside::Sight(sights.len() - 1)
                    }
                    Looked::InVain => Inside::Unread,
                    Looked::AtNothing => Inside::Nothing,
                };
                sights[at].inside.push(inside);
            }
        }
        level = next;
    }
    Ok(sights)
}

enum Looked {
    At(World, Box<View>),
    InVain,
    AtNothing,
}

/// The frames at these places of a document, as far as they can be read soon.
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
        .take(MOST_FRAMES)
        .collect();
    let frames = match world.frames_of(&elements).await {
        Ok(frames) => frames,
        Err(error) => {
            tracing::debug!(%error, "the frames of a document could not be told");
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
        // A frame of another site may be busy for ever; the page around it is not.
        let looked = tokio::time::timeout(FRAME_LIMIT, look).await;
        looked.ok().flatten().unwrap_or(Looked::InVain)
    });
    join_all(looks).await
}

async fn world_of(tab: &Tab, id: &FrameId) -> Option<World> {
    let frame = tab.state().frames.find(id).cloned()?;
    tab.world_of(&frame).await.ok()
}

/// Calls the walker in one document; again when more of the document has come to light.
async fn look_at(world: &World, function: &str, argument: &Value) -> Result<View, ToolError> {
    for _ in 0..DEEPEST_ROOTS {
        // Listeners are seldom news, so both questions go out together.
        let (listeners, view) = tokio::join!(
            world.learn_listeners(),
            world.call::<View>(function, argument)
        );
        let view = view?;
        let news = listeners.unwrap_or_else(|error| {
            tracing::debug!(%error, "the listeners of a document could not be told");
            false
        });
        let opened = !view.hosts.is_empty() && world.open_closed_roots(&view.hosts).await?;
        if !opened && !news && !view.more_hosts {
            return Ok(view);
        }
    }
    world.call(function, argument).await
}

const MOST_FRAMES: usize = 100;
const FRAME_LIMIT: Duration = Duration::from_secs(3);
/// Closed roots inside closed roots, so deep.
const DEEPEST_ROOTS: usize = 4;
