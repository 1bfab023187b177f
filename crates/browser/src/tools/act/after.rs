//! The effects of an action: waits for events, never for a fixed time, and reports them.

use super::press::{Press, Report};
use crate::error::ToolError;
use crate::run::Page;
use crate::tab::{DocumentId, Load, NetworkRequest, NewTab, Progress, Tab, TabState};
use crate::tools::snapshot::TakeSnapshot;
use crate::tools::{Block, Tool, ToolOutput, ToolResult};
use crate::world::World;
use serde_json::json;
use std::time::Duration;
use tabmux_text::shorten;
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
    new_tabs_requested: u64,
    downloads: usize,
    downloads_requested: u64,
}

impl Before {
    /// Records the current state of the tab.
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
            new_tabs_requested: state.new_tabs_requested,
            downloads: state.downloads.len(),
            downloads_requested: state.downloads_requested,
        }
    }

    /// The HTTP status of the document that was fetched since then, if any.
    pub(in crate::tools) fn status_of_document(&self, state: &TabState) -> Option<i64> {
        let main = state.frames.main()?;
        self.requests(state)
            .find(|request| request.kind == "Document" && main.url.starts_with(&*request.url))?
            .status
    }

    /// Requests that began since then, the last one first.
    fn requests<'a>(&self, state: &'a TabState) -> impl Iterator<Item = &'a NetworkRequest> {
        let first = self.next_request;
        let recent = state.network.iter().rev();
        recent.take_while(move |request| request.number >= first)
    }

    /// Whether anything worth reporting has begun since then.
    pub(in crate::tools) fn caused_something(&self, tab: &Tab) -> bool {
        let state = tab.state();
        self.left(&state)
            || state.popups.len() > self.popups
            || state.new_tabs_requested > self.new_tabs_requested
            || state.downloads.len() > self.downloads
            || state.downloads_requested > self.downloads_requested
    }

    /// Whether a download is expected that has not been reported yet: the page requested one, or the response to a
    /// navigation had content but no document.
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

    /// Whether the page requested a new tab since then that is not there yet.
    fn awaits_tab(&self, state: &TabState) -> bool {
        state.new_tabs_requested > self.new_tabs_requested && state.popups.len() == self.popups
    }

    /// Whether all downloads that began since then have ended.
    fn downloaded(&self, state: &TabState) -> bool {
        let mut downloads = state.downloads.iter().skip(self.downloads);
        downloads.all(|download| download.progress != Progress::Running)
    }

    /// Whether the main frame has navigated since then, or is about to.
    fn left(&self, state: &TabState) -> bool {
        state.navigations_begun > self.navigations_begun
            || state.frames.main().map(|main| main.document) != self.document
    }

    /// Whether the page has requested a navigation since then.
    fn leaving(&self, state: &TabState) -> bool {
        state.navigations_requested > self.navigations_requested
    }

    /// Whether requests that began since then are still pending.
    fn loading(&self, state: &TabState) -> bool {
        state.in_flight.range(self.next_request..).next().is_some()
    }

    /// The effects of the action, after `done`, a sentence about the action itself.
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
        if self.awaits_tab(&state)
            && let Some(NewTab { url, .. }) = state.new_tabs.back()
        {
            words.push(format!(
                "The page asked for a new tab at {}",
                shorten(url, 300)
            ));
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

/// Waits for the effects of an action, within limits: a navigation until it is loaded, requests until they are
/// answered, the DOM until it is stable for a frame. If `pressed` is given, a missing click is an error.
pub(in crate::tools) async fn settle(
    tab: &Tab,
    before: &Before,
    pressed: Option<&Press>,
    done: &str,
) -> Result<ToolOutput, ToolError> {
    let deadline = Instant::now() + REQUESTS_CAP;
    let report = wait_until_stable(tab, pressed, 1).await?;
    let mut reactions = MAX_REACTIONS;
    let mut awaited = 0;
    loop {
        // The renderer requests a navigation and the browser process starts it: there may be a gap between them.
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
        // The page shows the responses now, or sends more requests.
        wait_until_stable(tab, None, FRAMES_TO_REACT).await?;
    }
    // The browser reports downloads, the page reports everything else: their order is not fixed.
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
    // The page reports the request for a tab, the browser reports the tab.
    tab.until(TAB_CAP, |state| !before.awaits_tab(state))
        .await?;
    // A document that has gone away cannot report a missing click.
    let instead = match (pressed, report) {
        (Some(pressed), Some(report)) => pressed.check_clicks(&report, before, tab)?,
        _ => None,
    };
    Ok(before.report(tab, instead.as_deref().unwrap_or(done)))
}

/// Appends a new snapshot to the output, if it is wanted.
pub(in crate::tools) async fn with_snapshot(
    page: &Page,
    wanted: Option<bool>,
    mut output: ToolOutput,
) -> ToolResult {
    if wanted != Some(true) {
        return Ok(output);
    }
    page.give_snapshot();
    let everything = TakeSnapshot::default();
    match everything.run(page.clone()).await {
        Ok(snapshot) => output.blocks.extend(snapshot.blocks),
        // The action has succeeded, even if the page cannot be read now.
        Err(error) => output
            .blocks
            .push(Block::Text(format!("There is no snapshot: {error}"))),
    }
    Ok(output)
}

/// Waits for `frames` frames without a change in the main document and in the one that was acted on. Returns what the
/// latter reports about the press.
async fn wait_until_stable(
    tab: &Tab,
    pressed: Option<&Press>,
    frames: u32,
) -> Result<Option<Report>, ToolError> {
    let main = tab.world().await;
    let main = match (&main, pressed) {
        (Ok(main), Some(press)) if main.document == press.element.world.document => None,
        (Ok(main), _) => Some(main),
        // Do not wait for a document that is loading or unloading.
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
    // Requests that the page made meanwhile were sent before its answer, but we may not have processed them yet.
    tab.catch_up().await;
    if let Some(gone) = tab.state().gone {
        return Err(ToolError::TabGone(gone));
    }
    Ok(inside)
}

/// None if the document goes away meanwhile or does not respond: the next call then first checks whether the page is
/// stuck.
async fn still(tab: &Tab, world: &World, function: &str, frames: u32) -> Option<Report> {
    let limits = json!({ "quietFrames": frames, "capMs": STABLE_CAP_MS });
    let stood = world.call(function, limits);
    let stood = tokio::time::timeout(BUSY_CAP, stood).await;
    if stood.is_err() {
        tab.suspect(true);
    }
    stood.ok()?.ok()
}

/// The browser reports a response slightly before the page's scripts have read it, and a frame may come in between.
const FRAMES_TO_REACT: u32 = 3;
/// The limit for pages that send requests again and again.
const MAX_REACTIONS: u32 = 3;
/// The limit for pages that never become stable.
const STABLE_CAP_MS: u32 = 80;
/// The limit for pages whose scripts block them.
const BUSY_CAP: Duration = Duration::from_secs(1);
/// The limit for navigations that were requested but do not begin.
const BEGIN_CAP: Duration = Duration::from_secs(1);
const REQUESTS_CAP: Duration = Duration::from_millis(1_500);
/// The limit for downloads that were requested but do not begin.
const DOWNLOAD_CAP: Duration = Duration::from_secs(3);
/// The limit for tabs that were requested but do not appear.
const TAB_CAP: Duration = Duration::from_secs(5);
const NAVIGATION_CAP: Duration = Duration::from_secs(5);
