//! Attempts that may wait in the queue of a grid. An attempt ends with its session, and one that calls waited for when
//! none does any more, which gives its place in the queue to others.

use std::collections::HashMap;
use tabmux_core::{BrowserId, Core};
use tokio_util::sync::CancellationToken;

/// The attempts.
#[derive(Debug, Default)]
pub(crate) struct Queued(HashMap<BrowserId, QueuePlace>);

#[derive(Debug)]
struct QueuePlace {
    /// Ends the attempt.
    give_up: CancellationToken,
    /// Whether a call has waited for it. Otherwise the session connects in the background.
    wanted: bool,
}

impl Queued {
    pub(super) fn begin(&mut self, browser: BrowserId, give_up: CancellationToken) {
        let wanted = false;
        self.0.insert(browser, QueuePlace { give_up, wanted });
    }

    pub(super) fn end(&mut self, browser: BrowserId) {
        self.0.remove(&browser);
    }

    /// Notes that calls wait for a browser. Returns whether it is one of a grid.
    pub(crate) fn note_waiting(&mut self, browser: BrowserId, calls: usize) -> bool {
        match self.0.get_mut(&browser) {
            Some(place) => {
                place.wanted |= calls > 0;
                true
            }
            None => false,
        }
    }

    /// Ends the attempts that no call waits for any more, or whose session has ended.
    pub(crate) fn give_up_unwanted(&self, core: &Core) {
        for (browser, place) in &self.0 {
            let has_left = place.wanted && core.waiting_for(*browser).is_empty();
            if has_left || !core.has_sessions(*browser) {
                place.give_up.cancel();
            }
        }
    }
}
