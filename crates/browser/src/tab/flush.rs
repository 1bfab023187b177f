//! Makes a page report pending changes of its tools now.

use super::probe::PROBE_LIMIT;
use super::{DocumentId, Frame, Tab};
use crate::error::ToolError;
use crate::page_tools::model_context;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};
use tokio::task::AbortHandle;
use tokio::time::{Instant, timeout_at};

/// The documents that did not answer a flush in time, each with the flush that still waits for the answer.
#[derive(Debug, Default)]
pub(super) struct UnansweredFlushes(Mutex<Vec<(DocumentId, AbortHandle)>>);

impl UnansweredFlushes {
    fn add(&self, document: DocumentId, flush: AbortHandle) {
        let mut late = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        late.push((document, flush));
    }

    /// Whether the document has not answered yet. It will not answer another flush sooner.
    fn contains(&self, document: DocumentId) -> bool {
        let mut late = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        late.retain(|(_, flush)| !flush.is_finished());
        late.iter().any(|(known, _)| *known == document)
    }
}

impl Tab {
    /// Makes the page report its changed tools now. Our script in the page collects changes for up to 50 ms; Chrome's
    /// own WebMCP reports at once.
    pub(crate) async fn flush_tools(&self) {
        if self.state().dialog.is_some() || self.is_suspect() {
            return;
        }
        let deadline = Instant::now() + PROBE_LIMIT;
        let frames = self.frames_to_flush();
        // A page that hangs reports later, and a page that is gone or blocked has nothing to report.
        let flush = frames.iter().map(|frame| self.flush_frame(frame, deadline));
        futures_util::future::join_all(flush).await;
    }

    async fn flush_frame(&self, frame: &Frame, deadline: Instant) -> Result<(), ToolError> {
        let Ok(world) = timeout_at(deadline, self.world_of(frame)).await else {
            return Ok(());
        };
        let world = world?;
        let mut flush = tokio::spawn(async move { model_context::flush(&world).await });
        match timeout_at(deadline, &mut flush).await {
            Ok(Ok(Ok(true))) if self.state().frames.is_main(&frame.id) => {
                let document = frame.document.0;
                self.0.native_in.store(document, Ordering::Relaxed);
            }
            Ok(_) => {}
            Err(_) => self.0.late.add(frame.document, flush.abort_handle()),
        }
        Ok(())
    }

    /// The main frame, unless Chrome reports its tools, and every frame whose tools our script reports. A document
    /// whose last flush is unanswered is left out, so that a page whose tools cannot be read delays one call only.
    fn frames_to_flush(&self) -> Vec<Frame> {
        let mut documents = self.found().look().reported_by_pages();
        let state = self.state();
        let native = self.0.native_in.load(Ordering::Relaxed);
        let main = state.frames.main().map(|main| main.document);
        documents.extend(main.filter(|main| main.0 != native));
        documents.sort_unstable();
        documents.dedup();
        documents.retain(|document| !self.0.late.contains(*document));
        let frames = documents
            .into_iter()
            .filter_map(|document| state.frames.showing(document));
        frames.cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{self, Asked, FakeBrowser};
    use serde_json::json;
    use std::time::Duration;

    fn is_flush(asked: &Asked) -> bool {
        asked.runs("flushTools")
    }

    /// How long a flush took, and the commands that it sent.
    async fn flush(harness: &mut FakeBrowser, tab: &Tab) -> (Duration, Vec<Asked>) {
        drop(harness.fake.heard_so_far());
        let begun = Instant::now();
        tab.flush_tools().await;
        let mut asked = harness.fake.heard_so_far();
        asked.retain(is_flush);
        (begun.elapsed(), asked)
    }

    #[tokio::test(start_paused = true)]
    async fn a_page_that_does_not_answer_a_flush_delays_one_call_only() {
        let mut harness = FakeBrowser::new(|asked: &Asked| match is_flush(asked) {
            true => vec![],
            false => fake::usual(asked),
        })
        .await;
        let tab = harness.tab().await.unwrap();
        let (waited, asked) = flush(&mut harness, &tab).await;
        assert!(waited >= PROBE_LIMIT, "{waited:?}");
        let [first] = &asked[..] else {
            panic!("{asked:?}");
        };
        for _ in 0..3 {
            let (waited, asked) = flush(&mut harness, &tab).await;
            assert_eq!((waited, asked.len()), (Duration::ZERO, 0));
        }
        // A page that was only busy is flushed again after its answer.
        harness.fake.say(first.gives(json!(false))).await;
        tokio::time::sleep(Duration::from_millis(1)).await;
        assert_eq!(flush(&mut harness, &tab).await.1.len(), 1);
    }
}
