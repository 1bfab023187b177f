//! Waiting for a text to appear.

use super::{Access, Category, Tool, ToolOutput, ToolResult};
use crate::error::ToolError;
use crate::run::Page;
use crate::tab::{DocumentId, Frame, Tab};
use crate::text::one_line;
use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::collections::HashSet;
use std::time::Duration;
use tokio::time::Instant;

/// Waits for a text.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct WaitFor {
    /// Any of these texts will do. Upper and lower case are the same.
    text: Vec<String>,
    /// How long to wait at most, in milliseconds. Default: 5000.
    timeout: Option<u32>,
}

impl Tool for WaitFor {
    const NAME: &'static str = "wait_for";
    const DESCRIPTION: &'static str =
        "Wait until one of the given texts is shown on the page, in any frame.";
    const ACCESS: Access = Access::Read;
    const CATEGORY: Category = Category::Navigation;

    fn check(&self) -> Result<(), String> {
        match self.text.iter().any(|text| text.trim().is_empty()) || self.text.is_empty() {
            true => Err("`text` wants at least one text, and none that is empty".into()),
            false if self.text.len() > MOST_TEXTS => {
                Err(format!("`text` has more than {MOST_TEXTS} entries"))
            }
            false => Ok(()),
        }
    }

    fn timeout(&self) -> Option<Duration> {
        self.timeout
            .map(|millis| Duration::from_millis(millis.into()))
    }

    async fn run(self, page: Page) -> ToolResult {
        let limit = self.timeout().unwrap_or(DEFAULT_LIMIT);
        let deadline = Instant::now() + limit;
        let watch = watch_frames(&page.tab, &self.text, deadline);
        match tokio::time::timeout_at(deadline, watch).await {
            Ok(found) => Ok(ToolOutput::text(format!(
                "\"{}\" is there.",
                one_line(&found?, 200)
            ))),
            Err(_) => {
                let texts: Vec<_> = self
                    .text
                    .iter()
                    .map(|text| format!("\"{}\"", one_line(text, 60)))
                    .collect();
                Err(ToolError::TimedOut {
                    what: format!("The appearance of {}", texts.join(" or ")),
                    millis: limit.as_millis(),
                    next: "Call take_snapshot to see what the page shows.".into(),
                })
            }
        }
    }
}

/// Resolves with the text that appears first in any document the tab shows, now or later.
async fn watch_frames(tab: &Tab, texts: &[String], deadline: Instant) -> Result<String, ToolError> {
    let mut state = tab.watch();
    let mut watched: HashSet<DocumentId> = HashSet::new();
    let mut watches: FuturesUnordered<BoxFuture<'static, Option<String>>> = FuturesUnordered::new();
    loop {
        let frames: Vec<Frame> = {
            let state = state.borrow_and_update();
            if let Some(gone) = state.gone {
                return Err(ToolError::TabGone(gone));
            }
            state
                .frames
                .iter()
                .filter(|frame| !watched.contains(&frame.document))
                .cloned()
                .collect()
        };
        for frame in frames {
            watched.insert(frame.document);
            watches.push(Box::pin(watch_document(
                tab.clone(),
                frame,
                texts.to_vec(),
                deadline,
            )));
        }
        tokio::select! {
            found = watches.next(), if !watches.is_empty() => {
                if let Some(Some(text)) = found {
                    return Ok(text);
                }
            }
            changed = state.changed() => {
                if changed.is_err() {
                    return Err(ToolError::TabGone(crate::tab::Gone::Closed));
                }
            }
        }
    }
}

/// Nothing if the document goes away first, or time is up.
async fn watch_document(
    tab: Tab,
    frame: Frame,
    texts: Vec<String>,
    deadline: Instant,
) -> Option<String> {
    #[derive(Deserialize)]
    struct Watched {
        found: Option<String>,
    }
    let world = tab.world_of(&frame).await.ok()?;
    let rest = deadline.saturating_duration_since(Instant::now());
    let ask =
        json!({ "texts": texts, "timeoutMs": u64::try_from(rest.as_millis()).unwrap_or(u64::MAX) });
    let watched: Watched = world.call("tabmux.waitForText", ask).await.ok()?;
    watched.found
}

const DEFAULT_LIMIT: Duration = Duration::from_secs(5);
const MOST_TEXTS: usize = 20;
