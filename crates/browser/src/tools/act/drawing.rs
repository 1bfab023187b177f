//! Keeps a tab drawing while a tool works in it, even if it is in the background.

use crate::tab::Tab;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tabmux_cdp::Session;
use tabmux_cdp::types::page::{StartScreencast, StartScreencastFormat, StopScreencast};

/// While this value lives, the tab draws its frames. Chrome draws a background tab only once a
/// second, and takes no screenshot of it at all, unless something consumes its frames; a screencast
/// does.
#[derive(Debug)]
pub(in crate::tools) struct Drawing {
    session: Session,
    /// How many values use the screencast; the last one to be dropped stops it.
    users: Arc<AtomicUsize>,
    /// Chrome records the tab as a video, which makes it draw.
    recorded: bool,
}

impl Drawing {
    /// Starts the screencast. When later commands arrive, the tab is drawing.
    pub(in crate::tools) fn of(tab: &Tab) -> Self {
        let looking = Self {
            session: tab.session().clone(),
            users: tab.lookers(),
            recorded: false,
        };
        looking.users.fetch_add(1, Ordering::Relaxed);
        looking.session.post(start_screencast());
        looking
    }

    /// The tab is being recorded as a video from now on: others need no screencast, and must not
    /// stop the recording.
    pub(in crate::tools) fn recorded(tab: &Tab) -> Self {
        let users = tab.lookers();
        users.fetch_add(1, Ordering::Relaxed);
        Self {
            session: tab.session().clone(),
            users,
            recorded: true,
        }
    }
}

/// We acknowledge no frame, so Chrome sends only two or three tiny ones. Chrome rejects this during
/// a video recording.
fn start_screencast() -> StartScreencast {
    StartScreencast {
        format: Some(StartScreencastFormat::JPEG),
        quality: Some(1),
        max_width: Some(16),
        max_height: Some(16),
        ..Default::default()
    }
}

impl Drop for Drawing {
    fn drop(&mut self) {
        match (self.users.fetch_sub(1, Ordering::Relaxed), self.recorded) {
            (1, true) => {}
            // Values created during the recording need the screencast now.
            (_, true) => self.session.post(start_screencast()),
            (1, false) => self.session.post(StopScreencast::default()),
            (_, false) => {}
        }
    }
}
