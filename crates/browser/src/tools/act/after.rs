//! What an action caused: waits for it on events, never on a fixed time, and tells it.

use super::press::{Press, Report};
use crate::error::ToolError;
use crate::run::Page;
use crate::tab::{DocumentId, Load, NetworkRequest, Progress, Tab, TabState};
use crate::text::shorten;
use crate::tools::snapshot::TakeSnapshot;
use crate::tools::{Block, Tool, ToolOutput, ToolResult};
use crate::world::World;
use serde_json::json;
use std::time::Duration;
use tokio::time::Instant;

/// The tab as it was before an action.
#[derive(Clone, Debug)]
pub(in crate::tools) struct Before {
    document: Option<DocumentId>,
    url: String,
    navigations_requested: u64,
    navigations_begun: u64,
    next_request: u64,
    popups: usize,
    downloads: usize,
    downloads_requested: u64,
}

impl Before {
    /// Looks at the tab now.
    pub(in crate::tools) fn look(tab: &Tab) -> Self {
        let state = tab.state();
        let main = state.frames.main();
        Self {
            document: main.map(|main| main.document),
            url: main.map(|main| main.url.clone()).unwrap_or_default(),
            navigations_requested: state.navigations_requested,
            navigations_begun: state.navigations_begun,
            next_request: state.network.next(),
            popups: state.popups.len(),
            downloads: state.downloads.len(),
            downloads_requested: state.downloads_requested,
        }
    }

    /// The HTTP status of the document that was fetched since, if one was.
    pub(in crate::tools) fn status_of_document(&self, state: &TabState) -> Option<i64> {
        let main = state.frames.main()?;
        self.requests(state)
            .find(|request| request.kind == "Document" && main.url.starts_with(&*request.url))?
            .status
    }

    /// Requests that began since, the last one first.
    fn requests<'a>(&self, state: &'a TabState) -> impl Iterator<Item = &'a NetworkRequest> {
        let first = self.next_request;
        let recent = state.network.iter().rev();
        recent.take_while(move |request| request.number >= first)
    }

    /// Whether anything has begun since that is worth telling.
    pub(in crate::tools) fn caused_something(&self, tab: &Tab) -> bool {
        let state = tab.state();
        self.left(&state)
            || state.popups.len() > self.popups
            || state.downloads.len() > self.downloads
            || state.downloads_requested > self.downloads_requested
    }

    /// Whether a download is on its way that nobody has told of yet: the page asked for one, or the
    /// answer to a navigation brought no document and was not empty either.
    fn awaits_download(&self, state: &TabState) -> bool {
        if state.downloads.len() > self.downloads {
            return false;
        }
        let asked = state.downloads_requested > self.downloads_requested;
        let arrived = state.frames.main().map(|main| main.document) != self.document;
        let ended = state.navigations_begun > self.navigations_begun && !arrived;
        let answered = |request: &NetworkRequest| {
            request.kind == "Document"
                && request.failure.is_some()
                && request
                    .status
                    .is_some_and(|status| !matches!(status, 204 | 205))
        };
        asked || ended && self.requests(state).any(answered)
    }

    /// Whether all downloads that began since are over.
    fn downloaded(&self, state: &TabState) -> bool {
        let mut downloads = state.downloads.iter().skip(self.downloads);
        downloads.all(|download| download.progress != Progress::Running)
    }

    /// Whether the main frame has gone elsewhere since, or is about to.
    fn left(&self, state: &TabState) -> bool {
        state.navigations_begun > self.navigations_begun
            || state.frames.main().map(|main| main.document) != self.document
    }

    /// Whether the page has asked to go elsewhere since.
    fn leaving(&self, state: &TabState) -> bool {
        state.navigations_requested > self.navigations_requested
    }

    /// Whether requests that began since are still running.
    fn loading(&self, state: &TabState) -> bool {
        state.in_flight.range(self.next_request..).next().is_some()
    }

    /// What the action caused, after `done`, a whole sentence about the action itself.
    fn report(&self, tab: &Tab, done: &str) -> ToolOutput {
        let state = tab.state();
        let mut words = vec![done.to_owned()];
        if let Some(main) = state.frames.main() {
            let url = shorten(&main.url, 300);
            let arrived = Some(main.document) != self.document;
            if arrived && main.url.starts_with("chrome-error:") {
                words.push("The page it led to could not be loaded.".into());
            } else if arrived {
                words.push(format!("The page navigated to {url}"));
            } else if main.url != self.url {
                words.push(format!("The address is now {url}"));
            }
            if self.left(&state) && (state.navigating || state.load != Load::Complete) {
                words.push("It is still loading.".into());
            }
        }
        for download in state.downloads.iter().skip(self.downloads).take(5) {
            words.push(download.tell());
        }
        let opened = state
            .popups
            .iter()
            .skip(self.popups)
            .take(20)
            .cloned()
            .collect();
        ToolOutput {
            opened,
            ..ToolOutput::text(words.join("\n"))
        }
    }
}

