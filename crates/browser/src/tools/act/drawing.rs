//! Keeps a tab drawing while a tool works in it, also one that is not in front.

use crate::tab::Tab;
use tabmux_cdp::types::page::{StartScreencast, StartScreencastFormat, StopScreencast};

/// As long as this lives, the tab draws its frames. Chrome slows a tab down to one frame a second
/// when nobody looks at what it draws, and takes no picture of it at all; so somebody looks.
#[derive(Debug)]
pub(in crate::tools) struct Drawing<'a>(&'a Tab);

impl<'a> Drawing<'a> {
    /// Begins to look. Commands that follow find the tab drawing.
    pub(in crate::tools) fn of(tab: &'a Tab) -> Self {
        // We take no frame and acknowledge none, so Chrome sends two or three tiny ones in all.
        tab.session().post(StartScreencast {
            format: Some(StartScreencastFormat::JPEG),
            quality: Some(1),
            max_width: Some(16),
            max_height: Some(16),
            ..Default::default()
        });
        Self(tab)
    }
}

impl Drop for Drawing<'_> {
    fn drop(&mut self) {
        self.0.session().post(StopScreencast::default());
    }
}
