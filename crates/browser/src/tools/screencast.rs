//! Filming the page: Chrome's own recorder, into an MP4 file.

use super::act::Drawing;
use super::{Access, Category, Tool, ToolOutput, ToolResult};
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

/// Begins to film.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ScreencastStart {
    /// Ends with .mp4. Default: a new file.
    file_path: Option<String>,
    overwrite: Option<bool>,
}

impl Tool for ScreencastStart {
    const NAME: &'static str = "screencast_start";
    const DESCRIPTION: &'static str =
        "Film the page into an MP4 file until screencast_stop, for 10 minutes at most.";
    const ACCESS: Access = Access::Act;
    const CATEGORY: Category = Category::Screencast;
    const OPT_IN: bool = true;
    const PROGRESSIVE: bool = false;

    fn check(&self) -> Result<(), String> {
        let ends_well = |path: &String| path.to_ascii_lowercase().ends_with(".mp4");
        match self.file_path.as_ref().is_none_or(ends_well) {
            true => Ok(()),
            false => Err("`filePath` has to end with .mp4, for that is what is written".into()),
        }
    }

    async fn run(self, page: Page) -> ToolResult {
        if page.tab.filming().running().is_some() {
            return Err(ToolError::NotActionable {
                why: "This tab is being filmed already. Call screencast_stop first.".into(),
            });
        }
        disallowed_frames::refuse(&page.tab, disallowed_frames::NOT_RECORDED)?;
        let to = Destination::new(self.file_path.as_deref(), self.overwrite, "mp4");
        let draft = page.files.create(to).await?;
        let session = page.tab.session().clone();
        let started = session.send(cdp::StartScreenRecording::default()).await;
        let started = started.map_err(not_filmed)?;
        let drawing = Drawing::filmed(&page.tab);
        let text = format!(
            "Filming the page into {}. Call screencast_stop to end it.",
            draft.place().display()
        );
        *page.tab.filming().running() = Some(Film {
            end: tokio::spawn(end_after(session.clone(), LONGEST_FILM)),
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

/// Ends the film.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ScreencastStop {}

impl Tool for ScreencastStop {
    const NAME: &'static str = "screencast_stop";
    const DESCRIPTION: &'static str = "Stop filming the page, and save the film.";
    const LOOKS_BACK: bool = true;
    const ACCESS: Access = Access::Act;
    const CATEGORY: Category = Category::Screencast;
    const OPT_IN: bool = true;
    const PROGRESSIVE: bool = false;
    const DURING_DIALOG: bool = true;
    const NEEDS_PAGE: bool = false;

    async fn run(self, page: Page) -> ToolResult {
        let film = page.tab.filming().running().take();
        let mut film = film.ok_or_else(|| ToolError::NotActionable {
            why: "This tab is not being filmed. Call screencast_start first.".into(),
        })?;
        let lasted = film.started.elapsed().min(LONGEST_FILM);
        // A film that ended by itself cannot be ended once more, and is there all the same.
        let _ = film.session.send(cdp::StopScreenRecording::default()).await;
        page.tab.catch_up().await;
        bounds::may_look_back(&page.tab)?;
        page.progress("saving the film");
        let handle = film.stream.clone();
        film.stopped = true;
        let mut draft = film.draft.take().ok_or(ToolError::Stuck)?;
        let bytes = stream::save(&film.session, Some(handle), &mut draft).await?;
        if bytes == 0 {
            return Err(ToolError::NotActionable {
                why: "Chrome filmed nothing: the page was not drawn meanwhile. Try again, and let it be longer."
                    .into(),
            });
        }
        let format = draft.read_back(format_of).await?;
        let place = draft.keep().await?;
        Ok(ToolOutput::text(format!(
            "Saved {:.1} s of film to {}: {format}, {bytes} bytes.",
            lasted.as_secs_f64(),
            place.display(),
        )))
    }
}

/// The film that is being made of a tab, if one is.
#[derive(Debug, Default)]
pub(crate) struct Filming(Mutex<Option<Film>>);

impl Filming {
    fn running(&self) -> MutexGuard<'_, Option<Film>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A film that is being made; ends with this value.
#[derive(Debug)]
struct Film {
    session: Session,
    stream: io::StreamHandle,
    draft: Option<Draft>,
    started: Instant,
    end: tokio::task::JoinHandle<()>,
    stopped: bool,
    _drawing: Drawing,
}

impl Drop for Film {
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

fn not_filmed(error: CdpError) -> ToolError {
    match error {
        CdpError::Rejected { message, .. } if message.contains("wasn't found") => {
            ToolError::NotActionable {
                why: "This browser cannot film its pages; a newer Chrome can. Use take_screenshot."
                    .into(),
            }
        }
        CdpError::Rejected { message, .. } if message.contains("already active") => {
            ToolError::NotActionable {
                why: "Something else watches this tab being drawn, such as a trace. Let that end first.".into(),
            }
        }
        error => error.into(),
    }
}

/// What Chrome wrote; which codec it has depends on how it was built.
fn format_of(film: &mut File) -> &'static str {
    let mut head = Vec::new();
    let read = film.take(4_096).read_to_end(&mut head);
    let says = |name: &[u8]| read.is_ok() && head.windows(4).any(|part| part == name);
    match () {
        () if says(b"avc1") => "MP4 with H.264 video",
        () if says(b"av01") => "MP4 with AV1 video",
        () if says(b"vp09") => "MP4 with VP9 video",
        () => "video",
    }
}

const LONGEST_FILM: Duration = Duration::from_secs(600);
