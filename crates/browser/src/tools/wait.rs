//! Waiting for a text, an element, a URL, a condition of the agent, or a quiet network.

#[cfg(test)]
mod tests;

use super::{Access, Category, Tool, ToolOutput, ToolResult};
use crate::bounds;
use crate::error::ToolError;
use crate::run::Page;
use crate::script::{self, LONGEST};
use crate::tab::{DocumentId, Frame, Gone, Tab, TabState};
use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::time::Duration;
use tabmux_cdp::types::runtime;
use tabmux_text::one_line;
use tokio::time::Instant;

/// Waits for one thing.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct WaitFor {
    /// Any of these texts is shown; case is ignored.
    text: Option<Vec<String>>,
    /// None of these texts is shown.
    text_gone: Option<Vec<String>>,
    /// A match of this CSS selector is shown.
    selector: Option<String>,
    /// The address contains this.
    url: Option<String>,
    /// A JavaScript function that returns true.
    function: Option<String>,
    /// Nothing has been loading for half a second.
    network_idle: Option<bool>,
    /// In milliseconds. Default: 5000.
    timeout: Option<u32>,
}

impl Tool for WaitFor {
    const NAME: &'static str = "wait_for";
    const DESCRIPTION: &'static str = "Wait for one thing, in any frame: text shown or gone, an element, an \
                                       address, a condition, a quiet network.";
    const ACCESS: Access = Access::Read;
    const CATEGORY: Category = Category::Navigation;

    fn check(&self) -> Result<(), String> {
        let given = [
            self.text.is_some(),
            self.text_gone.is_some(),
            self.selector.is_some(),
            self.url.is_some(),
            self.function.is_some(),
            self.network_idle.is_some(),
        ];
        if given.iter().filter(|given| **given).count() != 1 {
            return Err(
                "give exactly one of `text`, `textGone`, `selector`, `url`, `function` and `networkIdle`"
                    .into(),
            );
        }
        if self.network_idle == Some(false) {
            return Err("`networkIdle` can only be true".into());
        }
        for (name, texts) in [("text", &self.text), ("textGone", &self.text_gone)] {
            let Some(texts) = texts else {
                continue;
            };
            if texts.is_empty() || texts.iter().any(|text| text.trim().is_empty()) {
                return Err(format!(
                    "`{name}` needs at least one text, and no empty one"
                ));
            }
            if texts.len() > MAX_TEXTS {
                return Err(format!("`{name}` has more than {MAX_TEXTS} entries"));
            }
        }
        let words = [&self.selector, &self.url, &self.function];
        match words
            .iter()
            .copied()
            .flatten()
            .any(|it| it.trim().is_empty())
        {
            true => Err("what to wait for is empty".into()),
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
        match tokio::time::timeout_at(deadline, self.wait(&page.tab, deadline)).await {
            Ok(came) => Ok(ToolOutput::text(came?)),
            Err(_) => Err(ToolError::TimedOut {
                what: self.what(),
                millis: limit.as_millis(),
                next: "Call take_snapshot to see what the page shows.".into(),
            }),
        }
    }
}

impl WaitFor {
    /// What is waited for, as the subject of a sentence.
    fn what(&self) -> String {
        if let Some(texts) = &self.text {
            format!("The appearance of {}", quoted(texts))
        } else if let Some(texts) = &self.text_gone {
            format!("The disappearance of {}", quoted(texts))
        } else if let Some(selector) = &self.selector {
            format!("The appearance of {}", one_line(selector, 100))
        } else if let Some(url) = &self.url {
            format!("An address with \"{}\"", one_line(url, 100))
        } else if self.function.is_some() {
            "What the function waits for".into()
        } else {
            "A quiet network".into()
        }
    }

