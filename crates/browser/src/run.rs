//! Runs one tool on one tab: everything that all tools share.

use crate::bounds::PolicyCheck;
use crate::browser::Browser;
use crate::error::{ToolError, dialog_open};
use crate::files::Files;
use crate::script::ScriptCount;
use crate::tab::{Dialog, Tab, TargetId};
use crate::tools::{Access, Prepared, ToolOutput, ToolResult, Viewer};
use crate::tools::{candidates, changes};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// The context of a call, besides its arguments.
#[derive(Clone, Debug)]
pub struct CallContext {
    /// Cancelled when the response is no longer wanted.
    pub cancel: CancellationToken,
    /// Where the call's client may read and write files.
    pub files: Files,
    /// Receives progress messages.
    pub progress: Option<mpsc::Sender<String>>,
    /// Who is told what an action changed on the page, if that is wanted.
    pub viewer: Option<Viewer>,
}

/// The tab as a tool sees it during one call.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    /// The tab.
    pub(crate) tab: Tab,
    /// Where files may be read and written.
    pub(crate) files: Files,
    progress: Option<mpsc::Sender<String>>,
    viewer: Option<Viewer>,
    acted: Arc<AtomicBool>,
    gave_snapshot: Arc<AtomicBool>,
    /// The element that the call named, once it is found.
    aimed_at: Arc<OnceLock<String>>,
}

impl Page {
    /// The tab for a call without progress messages.
    pub(crate) fn new(tab: Tab, files: Files) -> Self {
        Self {
            tab,
            files,
            progress: None,
            viewer: None,
            acted: Arc::default(),
            gave_snapshot: Arc::default(),
            aimed_at: Arc::default(),
        }
    }

    /// Who is told what changed, if that is wanted.
    pub(crate) fn viewer(&self) -> Option<Viewer> {
        self.viewer
    }

    /// Marks that the output has a snapshot of the page, so that changes need not be told.
    pub(crate) fn give_snapshot(&self) {
        self.gave_snapshot.store(true, Ordering::Relaxed);
    }

    /// Whether the output has a snapshot.
    pub(crate) fn gave_snapshot(&self) -> bool {
        self.gave_snapshot.load(Ordering::Relaxed)
    }

    /// Marks the element that the call named.
    pub(crate) fn aim_at(&self, uid: &str) {
        let _ = self.aimed_at.set(uid.to_owned());
    }

    /// The uid of the element that the call named, if it is found.
    pub(crate) fn aimed_at(&self) -> Option<&str> {
        self.aimed_at.get().map(String::as_str)
    }

    /// Marks that the tool now acts on the page: a dialog that opens from now on is a consequence of it.
    pub(crate) fn acting(&self) {
        self.acted.store(true, Ordering::Relaxed);
    }

    /// Sends a progress message to the client. Never waits; a message that cannot be sent is dropped.
    pub(crate) fn progress(&self, words: impl Into<String>) {
        if let Some(progress) = &self.progress {
            let _ = progress.try_send(words.into());
        }
    }
}

