//! Messages that a page shows only for a moment, such as a toast: watched in its documents while an action runs.

use super::LIMIT;
use crate::bounds;
use crate::tab::Tab;
use crate::world::World;
use futures_util::future::join_all;
use serde::Deserialize;
use tokio::time::timeout;

/// A watch in these documents. It ends when this is dropped, so also after an action that failed.
#[derive(Debug, Default)]
pub(super) struct Watch(Vec<World>);

impl Watch {
    /// Begins to watch; what an earlier watch found is not told as that of this action.
    pub(super) fn begin(tab: &Tab, main: &World) -> Self {
        let worlds = documents(tab, main);
        // To look for messages costs time, too, on a page that is too large.
        let (begin, watch) = match main.is_too_large() {
            true => (END, Self::default()),
            false => ("tabmux.watchMessages()", Self(worlds.clone())),
        };
        for world in worlds {
            world.post(begin);
        }
        watch
    }

    /// The watch of an earlier call, which left it running.
    pub(super) fn running(tab: &Tab, main: &World) -> Self {
        Self(documents(tab, main))
    }

    /// Leaves it running.
    pub(super) fn leave(mut self) {
        self.0.clear();
    }

    /// Ends it, with the messages that were shown and removed.
    pub(super) async fn end(mut self) -> Vec<String> {
        let worlds = std::mem::take(&mut self.0);
        let ended = join_all(worlds.iter().map(ended)).await;
        let mut texts: Vec<_> = ended.into_iter().flat_map(|it| it.texts).collect();
        texts.truncate(MOST);
        texts
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        for world in &self.0 {
            world.post(END);
        }
    }
}

/// The main document and those of frames that were read before: to watch them costs no wait.
fn documents(tab: &Tab, main: &World) -> Vec<World> {
    let frames: Vec<_> = tab.state().frames.iter().cloned().collect();
    let inner = frames.iter().filter(|it| it.document != main.document);
    let inner = inner.filter(|it| bounds::may_enter(tab, it).is_ok());
    let inner = inner.filter_map(|it| it.world.get().cloned());
    std::iter::once(main.clone())
        .chain(inner.take(MOST_FRAMES))
        .collect()
}

#[derive(Default, Deserialize)]
struct Watched {
    texts: Vec<String>,
}

async fn ended(world: &World) -> Watched {
    let asked = timeout(LIMIT, world.call("tabmux.passingMessages", ())).await;
    asked.ok().and_then(Result::ok).unwrap_or_default()
}

const END: &str = "tabmux.passingMessages()";
/// How many frames are watched.
const MOST_FRAMES: usize = 10;
/// How many messages are told.
const MOST: usize = 5;
