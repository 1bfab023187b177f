//! Recording the page: Chrome's own recorder, into an MP4 file.

use super::act::Drawing;
use super::{Access, Category, Tool, ToolOutput, ToolResult, shown_secrets};
use crate::bounds;
use crate::disallowed_frames;
use crate::error::ToolError;
use crate::files::{Destination, Draft};
use crate::run::Page;
use crate::stream;
use schemars::JsonSchema;
use serde::Deserialize;
use std::fs::File;
use std::io::Read;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tabmux_cdp::types::{io, page as cdp};
use tabmux_cdp::{CdpError, Session};
use tokio::time::Instant;

/// Starts a recording.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ScreencastStart {
    /// Must end with .mp4. Default: a new file.
    file_path: Option<String>,
    overwrite: Option<bool>,
}

impl Tool for ScreencastStart {
    const NAME: &'static str = "screencast_start";
    const DESCRIPTION: &'static str =
        "Record the page as an MP4 file until screencast_stop, for 10 minutes at most.";
    const ACCESS: Access = Access::Act;
    const CATEGORY: Category = Category::Screencast;
    const OPT_IN: bool = true;
    const PROGRESSIVE: bool = false;

    fn check(&self) -> Result<(), String> {
        let ends_well = |path: &String| path.to_ascii_lowercase().ends_with(".mp4");
        match self.file_path.as_ref().is_none_or(ends_well) {
            true => Ok(()),
            false => Err("`filePath` must end with .mp4, the format that is written".into()),
        }
    }

    async fn run(self, page: Page) -> ToolResult {
        if page.tab.filming().running().is_some() {
            return Err(ToolError::NotActionable {
                why: "This tab is already being recorded. Call screencast_stop first.".into(),
            });
        }
        disallowed_frames::refuse(&page.tab, disallowed_frames::NOT_RECORDED)?;
        shown_secrets::refuse(&page.tab, shown_secrets::NO_VIDEO).await?;
        let to = Destination::new(self.file_path.as_deref(), self.overwrite, "mp4");
        let draft = page.files.create(to).await?;
        let session = page.tab.session().clone();
        let started = session.send(cdp::StartScreenRecording::default()).await;
        let started = started.map_err(recording_error)?;
        let drawing = Drawing::recorded(&page.tab);
        let text = format!(
            "Recording the page to {}. Call screencast_stop to end it.",
            draft.place().display()
        );
        *page.tab.filming().running() = Some(Recording {
            end: tokio::spawn(end_after(session.clone(), MAX_DURATION)),
            session,
            stream: started.stream,
            draft: Some(draft),
            started: Instant::now(),
            stopped: false,
            _drawing: drawing,
        });
        Ok(ToolOutput::text(text))
    }
}

/// Stops the recording.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ScreencastStop {}

impl Tool for ScreencastStop {
    const NAME: &'static str = "screencast_stop";
    const DESCRIPTION: &'static str = "Stop the recording and save the video.";
    const LOOKS_BACK: bool = true;
    const ACCESS: Access = Access::Act;
    const CATEGORY: Category = Category::Screencast;
    const OPT_IN: bool = true;
    const PROGRESSIVE: bool = false;
    const DURING_DIALOG: bool = true;
    const NEEDS_PAGE: bool = false;

    async fn run(self, page: Page) -> ToolResult {
        shown_secrets::may_ask(&page.tab)?;
        let recording = page.tab.filming().running().take();
        let mut recording = recording.ok_or_else(|| ToolError::NotActionable {
            why: "This tab is not being recorded. Call screencast_start first.".into(),
        })?;
        let lasted = recording.started.elapsed().min(MAX_DURATION);
        // A recording that Chrome ended by itself cannot be stopped again; its file exists
        // nevertheless.
        let _ = recording
            .session
            .send(cdp::StopScreenRecording::default())
            .await;
        page.tab.catch_up().await;
        bounds::may_look_back(&page.tab)?;
        shown_secrets::refuse(&page.tab, shown_secrets::NO_VIDEO).await?;
        page.progress("saving the video");
        let handle = recording.stream.clone();
        recording.stopped = true;
        let mut draft = recording.draft.take().ok_or(ToolError::Stuck)?;
        let bytes = stream::save(&recording.session, Some(handle), &mut draft).await?;
        if bytes == 0 {
            return Err(ToolError::NotActionable {
                why: "Chrome recorded nothing: the page was not drawn meanwhile. Try again, and record for longer."
                    .into(),
            });
        }
        let format = draft.read_back(format_of).await?;
        let place = draft.keep().await?;
        Ok(ToolOutput::text(format!(
            "Saved {:.1} s of video to {}: {format}, {bytes} bytes.",
            lasted.as_secs_f64(),
            place.display(),
        )))
    }
}