/// Runs a prepared tool on a tab. Resolves soon after `context.cancel` fires, whatever the page does.
pub async fn run(
    browser: &Browser,
    target: &TargetId,
    prepared: Prepared,
    context: CallContext,
) -> ToolResult {
    let tab = tab_for(browser, target, &context.cancel).await?;
    let spec = prepared.spec;
    tab.used_by(context.files.output().clone());
    browser.guard_new_tabs().await;
    let watch = PolicyCheck::begin(&tab, browser.stops_requests()).await;
    // Leaving a page is an action, and what a person has open must stay.
    let may_leave = browser.stops_requests() || tab.guard().stops();
    if !(spec.leaves && may_leave) {
        watch.may_touch().await?;
    }
    if spec.looks_back {
        watch.may_look_back()?;
    }
    may_begin(&tab, spec.during_dialog, spec.needs_page).await?;
    let acted = Arc::new(AtomicBool::new(false));
    let page = Page {
        tab: tab.clone(),
        files: context.files,
        progress: context.progress,
        viewer: context.viewer,
        acted: Arc::clone(&acted),
        gave_snapshot: Arc::default(),
        aimed_at: Arc::default(),
    };
    let scripts = ScriptCount::default();
    let work = async {
        let action = (prepared.run)(page.clone());
        match page.viewer.filter(|_| spec.tells_changes) {
            Some(viewer) if spec.leaves => changes::with_outline(&page, viewer, action).await,
            Some(viewer) => changes::with_changes(&page, viewer, prepared.target, action).await,
            None => action.await,
        }
    };
    let work = scripts.counting(work);
    let result = tokio::select! {
        biased;
        () = context.cancel.cancelled() => {
            if scripts.running() {
                tab.stop_stuck_scripts().await;
            }
            Err(ToolError::Stuck)
        }
        output = work => match output {
            Ok(output) => Ok(output),
            Err(error) => Err(candidates::named_in(&tab, error).await),
        },
        dialog = dialog_opens(&tab), if !spec.during_dialog => {
            let dialog = dialog?;
            let caused = spec.access == Access::Act && acted.load(Ordering::Relaxed);
            if !caused {
                return watch.end(Err(ToolError::DialogOpen(dialog))).await;
            }
            Ok(ToolOutput::text(format!(
                "Done, and it opened a dialog. {} Call handle_dialog to go on.",
                dialog_open(&dialog)
            )))
        }
    };
    if spec.access == Access::Act && spec.needs_page {
        flush_tools(&tab, &context.cancel).await;
    }
    watch.end(result).await
}

/// Makes the page report the tools that a call added or removed, so that they are known before its answer.
pub(crate) async fn flush_tools(tab: &Tab, cancel: &CancellationToken) {
    tokio::select! {
        biased;
        () = cancel.cancelled() => {}
        () = tab.flush_tools() => {}
    }
}

/// The tab of a call, unless the call is cancelled first.
pub(crate) async fn tab_for(
    browser: &Browser,
    target: &TargetId,
    cancel: &CancellationToken,
) -> Result<Tab, ToolError> {
    tokio::select! {
        tab = browser.tab(target) => tab,
        () = cancel.cancelled() => Err(ToolError::Stuck),
    }
}

/// Whether a call can begin in the tab's current state.
pub(crate) async fn may_begin(
    tab: &Tab,
    during_dialog: bool,
    needs_page: bool,
) -> Result<(), ToolError> {
    may_touch(tab)?;
    if let Some(dialog) = open_dialog(tab).filter(|_| !during_dialog) {
        return Err(ToolError::DialogOpen(dialog));
    }
    match needs_page {
        true => check_suspect(tab).await,
        false => Ok(()),
    }
}

/// A page whose script had to be stopped must respond before a tool may use it.
async fn check_suspect(tab: &Tab) -> Result<(), ToolError> {
    if tab.is_suspect() {
        if !tab.responds_within(STUCK_LIMIT).await {
            return Err(ToolError::Stuck);
        }
        tab.suspect(false);
    }
    Ok(())
}

fn may_touch(tab: &Tab) -> Result<(), ToolError> {
    let url = tab
        .state()
        .frames
        .main()
        .map(|main| main.url.clone())
        .unwrap_or_default();
    match tab.policy().permits(&url) {
        true => Ok(()),
        false => Err(ToolError::ForbiddenPage {
            url: tabmux_text::one_line(&url, 200),
        }),
    }
}

fn open_dialog(tab: &Tab) -> Option<Dialog> {
    tab.state().dialog.clone()
}

/// Resolves when a dialog opens, or fails when the tab is gone.
pub(crate) async fn dialog_opens(tab: &Tab) -> Result<Dialog, ToolError> {
    loop {
        tab.until(crate::script::LONGEST, |state| state.dialog.is_some())
            .await?;
        if let Some(dialog) = open_dialog(tab) {
            return Ok(dialog);
        }
    }
}

/// A page that does not respond for this long is considered stuck. On a busy machine a healthy one may need part of
/// it.
const STUCK_LIMIT: std::time::Duration = std::time::Duration::from_secs(2);