/// Waits until what an action began has happened, as far as it is worth waiting for: a navigation
/// until it is loaded, requests until they are answered, the DOM until it stands still for a frame.
/// Where something was `pressed`, it is an error if no click followed.
pub(in crate::tools) async fn settle(
    tab: &Tab,
    before: &Before,
    pressed: Option<&Press>,
    done: &str,
) -> Result<ToolOutput, ToolError> {
    let deadline = Instant::now() + REQUESTS_CAP;
    let report = stand_still(tab, pressed, 1).await?;
    let mut reactions = MOST_REACTIONS;
    let mut awaited = 0;
    loop {
        // The page's process asks for a navigation, the browser's begins it: a moment may lie between.
        let leaving = before.leaving(&tab.state());
        if leaving {
            tab.until(BEGIN_CAP, |state| before.left(state)).await?;
        }
        let (left, loading) = {
            let state = tab.state();
            (before.left(&state), before.loading(&state))
        };
        if left {
            tab.until(NAVIGATION_CAP, |state| {
                !state.navigating && state.load == Load::Complete
            })
            .await?;
            break;
        }
        let rest = deadline.saturating_duration_since(Instant::now());
        let requests = before.requests(&tab.state()).count();
        let answered = !loading && requests > awaited && reactions > 0;
        if rest.is_zero() || !loading && !answered {
            break;
        }
        if answered {
            reactions -= 1;
        }
        awaited = requests;
        let moved = |state: &TabState| before.left(state) || before.leaving(state);
        tab.until(rest, |state| moved(state) || !before.loading(state))
            .await?;
        // What came back is shown now, or leads to more.
        stand_still(tab, None, FRAMES_TO_REACT).await?;
    }
    // The browser tells of a download, the page of the rest: nothing orders the two.
    if before.awaits_download(&tab.state()) {
        tab.until(DOWNLOAD_CAP, |state| {
            state.downloads.len() > before.downloads
        })
        .await?;
    }
    if tab.state().downloads.len() > before.downloads {
        tab.until(REQUESTS_CAP, |state| before.downloaded(state))
            .await?;
    }
    // Nothing is said of a press by a document that has left with it.
    let instead = match (pressed, report) {
        (Some(pressed), Some(report)) => pressed.judge(&report, before, tab)?,
        _ => None,
    };
    Ok(before.report(tab, instead.as_deref().unwrap_or(done)))
}

/// Adds a fresh snapshot to an answer, where one is wanted.
pub(in crate::tools) async fn with_snapshot(
    page: &Page,
    wanted: Option<bool>,
    mut output: ToolOutput,
) -> ToolResult {
    if wanted != Some(true) {
        return Ok(output);
    }
    let everything = TakeSnapshot::default();
    match everything.run(page.clone()).await {
        Ok(snapshot) => output.blocks.extend(snapshot.blocks),
        // The action is done whatever can be read now.
        Err(error) => output
            .blocks
            .push(Block::Text(format!("There is no snapshot: {error}"))),
    }
    Ok(output)
}

/// Waits for so many frames without a change in the main document and in the one that was acted upon.
/// Answers with what that one has to tell of the press.
async fn stand_still(
    tab: &Tab,
    pressed: Option<&Press>,
    frames: u32,
) -> Result<Option<Report>, ToolError> {
    let main = tab.world().await;
    let main = match (&main, pressed) {
        (Ok(main), Some(press)) if main.document == press.element.world.document => None,
        (Ok(main), _) => Some(main),
        // A document that is on its way out or in needs no waiting for.
        (Err(_), _) => None,
    };
    let around = async {
        if let Some(main) = main {
            let _ = still(tab, main, "tabmux.settle", frames).await;
        }
    };
    let inside = async {
        match pressed {
            Some(press) => still(tab, &press.element.world, "tabmux.afterPress", frames).await,
            None => None,
        }
    };
    let (inside, ()) = tokio::join!(inside, around);
    // Requests that the page made meanwhile were told before it answered, but not to us.
    tab.catch_up().await;
    if let Some(gone) = tab.state().gone {
        return Err(ToolError::TabGone(gone));
    }
    Ok(inside)
}

/// Nothing of a document that goes away while we look at it, or does not answer: then the next call
/// finds out first whether the page is stuck.
async fn still(tab: &Tab, world: &World, function: &str, frames: u32) -> Option<Report> {
    let limits = json!({ "quietFrames": frames, "capMs": STILL_CAP_MS });
    let stood = world.call(function, limits);
    let stood = tokio::time::timeout(BUSY_CAP, stood).await;
    if stood.is_err() {
        tab.suspect(true);
    }
    stood.ok()?.ok()
}

/// The browser tells that an answer is there a moment before the page's scripts have read it, and a
/// frame may fall into that moment.
const FRAMES_TO_REACT: u32 = 3;
/// Pages that ask their server again and again are not waited for longer than so many answers.
const MOST_REACTIONS: u32 = 3;
/// Pages that never stand still are not waited for longer than this.
const STILL_CAP_MS: u32 = 80;
/// Nor pages whose scripts keep them from answering.
const BUSY_CAP: Duration = Duration::from_secs(1);
/// Navigations that were asked for and do not begin are not waited for longer than this.
const BEGIN_CAP: Duration = Duration::from_secs(1);
const REQUESTS_CAP: Duration = Duration::from_millis(1_500);
/// A download that was asked for and does not begin is not waited for longer than this.
const DOWNLOAD_CAP: Duration = Duration::from_secs(3);
const NAVIGATION_CAP: Duration = Duration::from_secs(5);
