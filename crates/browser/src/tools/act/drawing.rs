//! Keeps a tab drawing while a tool works in it, also one that is not in front.

use crate::tab::Tab;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tabmux_cdp::Session;
use tabmux_cdp::types::page::{StartScreencast, StartScreencastFormat, StopScreencast};

/// As long as this lives, the tab draws its frames. Chrome slows a tab down to one frame a second
/// when nobody looks at what it draws, and takes no picture of it at all; so somebody looks.
#[derive(Debug)]
pub(in crate::tools) struct Drawing {
    session: Session,
    /// How many look; the last one to leave ends it.
    lookers: Arc<AtomicUsize>,
    /// Chrome films the tab, and draws it for that alone.
    filmed: bool,
}

impl Drawing {
    /// Begins to look. Commands that follow find the tab drawing.
    pub(in crate::tools) fn of(tab: &Tab) -> Self {
        let looking = Self {
            session: tab.session().clone(),
            lookers: tab.lookers(),
            filmed: false,
        };
        looking.lookers.fetch_add(1, Ordering::Relaxed);
        looking.session.post(look());
        looking
    }

    /// The tab is being filmed from now on: whoever else looks need not, and must not end it.
    pub(in crate::tools) fn filmed(tab: &Tab) -> Self {
        let lookers = tab.lookers();
        lookers.fetch_add(1, Ordering::Relaxed);
        Self {
            session: tab.session().clone(),
            lookers,
            filmed: true,
        }
    }
}

/// We take no frame and acknowledge none, so Chrome sends two or three tiny ones in all. It refuses
/// this while it films.
fn look() -> StartScreencast {
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
        match (self.lookers.fetch_sub(1, Ordering::Relaxed), self.filmed) {
            (1, true) => {}
            // Those who came during the film have to look for themselves now.
            (_, true) => self.session.post(look()),
            (1, false) => self.session.post(StopScreencast::default()),
            (_, false) => {}
        }
    }
}
