//! Navigating to a URL, back, forward, and reloading.

use super::act::Before;
use super::{Access, Category, Tool, ToolOutput, ToolResult};
use crate::bounds;
use crate::error::{ToolError, dialog_open};
use crate::navigate;
use crate::run::Page;
use crate::tab::{Dialog, DialogAnswer, Load, Tab};
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tabmux_cdp::Session;
use tabmux_cdp::types::page;
use tabmux_text::{one_line, shorten};
use tokio::time::Instant;

/// Navigates the tab.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct NavigatePage {
    /// Default: url.
    r#type: Option<NavigationKind>,
    url: Option<String>,
    /// Bypass the cache when reloading.
    ignore_cache: Option<bool>,
    /// Answer if the page asks whether to leave. Default: accept.
    handle_before_unload: Option<LeaveAnswer>,
    /// JavaScript to run once, before the page's own scripts.
    init_script: Option<String>,
    /// In milliseconds. Default: 10000.
    timeout: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum LeaveAnswer {
    Accept,
    Dismiss,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum NavigationKind {
    Url,
    Back,
    Forward,
    Reload,
}

impl Tool for NavigatePage {
    const NAME: &'static str = "navigate_page";
    const DESCRIPTION: &'static str =
        "Go to a URL, back or forward, or reload. Returns when the page is loaded.";
    const ACCESS: Access = Access::Act;
    const CATEGORY: Category = Category::Navigation;
    const TELLS_CHANGES: bool = true;
    // Leaving a page may open its leave-page dialog, and is the way out of a stuck page.
    const DURING_DIALOG: bool = true;
    const NEEDS_PAGE: bool = false;
    const LEAVES: bool = true;

    fn check(&self) -> Result<(), String> {
        let wrong = match (self.kind(), &self.url, self.ignore_cache) {
            (NavigationKind::Url, None, _) => {
                "give a `url`, or a `type` of back, forward or reload"
            }
            (
                NavigationKind::Back | NavigationKind::Forward | NavigationKind::Reload,
                Some(_),
                _,
            ) => "`url` is only allowed with type url",
            (
                NavigationKind::Url | NavigationKind::Back | NavigationKind::Forward,
                _,
                Some(true),
            ) => "`ignoreCache` is only allowed with type reload",
            _ => return Ok(()),
        };
        Err(wrong.into())
    }

    fn timeout(&self) -> Option<Duration> {
        self.timeout
            .map(|millis| Duration::from_millis(millis.into()))
    }

    async fn run(self, page: Page) -> ToolResult {
        let tab = &page.tab;
        if let Some(url) = &self.url {
            bounds::may_open(tab.policy().parse(url)?.as_str())?;
        }
        if self.init_script.is_some() {
            check_init_script(tab)?;
        }
        let open = tab.state().dialog.clone();
        if let Some(dialog) = open.filter(|dialog| !is_leave_dialog(dialog)) {
            return Err(ToolError::DialogOpen(dialog));
        }
        let limit = self.timeout().unwrap_or(DEFAULT_LIMIT);
        let script = match &self.init_script {
            Some(source) => Some(OnceScript::add(tab, source).await?),
            None => None,
        };
        let leave = self.handle_before_unload != Some(LeaveAnswer::Dismiss);
        let stayed = AtomicBool::new(false);
        let outcome = tokio::select! {
            arrived = self.arrive(tab, limit) => match arrived {
                // A cancelled navigation ends before its dialog closes.
                Err(ToolError::Navigation { .. }) if stayed.load(Ordering::Relaxed) => {
                    tab.until(STAY_LIMIT, |state| state.dialog.is_none()).await?;
                    Err(stayed_error())
                }
                arrived => arrived,
            },
            ended = answer_leaving(tab, leave, &stayed) => ended,
        };
        drop(script);
        outcome
    }
}

/// A script that runs in new documents until this is dropped.
struct OnceScript(Vec<(Session, page::ScriptIdentifier)>);

impl OnceScript {
    async fn add(tab: &Tab, source: &str) -> Result<Self, ToolError> {
        let mut scripts = Self(Vec::new());
        for session in tab.sessions() {
            let add = page::AddScriptToEvaluateOnNewDocument {
                source: source.to_owned(),
                ..Default::default()
            };
            let added = session.send(add).await?;
            scripts.0.push((session, added.identifier));
        }
        Ok(scripts)
    }
}

impl Drop for OnceScript {
    fn drop(&mut self) {
        for (session, identifier) in self.0.drain(..) {
            session.post(page::RemoveScriptToEvaluateOnNewDocument { identifier });
        }
    }
}

impl NavigatePage {
    pub(super) fn to(url: String) -> Self {
        Self {
            r#type: None,
            url: Some(url),
            ignore_cache: None,
            handle_before_unload: None,
            init_script: None,
            timeout: None,
        }
    }

    fn kind(&self) -> NavigationKind {
        self.r#type.unwrap_or(NavigationKind::Url)
    }

    /// Navigates, waits until the page is loaded, and reports where the tab is, all within `limit`.
    pub(super) async fn arrive(&self, tab: &Tab, limit: Duration) -> ToolResult {
        let deadline = Instant::now() + limit;
        let before = Before::look(tab);
        let Ok(gone) = tokio::time::timeout_at(deadline, self.go(tab)).await else {
            tab.session().post(page::StopLoading::default());
            return Err(ToolError::TimedOut {
                what: "The navigation".into(),
                millis: limit.as_millis(),
                next: "The tab still shows the previous page. Try again with a longer timeout."
                    .into(),
            });
        };
        gone?;
        let rest = deadline.saturating_duration_since(Instant::now());
        tab.until(rest, |state| {
            !state.navigating && state.load == Load::Complete
        })
        .await?;
        report(tab, &before, limit, deadline).await
    }

    /// Returns when the new document is there.
    async fn go(&self, tab: &Tab) -> Result<(), ToolError> {
        let url = self.url.as_deref();
        let address = url.map(|url| tab.policy().parse(url)).transpose()?;
        // A busy page would block the navigation.
        let asks = tab.state().dialog.is_some();
        let busy = !asks && !tab.responds().await;
        match self.kind() {
            NavigationKind::Url if busy => tab.clear().await?,
            _ if busy => tab.terminate_scripts().await,
            _ => {}
        }
        match self.kind() {
            NavigationKind::Url => match address {
                Some(address) => navigate::go(tab, &address).await,
                None => Ok(()),
            },
            NavigationKind::Reload => navigate::reload(tab, self.ignore_cache == Some(true)).await,
            NavigationKind::Back => navigate::travel(tab, -1).await,
            NavigationKind::Forward => navigate::travel(tab, 1).await,
        }
    }
}

/// A script for the next document runs in any document that comes next. So it is refused if a forbidden one can come.
fn check_init_script(tab: &Tab) -> Result<(), ToolError> {
    let bounded = bounds::here().is_some_and(|policy| !policy.is_open());
    match bounded && !tab.guard().stops() {
        false => Ok(()),
        true => Err(ToolError::Arguments(
            "`initScript` is not allowed here: a policy about origins applies, and this tab is the user's own. \
             Use a tab that you opened."
                .into(),
        )),
    }
}

/// Reports where the tab is now. It is an error if the document itself is not loaded in time.
async fn report(tab: &Tab, before: &Before, limit: Duration, deadline: Instant) -> ToolResult {
    let (url, load, status) = {
        let state = tab.state();
        let url = state
            .frames
            .main()
            .map(|main| main.url.clone())
            .unwrap_or_default();
        let status = before.status_of_document(&state);
        (shorten(&url, 300), state.load, status)
    };
    if load == Load::Loading {
        return Err(ToolError::TimedOut {
            what: format!("Loading {url}"),
            millis: limit.as_millis(),
            next:
                "The tab shows what has loaded so far. Try again with a longer timeout, or go on with \
                   take_snapshot."
                    .into(),
        });
    }
    let title = title(tab, deadline).await;
    let mut words = vec![format!("The page is now {url}")];
    words.extend(title.map(|title| format!("Title: {title}")));
    if let Some(status) = status.filter(|status| *status >= 400) {
        words.push(format!("The server answered with status {status}."));
    }
    if load != Load::Complete {
        words.push("Some of its resources are still loading.".into());
    }
    Ok(ToolOutput::text(words.join("\n")))
}

/// The page's title, if it has one and the page responds.
async fn title(tab: &Tab, deadline: Instant) -> Option<String> {
    let ask = async {
        tab.world()
            .await
            .ok()?
            .call::<String>("tabmux.title", ())
            .await
            .ok()
    };
    let title = tokio::time::timeout_at(deadline.max(Instant::now() + TITLE_LIMIT), ask)
        .await
        .ok()??;
    Some(one_line(&title, 200)).filter(|title| !title.is_empty())
}

/// Answers every leave-page dialog; returns when the page stays, or when any other dialog opens.
async fn answer_leaving(tab: &Tab, leave: bool, stayed: &AtomicBool) -> ToolResult {
    loop {
        tab.until(crate::script::LONGEST, |state| state.dialog.is_some())
            .await?;
        let Some(dialog) = tab.state().dialog.clone() else {
            continue;
        };
        if !is_leave_dialog(&dialog) {
            return Ok(dialog_output(&dialog));
        }
        let answer = DialogAnswer {
            accept: leave,
            prompt_text: None,
        };
        stayed.store(!leave, Ordering::Relaxed);
        // The user or another call may have answered it meanwhile.
        let _ = tab.answer_dialog(answer).await;
        tab.dialog_over(dialog.number, crate::script::LONGEST)
            .await?;
        if !leave {
            // Chrome reports the end of some kinds of navigation only.
            tokio::time::sleep(STAY_LIMIT).await;
            return Err(stayed_error());
        }
    }
}

fn stayed_error() -> ToolError {
    ToolError::NotActionable {
        why: "The page asked whether to leave it, and the answer was to stay. Use handleBeforeUnload accept to leave it."
            .into(),
    }
}

fn is_leave_dialog(dialog: &Dialog) -> bool {
    dialog.kind == "beforeunload"
}

fn dialog_output(dialog: &Dialog) -> ToolOutput {
    ToolOutput::text(format!(
        "The page opened a dialog while it loaded. {} Call handle_dialog to go on.",
        dialog_open(dialog)
    ))
}

const DEFAULT_LIMIT: Duration = Duration::from_secs(10);
/// How long a cancelled navigation may take to end.
const STAY_LIMIT: Duration = Duration::from_secs(1);
/// How far reading the title may exceed the timeout.
const TITLE_LIMIT: Duration = Duration::from_millis(200);
