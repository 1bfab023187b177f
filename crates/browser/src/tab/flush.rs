//! Makes a page report pending changes of its tools now.

use super::probe::PROBE_LIMIT;
use super::{Frame, Tab};
use crate::error::ToolError;
use crate::page_tools::model_context;
use std::sync::atomic::Ordering;

impl Tab {
    /// Makes the page report its changed tools now. Our script in the page collects changes for up to 50 ms; Chrome's
    /// own WebMCP reports at once.
    pub(crate) async fn flush_tools(&self) {
        if self.state().dialog.is_some() || self.is_suspect() {
            return;
        }
        let frames = self.frames_to_flush();
        let flush = frames.iter().map(async |frame| {
            let world = self.world_of(frame).await?;
            let is_native = model_context::flush(&world).await?;
            if is_native && self.state().frames.is_main(&frame.id) {
                let document = frame.document.0;
                self.0.native_in.store(document, Ordering::Relaxed);
            }
            Ok::<_, ToolError>(())
        });
        // A page that hangs reports later, and a page that is gone or blocked has nothing to report.
        let flush = futures_util::future::join_all(flush);
        let _ = tokio::time::timeout(PROBE_LIMIT, flush).await;
    }

    /// The main frame, unless Chrome reports its tools, and every frame whose tools our script reports.
    fn frames_to_flush(&self) -> Vec<Frame> {
        let mut documents = self.found().look().reported_by_pages();
        let state = self.state();
        let native = self.0.native_in.load(Ordering::Relaxed);
        let main = state.frames.main().map(|main| main.document);
        documents.extend(main.filter(|main| main.0 != native));
        documents.sort_unstable();
        documents.dedup();
        let frames = documents
            .into_iter()
            .filter_map(|document| state.frames.showing(document));
        frames.cloned().collect()
    }
}