    /// Returns a sentence about what happened.
    async fn wait(&self, tab: &Tab, deadline: Instant) -> Result<String, ToolError> {
        if let Some(texts) = &self.text {
            let ask = json!({ "texts": texts });
            let found = watch_frames(tab, "tabmux.waitForText", &ask, deadline).await?;
            return Ok(format!("\"{}\" is there.", one_line(&found, 200)));
        }
        if let Some(texts) = &self.text_gone {
            gone_everywhere(tab, texts, deadline).await?;
            return Ok(format!("{} is not there.", quoted(texts)));
        }
        if let Some(selector) = &self.selector {
            let ask = json!({ "selector": selector });
            if !tab.world().await?.call("tabmux.isSelector", &ask).await? {
                return Err(ToolError::Arguments(format!(
                    "`{}` is not a CSS selector.",
                    one_line(selector, 100)
                )));
            }
            let found = watch_frames(tab, "tabmux.waitForSelector", &ask, deadline).await?;
            return Ok(format!("{} is there.", one_line(&found, 200)));
        }
        if let Some(url) = &self.url {
            let there = |state: &TabState| {
                let main = state.frames.main();
                main.is_some_and(|main| main.url.contains(url.as_str()))
            };
            tab.until(LONGEST, there).await?;
            let now = tab.state().frames.main().map(|main| main.url.clone());
            let now = now.unwrap_or_default();
            return Ok(format!("The address is {}", one_line(&now, 300)));
        }
        if let Some(function) = &self.function {
            wait_for_condition(tab, function, deadline).await?;
            return Ok("The function returned true.".into());
        }
        quiet(tab).await?;
        Ok("The network is quiet.".into())
    }
}

fn quoted(texts: &[String]) -> String {
    let texts: Vec<_> = texts
        .iter()
        .map(|text| format!("\"{}\"", one_line(text, 60)))
        .collect();
    texts.join(" or ")
}

/// Returns the first match that our function `function` finds in any document of the tab, now or later.
async fn watch_frames(
    tab: &Tab,
    function: &'static str,
    ask: &Value,
    deadline: Instant,
) -> Result<String, ToolError> {
    let mut state = tab.watch();
    let mut watched: HashSet<DocumentId> = HashSet::new();
    let mut watches: FuturesUnordered<BoxFuture<'static, Result<Option<Value>, ToolError>>> =
        FuturesUnordered::new();
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
                function,
                ask.clone(),
                deadline,
            )));
        }
        tokio::select! {
            found = watches.next(), if !watches.is_empty() => {
                if let Some(Ok(Some(Value::String(text)))) = found {
                    return Ok(text);
                }
            }
            changed = state.changed() => {
                if changed.is_err() {
                    return Err(ToolError::TabGone(Gone::Closed));
                }
            }
        }
    }
}

/// Returns when none of the texts is shown in any visible document, all checked together.
async fn gone_everywhere(tab: &Tab, texts: &[String], deadline: Instant) -> Result<(), ToolError> {
    let ask = json!({ "texts": texts });
    let mut state = tab.watch();
    loop {
        let frames: Vec<Frame> = {
            let state = state.borrow_and_update();
            if let Some(gone) = state.gone {
                return Err(ToolError::TabGone(gone));
            }
            state.frames.iter().cloned().collect()
        };
        let documents: Vec<_> = frames.iter().map(|frame| frame.document).collect();
        let watches = frames.into_iter().map(|frame| {
            let function = "tabmux.waitForTextGone";
            watch_frame(tab, frame, function, &ask, deadline)
        });
        let gone = futures_util::future::join_all(watches).await;
        let gone = gone.into_iter().collect::<Result<Vec<_>, _>>()?;
        let same = {
            let state = tab.state();
            let now = state.frames.iter().map(|frame| frame.document);
            state.gone.is_none() && now.eq(documents)
        };
        if same && gone.into_iter().all(|gone| gone) {
            return Ok(());
        }
        // When a document goes away or appears, check again, but not in a busy loop.
        let _ = tokio::time::timeout(LOOK_AGAIN, state.changed()).await;
    }
}

/// Whether a frame shows none of the texts. Fails if the policy forbids the page itself; a forbidden frame counts as
/// not there.
async fn watch_frame(
    tab: &Tab,
    frame: Frame,
    function: &'static str,
    ask: &Value,
    deadline: Instant,
) -> Result<bool, ToolError> {
    let is_main = frame.parent.is_none();
    match watch_document(tab.clone(), frame, function, ask.clone(), deadline).await {
        Err(ToolError::Blocked(blocked)) if is_main => Err(ToolError::Blocked(blocked)),
        Err(ToolError::Blocked(_)) => Ok(true),
        Err(_) | Ok(None) => Ok(false),
        Ok(Some(_)) => Ok(true),
    }
}