/// The running recording of a tab, if any.
#[derive(Debug, Default)]
pub(crate) struct Filming(Mutex<Option<Recording>>);

impl Filming {
    fn running(&self) -> MutexGuard<'_, Option<Recording>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A recording in progress; dropping this stops it.
#[derive(Debug)]
struct Recording {
    session: Session,
    stream: io::StreamHandle,
    draft: Option<Draft>,
    started: Instant,
    end: tokio::task::JoinHandle<()>,
    stopped: bool,
    _drawing: Drawing,
}

impl Drop for Recording {
    fn drop(&mut self) {
        self.end.abort();
        if !self.stopped {
            self.session.post(cdp::StopScreenRecording::default());
        }
    }
}

async fn end_after(session: Session, limit: Duration) {
    tokio::time::sleep(limit).await;
    session.post(cdp::StopScreenRecording::default());
}

fn recording_error(error: CdpError) -> ToolError {
    match error {
        CdpError::Rejected { message, .. } if message.contains("wasn't found") => {
            ToolError::NotActionable {
                why:
                    "This browser cannot record its pages; a newer Chrome can. Use take_screenshot."
                        .into(),
            }
        }
        CdpError::Rejected { message, .. } if message.contains("already active") => {
            ToolError::NotActionable {
                why: "Something else is capturing this tab, such as a trace. Stop that first."
                    .into(),
            }
        }
        error => error.into(),
    }
}

/// The video format; which codec Chrome has depends on its build.
fn format_of(recording: &mut File) -> &'static str {
    let mut head = Vec::new();
    let read = recording.take(4_096).read_to_end(&mut head);
    let says = |name: &[u8]| read.is_ok() && head.windows(4).any(|part| part == name);
    match () {
        () if says(b"avc1") => "MP4 with H.264 video",
        () if says(b"av01") => "MP4 with AV1 video",
        () if says(b"vp09") => "MP4 with VP9 video",
        () => "video",
    }
}

const MAX_DURATION: Duration = Duration::from_secs(600);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{self, Asked, FRAME, FakeBrowser};
    use crate::origins::{OriginPolicy, OriginRules, RuledBy};
    use serde_json::json;

    /// The answer of screencast_stop, where a frame of this site comes and goes just before the film ends.
    async fn film_with(site: &'static str) -> Result<(), String> {
        let harness = FakeBrowser::new(move |asked: &Asked| match asked.method.as_str() {
            "Page.startScreenRecording" => vec![asked.answer(json!({ "stream": "1" }))],
            "Page.stopScreenRecording" => {
                let frame = fake::frame("INNER", Some(FRAME), site);
                let gone = json!({ "frameId": "INNER", "reason": "remove" });
                vec![
                    fake::event("Page.frameNavigated", json!({ "frame": frame })),
                    fake::event("Page.frameDetached", gone),
                    asked.answer(json!({})),
                ]
            }
            "IO.read" => vec![asked.answer(json!({ "data": "film", "eof": true }))],
            _ => fake::usual(asked),
        })
        .await;
        let policy = OriginPolicy::of([OriginRules {
            by: RuledBy::Flags,
            allowed: Vec::new(),
            blocked: vec!["http://blocked.test".parse().unwrap()],
        }]);
        let start = harness.run("screencast_start", json!({}));
        bounds::within(policy.clone(), start).await.unwrap();
        let stop = harness.run("screencast_stop", json!({}));
        let stopped = bounds::within(policy, stop).await;
        stopped.map(drop).map_err(|error| error.to_string())
    }

    #[tokio::test(start_paused = true)]
    async fn a_film_with_a_late_blocked_frame_is_withheld() {
        assert_eq!(film_with("http://free.test").await, Ok(()));
        let error = film_with("http://blocked.test").await.unwrap_err();
        assert!(
            error.starts_with("The page showed a frame of a disallowed site"),
            "{error}"
        );
    }
}
