//! Large data saved to files: the page as PDF, the JavaScript heap.

use super::{Access, Category, Tool, ToolOutput, ToolResult, shown_secrets};
use crate::bounds;
use crate::disallowed_frames::{self, HiddenFrames};
use crate::error::ToolError;
use crate::files::Destination;
use crate::run::Page;
use crate::script::LONGEST;
use crate::stream;
use schemars::JsonSchema;
use serde::Deserialize;
use tabmux_cdp::types::{heap_profiler, page as cdp};

/// Saves the page as PDF.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct SavePdf {
    file_path: Option<String>,
    overwrite: Option<bool>,
    landscape: Option<bool>,
}

impl Tool for SavePdf {
    const NAME: &'static str = "save_pdf";
    const DESCRIPTION: &'static str = "Save the page as a PDF file.";
    const ACCESS: Access = Access::Act;
    const CATEGORY: Category = Category::Debugging;
    const PROGRESSIVE: bool = false;

    async fn run(self, page: Page) -> ToolResult {
        shown_secrets::refuse(&page.tab, shown_secrets::NO_PDF).await?;
        let cover = HiddenFrames::begin(&page.tab).await?;
        let to = Destination::new(self.file_path.as_deref(), self.overwrite, "pdf");
        let mut draft = page.files.create(to).await?;
        let print = cdp::PrintToPDF {
            landscape: self.landscape,
            print_background: Some(true),
            prefer_css_page_size: Some(true),
            transfer_mode: Some(cdp::PrintToPDFTransferMode::RETURN_AS_STREAM),
            ..Default::default()
        };
        let printed = page.tab.print(print).await;
        cover.end(&page.tab).await?;
        shown_secrets::refuse(&page.tab, shown_secrets::NO_PDF).await?;
        let bytes = stream::save(page.tab.session(), printed?.stream, &mut draft).await?;
        let place = draft.keep().await?;
        Ok(ToolOutput::text(format!(
            "Saved the page to {} ({bytes} bytes).",
            place.display()
        )))
    }
}

/// Saves the heap.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct TakeHeapsnapshot {
    /// Ends with .heapsnapshot. Default: a new file.
    file_path: Option<String>,
    overwrite: Option<bool>,
}

impl Tool for TakeHeapsnapshot {
    const NAME: &'static str = "take_heapsnapshot";
    const DESCRIPTION: &'static str = "Save the page's JavaScript heap, for DevTools.";
    const ACCESS: Access = Access::Act;
    const CATEGORY: Category = Category::Performance;
    const PROGRESSIVE: bool = false;

    async fn run(self, page: Page) -> ToolResult {
        disallowed_frames::refuse(&page.tab, disallowed_frames::NOT_RECORDED)?;
        let to = Destination::new(self.file_path.as_deref(), self.overwrite, "heapsnapshot");
        let mut draft = page.files.create(to).await?;
        let mut tap = page
            .tab
            .stream_events(&["HeapProfiler.addHeapSnapshotChunk"]);
        let session = page.tab.session().clone();
        let take = heap_profiler::TakeHeapSnapshot {
            report_progress: Some(false),
            ..Default::default()
        };
        let taking = session.send_within(take, LONGEST);
        tokio::pin!(taking);
        let mut bytes = 0_u64;
        let mut answered = false;
        let mut whole = Nesting::default();
        let outcome = loop {
            tokio::select! {
                biased;
                event = tap.events.recv() => {
                    let Some((_, event)) = event else {
                        break Err(ToolError::File("The snapshot came faster than it could be written.".into()));
                    };
                    let Some(chunk) = event.decode::<heap_profiler::AddHeapSnapshotChunk>() else {
                        continue;
                    };
                    bytes += chunk.chunk.len() as u64;
                    whole.read(chunk.chunk.as_bytes());
                    if let Err(error) = draft.write(chunk.chunk.into_bytes()).await {
                        break Err(error);
                    }
                }
                answer = &mut taking, if !answered => {
                    if let Err(error) = answer {
                        break Err(error.into());
                    }
                    answered = true;
                }
            }
            // The command's answer may come before the last chunks.
            if answered && whole.is_whole() {
                break Ok(());
            }
        };
        session.post(heap_profiler::Disable::default());
        outcome?;
        // Process events that came meanwhile: they may concern the saved heap.
        page.tab.catch_up().await;
        bounds::may_look_back(&page.tab)?;
        let place = draft.keep().await?;
        Ok(ToolOutput::text(format!(
            "Saved the heap to {} ({bytes} bytes). DevTools opens it under Memory.",
            place.display()
        )))
    }
}

/// The nesting depth inside a JSON text, tracked without parsing values.
#[derive(Debug, Default)]
struct Nesting {
    depth: u32,
    in_text: bool,
    escaped: bool,
    begun: bool,
}

impl Nesting {
    fn read(&mut self, bytes: &[u8]) {
        for byte in bytes {
            match (*byte, self.in_text) {
                _ if self.escaped => self.escaped = false,
                (b'\\', true) => self.escaped = true,
                (b'"', _) => self.in_text = !self.in_text,
                (b'{' | b'[', false) => {
                    self.depth += 1;
                    self.begun = true;
                }
                (b'}' | b']', false) => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
    }

    fn is_whole(&self) -> bool {
        self.begun && self.depth == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{self, Asked, FRAME, FakeBrowser};
    use crate::origins::{OriginPolicy, OriginRules, RuledBy};
    use serde_json::json;

    #[tokio::test(start_paused = true)]
    async fn a_heap_with_a_blocked_frame_that_came_meanwhile_is_withheld() {
        let harness = FakeBrowser::new(|asked: &Asked| match asked.method.as_str() {
            "HeapProfiler.takeHeapSnapshot" => {
                let frame = fake::frame("INNER", Some(FRAME), "http://blocked.test");
                vec![
                    fake::event("Page.frameNavigated", json!({ "frame": frame })),
                    fake::event(
                        "Page.frameDetached",
                        json!({ "frameId": "INNER", "reason": "remove" }),
                    ),
                    fake::event(
                        "HeapProfiler.addHeapSnapshotChunk",
                        json!({ "chunk": "{}" }),
                    ),
                    asked.answer(json!({})),
                ]
            }
            _ => fake::usual(asked),
        })
        .await;
        let policy = OriginPolicy::of([OriginRules {
            by: RuledBy::Flags,
            allowed: Vec::new(),
            blocked: vec!["http://blocked.test".parse().unwrap()],
        }]);
        let taking = harness.run("take_heapsnapshot", json!({}));
        let error = bounds::within(policy, taking)
            .await
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("The page showed a frame of a disallowed site"),
            "{error}"
        );
    }

    #[test]
    fn the_end_of_a_text_is_found_over_any_cuts() {
        let json = br#"{"a":["]}","\\\"}",{}],"b":1}"#;
        for cut in 0..json.len() {
            let mut nesting = Nesting::default();
            nesting.read(&json[..cut]);
            assert!(!nesting.is_whole(), "{cut}");
            nesting.read(&json[cut..]);
            assert!(nesting.is_whole(), "{cut}");
        }
    }
}
