//! Collects the facts of a tab's page from its main frame and every visible frame.

use super::facts::Survey;
use crate::error::ToolError;
use crate::tab::{DocumentId, FrameId, Tab};
use crate::world::World;
use futures_util::future::join_all;
use serde_json::json;
use std::time::Duration;

/// The facts of one page.
pub(super) struct Gathered {
    /// The main frame's document.
    pub(super) main: DocumentId,
    /// All documents that could be read, the main one first.
    pub(super) surveys: Vec<(DocumentId, Survey)>,
    /// How long the page was busy with it.
    pub(super) took: Duration,
}

/// Reads all frames, outer ones before inner ones.
pub(super) async fn gather(tab: &Tab) -> Result<Gathered, ToolError> {
    let top = tab.world().await?;
    let main = top.document;
    let survey = look(&top).await?;
    let mut surveys = vec![(main, survey)];
    let mut level = vec![(0, top)];
    while !level.is_empty() && surveys.len() < MAX_FRAMES {
        let looks = level.iter().map(|(at, world)| {
            let frames = surveys
                .get(*at)
                .map_or(&[][..], |(_, survey)| &survey.frames);
            look_inside(tab, world, frames)
        });
        let inside = join_all(looks).await;
        let mut next = Vec::new();
        for (world, survey) in inside.into_iter().flatten() {
            next.push((surveys.len(), world.clone()));
            surveys.push((world.document, survey));
        }
        level = next;
    }
    let took: f64 = surveys.iter().map(|(_, survey)| survey.took_ms).sum();
    Ok(Gathered {
        main,
        surveys,
        took: Duration::try_from_secs_f64(took / 1_000.0).unwrap_or_default(),
    })
}

/// The documents in these frame elements, if they can be read soon.
async fn look_inside(tab: &Tab, world: &World, elements: &[u32]) -> Vec<(World, Survey)> {
    let elements = elements.get(..MAX_FRAMES).unwrap_or(elements);
    let frames = world.frames_of(elements).await.unwrap_or_default();
    let looks = frames.into_iter().flatten().map(|frame| async move {
        let look = async {
            let world = world_of(tab, &frame).await?;
            let survey = look(&world).await.ok()?;
            Some((world, survey))
        };
        // A frame of another site may be busy forever although the page around it is not.
        tokio::time::timeout(FRAME_LIMIT, look).await.ok().flatten()
    });
    join_all(looks).await.into_iter().flatten().collect()
}

pub(super) async fn world_of(tab: &Tab, id: &FrameId) -> Option<World> {
    let frame = tab.state().frames.find(id).cloned()?;
    tab.world_of(&frame).await.ok()
}

/// Reads one document; again if closed shadow roots had to be opened first.
async fn look(world: &World) -> Result<Survey, ToolError> {
    let mut took = 0.0;
    for _ in 0..MAX_ROOT_DEPTH {
        let mut survey: Survey = world.call("tabmux.survey", json!({})).await?;
        took += survey.took_ms;
        survey.took_ms = took;
        let hosts = survey.hosts.get(..MAX_HOSTS).unwrap_or(&survey.hosts);
        if hosts.is_empty() || !world.open_closed_roots(hosts).await? {
            return Ok(survey);
        }
    }
    world.call("tabmux.survey", json!({})).await
}

const MAX_FRAMES: usize = 40;
const MAX_HOSTS: usize = 200;
const FRAME_LIMIT: Duration = Duration::from_secs(2);
/// How many levels of nested closed shadow roots are opened.
const MAX_ROOT_DEPTH: usize = 3;