/// Fails if the document goes away first or is forbidden; none when time is up.
async fn watch_document(
    tab: Tab,
    frame: Frame,
    function: &'static str,
    mut ask: Value,
    deadline: Instant,
) -> Result<Option<Value>, ToolError> {
    #[derive(Deserialize)]
    struct Watched {
        found: Option<Value>,
    }
    let world = tab.world_of(&frame).await?;
    ask["timeoutMs"] = millis_left(deadline).into();
    let watched: Watched = world.call(function, ask).await?;
    Ok(watched.found)
}

/// Evaluates an expression in the page; under a policy, in the document that was checked and in no other.
async fn ask_page(tab: &Tab, expression: String) -> Result<script::Returned, ToolError> {
    if bounds::here().is_none_or(|policy| policy.is_open()) {
        let ask = runtime::Evaluate {
            expression,
            await_promise: Some(true),
            return_by_value: Some(true),
            ..Default::default()
        };
        return script::run(tab.session(), ask).await;
    }
    let world = tab.world().await?;
    let document = world.document_in_page().await?;
    let ask = runtime::CallFunctionOn {
        function_declaration: format!("function () {{ return {expression}; }}"),
        await_promise: Some(true),
        return_by_value: Some(true),
        ..Default::default()
    };
    document.call(ask).await
}

/// Returns when the agent's function returns a truthy value. It is evaluated again in every document that the tab
/// shows.
async fn wait_for_condition(tab: &Tab, function: &str, deadline: Instant) -> Result<(), ToolError> {
    loop {
        let document = |state: &TabState| state.frames.main().map(|main| main.document);
        let before = document(&tab.state());
        // The loop in the page ends by itself, even if the call is gone.
        let expression = format!(
            "(async () => {{ const it = (\n{}\n); const end = performance.now() + {}; for (;;) {{ if (await it()) \
             return true; if (performance.now() > end) return false; await new Promise((next) => \
             setTimeout(next, 50)); }} }})()",
            function.trim().trim_end_matches(';'),
            millis_left(deadline)
        );
        match ask_page(tab, expression).await {
            Ok((result, exception)) => match exception {
                Some(exception) => return Err(ToolError::Script(script::describe(&exception))),
                None => {
                    let value = result.value.and_then(|value| value.decode().ok());
                    if value == Some(true) {
                        return Ok(());
                    }
                    // Time is up; the caller's own timeout ends the call.
                    std::future::pending::<()>().await;
                }
            },
            Err(ToolError::DocumentGone) => {
                tab.until(LONGEST, |state| document(state) != before)
                    .await?;
            }
            Err(error) => return Err(error),
        }
    }
}

/// Returns when nothing has been loading for a while.
pub(super) async fn quiet(tab: &Tab) -> Result<(), ToolError> {
    // A response that the page does not read further does not count as loading.
    let loading = |state: &TabState| {
        state.navigating
            || state.in_flight.keys().any(|number| {
                let request = state.network.find(*number);
                request.is_some_and(|it| it.kind != "Fetch" || it.status.is_none())
            })
    };
    loop {
        tab.until(LONGEST, |state| !loading(state)).await?;
        let next = tab.state().network.next();
        let stirred = |state: &TabState| loading(state) || state.network.next() != next;
        if !tab.until(QUIET, stirred).await? {
            return Ok(());
        }
    }
}

fn millis_left(deadline: Instant) -> u64 {
    let rest = deadline.saturating_duration_since(Instant::now());
    u64::try_from(rest.as_millis()).unwrap_or(u64::MAX)
}

const DEFAULT_LIMIT: Duration = Duration::from_secs(5);
/// A page that did not answer, and does not change, is asked again after this time.
const LOOK_AGAIN: Duration = Duration::from_millis(100);
const MAX_TEXTS: usize = 20;
const QUIET: Duration = Duration::from_millis(500);
