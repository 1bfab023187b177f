//! Going to an address, back, forward, or loading the page again.

use super::act::Before;
use super::{Access, Tool, ToolOutput, ToolResult};
use crate::error::{ToolError, dialog_open};
use crate::navigate;
use crate::run::Page;
use crate::tab::{Dialog, Load, Tab};
use crate::text::{one_line, shorten};
use schemars::JsonSchema;
use serde::Deserialize;
use std::time::Duration;
use tabmux_cdp::types::page;
use tokio::time::Instant;

/// Navigates the tab.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct NavigatePage {
    /// Default: url.
    r#type: Option<Way>,
    /// Where to go.
    url: Option<String>,
    /// Reload everything from the server.
    ignore_cache: Option<bool>,
    /// How long to wait at most, in milliseconds. Default: 10000.
    timeout: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Way {
    Url,
    Back,
    Forward,
    Reload,
}

impl Tool for NavigatePage {
    const NAME: &'static str = "navigate_page";
    const DESCRIPTION: &'static str = "Go to a URL, back or forward in the tab's history, or reload. Answers when \
                                       the page is loaded.";
    const ACCESS: Access = Access::Act;
    // Leaving is what a page may ask about with a dialog, and what helps against a stuck one.
    const DURING_DIALOG: bool = true;
    const NEEDS_PAGE: bool = false;

    fn check(&self) -> Result<(), String> {
        let wrong = match (self.way(), &self.url, self.ignore_cache) {
            (Way::Url, None, _) => "give a `url`, or a `type` of back, forward or reload",
            (Way::Back | Way::Forward | Way::Reload, Some(_), _) => "`url` goes with type url only",
            (Way::Url | Way::Back | Way::Forward, _, Some(true)) => {
                "`ignoreCache` goes with type reload only"
            }
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
        let open = tab.state().dialog.clone();
        if let Some(dialog) = open.clone().filter(|dialog| !asks_to_stay(dialog)) {
            return Err(ToolError::DialogOpen(dialog));
        }
        let limit = self.timeout().unwrap_or(DEFAULT_LIMIT);
        let deadline = Instant::now() + limit;
        let before = Before::look(tab);
        // A page that is busy with itself would keep the next one from coming.
        if open.is_none() && !tab.responds().await {
            tab.terminate_scripts().await;
        }
        tokio::select! {
            gone = tokio::time::timeout_at(deadline, self.go(tab)) => match gone {
                Ok(result) => result?,
                Err(_) => {
                    tab.session().post(page::StopLoading::default());
                    return Err(ToolError::TimedOut {
                        what: "The navigation".into(),
                        millis: limit.as_millis(),
                        next: "The tab still shows what it did before. Try again with a longer timeout.".into(),
                    });
                }
            },
            dialog = answer_leaving(tab) => return Ok(stopped_by(&dialog?)),
        }
        tokio::select! {
            biased;
            loaded = loaded_until(tab, deadline) => loaded?,
            dialog = answer_leaving(tab) => return Ok(stopped_by(&dialog?)),
        };
        arrived(tab, &before, limit).await
    }
}

impl NavigatePage {
    fn way(&self) -> Way {
        self.r#type.unwrap_or(Way::Url)
    }

    /// Resolves when the new document is there.
    async fn go(&self, tab: &Tab) -> Result<(), ToolError> {
        match self.way() {
            Way::Url => {
                let address = tab
                    .policy()
                    .parse(self.url.as_deref().unwrap_or_default())?;
                navigate::go(tab, &address).await
            }
            Way::Reload => navigate::reload(tab, self.ignore_cache == Some(true)).await,
            Way::Back => navigate::travel(tab, -1).await,
            Way::Forward => navigate::travel(tab, 1).await,
        }
    }
}

async fn loaded_until(tab: &Tab, deadline: Instant) -> Result<bool, ToolError> {
    let rest = deadline.saturating_duration_since(Instant::now());
    tab.until(rest, |state| {
        !state.navigating && state.load == Load::Complete
    })
    .await
}

/// Tells where the tab is now. A document that is not even whole in time is an error.
async fn arrived(tab: &Tab, before: &Before, limit: Duration) -> ToolResult {
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
                "The tab shows as much as has come. Try again with a longer timeout, or go on with \
                   take_snapshot."
                    .into(),
        });
    }
    let history = tab
        .session()
        .send(page::GetNavigationHistory::default())
        .await?;
    let here = usize::try_from(history.current_index)
        .ok()
        .and_then(|index| history.entries.get(index));
    let title = here
        .map(|entry| one_line(&entry.title, 200))
        .filter(|title| !title.is_empty());
    let mut words = vec![format!("The page is now {url}")];
    words.extend(title.map(|title| format!("Title: {title}")));
    if let Some(status) = status.filter(|status| *status >= 400) {
        words.push(format!("The server answered with status {status}."));
    }
    if load != Load::Complete {
        words.push("Some of what it names is still loading.".into());
    }
    Ok(ToolOutput::text(words.join("\n")))
}

/// Says yes to every question whether to leave; resolves with any other dialog.
async fn answer_leaving(tab: &Tab) -> Result<Dialog, ToolError> {
    loop {
        tab.until(crate::script::LONGEST, |state| state.dialog.is_some())
            .await?;
        let Some(dialog) = tab.state().dialog.clone() else {
            continue;
        };
        if !asks_to_stay(&dialog) {
            return Ok(dialog);
        }
        let leave = page::HandleJavaScriptDialog {
            accept: true,
            prompt_text: None,
        };
        // It may have been answered by somebody else meanwhile.
        let _ = tab.session().send(leave).await;
        tab.until(crate::script::LONGEST, |state| {
            state.dialog.as_ref() != Some(&dialog)
        })
        .await?;
    }
}

fn asks_to_stay(dialog: &Dialog) -> bool {
    dialog.kind == "beforeunload"
}

fn stopped_by(dialog: &Dialog) -> ToolOutput {
    ToolOutput::text(format!(
        "The page opened a dialog while it loaded. {} Call handle_dialog to go on.",
        dialog_open(dialog)
    ))
}

const DEFAULT_LIMIT: Duration = Duration::from_secs(10);
