//! Recording a performance trace, and analyzing it.

use super::act::Drawing;
use super::wait::quiet;
use super::{Access, Category, Tool, ToolOutput, ToolResult};
use crate::bounds;
use crate::disallowed_frames;
use crate::error::ToolError;
use crate::files::{Destination, Draft};
use crate::navigate;
use crate::run::Page;
use crate::stream;
use crate::tab::{EventStream, Load, Tab};
use crate::trace::{self, Trace};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tabmux_cdp::types::{dom, tracing as cdp};
use tabmux_text::one_line;

/// Begins a trace.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct PerformanceStartTrace {
    /// Reload the page first. Default: true.
    reload: Option<bool>,
    /// Stop when the page is loaded and quiet. Default: true.
    auto_stop: Option<bool>,
    file_path: Option<String>,
    overwrite: Option<bool>,
    /// Bypass the cache when reloading.
    #[schemars(extend("unlisted" = true))]
    ignore_cache: Option<bool>,
}

impl Tool for PerformanceStartTrace {
    const NAME: &'static str = "performance_start_trace";
    const DESCRIPTION: &'static str =
        "Record a performance trace: Core Web Vitals and what to improve.";
    const ACCESS: Access = Access::Act;
    const CATEGORY: Category = Category::Performance;
    const PROGRESSIVE: bool = false;

    fn check(&self) -> Result<(), String> {
        match self.auto_stop == Some(false) && self.file_path.is_some() {
            true => Err("with autoStop false, give `filePath` to performance_stop_trace".into()),
            false => Ok(()),
        }
    }

    async fn run(self, page: Page) -> ToolResult {
        let tab = &page.tab;
        if tab.tracing().running().is_some() {
            return Err(ToolError::NotActionable {
                why: "A trace is running already. Call performance_stop_trace.".into(),
            });
        }
        disallowed_frames::refuse(tab, disallowed_frames::NOT_RECORDED)?;
        // Before any action: a file that cannot be written fails the call.
        let draft = match self.auto_stop {
            Some(false) => None,
            _ => Some(page.files.create(self.to()).await?),
        };
        let recording = Recording::begin(tab).await?;
        if self.reload != Some(false) {
            navigate::reload(tab, self.ignore_cache == Some(true)).await?;
            tab.until(LOAD_LIMIT, |state| {
                state.load == Load::Complete && !state.navigating
            })
            .await?;
        }
        let Some(draft) = draft else {
            *tab.tracing().running() = Some(recording);
            return Ok(ToolOutput::text(
                "The trace is running. Do what is to be measured, then call performance_stop_trace.",
            ));
        };
        page.progress("waiting for the page to be quiet");
        // A page that never becomes quiet is measured, too.
        let _ = tokio::time::timeout(QUIET_LIMIT, quiet(tab)).await;
        finish(&page, recording, draft).await
    }
}

impl PerformanceStartTrace {
    fn to(&self) -> Destination {
        Destination::new(self.file_path.as_deref(), self.overwrite, "json")
    }
}

/// Ends a trace.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct PerformanceStopTrace {
    file_path: Option<String>,
    overwrite: Option<bool>,
}

impl Tool for PerformanceStopTrace {
    const NAME: &'static str = "performance_stop_trace";
    const DESCRIPTION: &'static str = "Stop the trace and get its results.";
    const LOOKS_BACK: bool = true;
    const ACCESS: Access = Access::Act;
    const CATEGORY: Category = Category::Performance;
    const PROGRESSIVE: bool = false;

    async fn run(self, page: Page) -> ToolResult {
        let none = || ToolError::NotActionable {
            why: "No trace is running in this tab. Call performance_start_trace first.".into(),
        };
        if page.tab.tracing().running().is_none() {
            return Err(none());
        }
        let to = Destination::new(self.file_path.as_deref(), self.overwrite, "json");
        let draft = page.files.create(to).await?;
        let recording = page.tab.tracing().running().take();
        finish(&page, recording.ok_or_else(none)?, draft).await
    }
}

/// Shows one insight in detail.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct PerformanceAnalyzeInsight {
    /// From the trace's answer; each trace has one.
    insight_set_id: Option<String>,
    /// Such as LCPBreakdown.
    insight_name: String,
}

impl Tool for PerformanceAnalyzeInsight {
    const NAME: &'static str = "performance_analyze_insight";
    const DESCRIPTION: &'static str = "Show details of one insight of the last trace.";
    const ACCESS: Access = Access::Read;
    const CATEGORY: Category = Category::Performance;
    const PROGRESSIVE: bool = false;
    const DURING_DIALOG: bool = true;
    const NEEDS_PAGE: bool = false;

    fn check(&self) -> Result<(), String> {
        if self
            .insight_set_id
            .as_ref()
            .is_some_and(|id| id != "NAVIGATION_0")
        {
            return Err("`insightSetId` is NAVIGATION_0".into());
        }
        match trace::NAMES.contains(&self.insight_name.as_str()) {
            true => Ok(()),
            false => Err(format!(
                "`insightName` has no value \"{}\"; use one of {}",
                one_line(&self.insight_name, 60),
                trace::NAMES.join(", ")
            )),
        }
    }

    async fn run(self, page: Page) -> ToolResult {
        let last = page.tab.tracing().last();
        let lines = last
            .as_ref()
            .and_then(|trace| trace::describe(trace, &self.insight_name));
        match lines {
            Some(lines) => Ok(ToolOutput::text(lines.join("\n"))),
            None => Err(ToolError::NotActionable {
                why: "There is no trace of this tab yet. Call performance_start_trace first."
                    .into(),
            }),
        }
    }
}

/// The running trace of a tab, and the results of the last one.
#[derive(Debug, Default)]
pub(crate) struct Tracing {
    running: Mutex<Option<Recording>>,
    last: Mutex<Option<Trace>>,
}

impl Tracing {
    fn running(&self) -> MutexGuard<'_, Option<Recording>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn last(&self) -> MutexGuard<'_, Option<Trace>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A trace that is being recorded; dropping this stops it.
#[derive(Debug)]
struct Recording {
    tap: EventStream,
    session: tabmux_cdp::Session,
    /// A background tab paints nothing by itself, so there would be nothing to measure.
    _drawing: Drawing,
    ended: bool,
}

impl Recording {
    async fn begin(tab: &Tab) -> Result<Self, ToolError> {
        let tap = tab.stream_events(&["Tracing.tracingComplete"]);
        let start = cdp::Start {
            transfer_mode: Some(cdp::StartTransferMode::RETURN_AS_STREAM),
            trace_config: Some(cdp::TraceConfig {
                included_categories: Some(CATEGORIES.iter().map(|&it| it.into()).collect()),
                ..Default::default()
            }),
            ..Default::default()
        };
        let session = tab.session().clone();
        session.send(start).await.map_err(|error| match error {
            tabmux_cdp::CdpError::Rejected { message, .. } if message.contains("already") => {
                ToolError::NotActionable {
                    why: "Another tab of this browser is being traced, and Chrome traces one at a time. Stop that \
                          trace first."
                        .into(),
                }
            }
            error => error.into(),
        })?;
        Ok(Self {
            tap,
            _drawing: Drawing::of(tab),
            session,
            ended: false,
        })
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        if !self.ended {
            self.session.post(cdp::End::default());
        }
    }
}

/// Stops the recording, saves and reads it, and reports the results.
async fn finish(page: &Page, mut recording: Recording, mut draft: Draft) -> ToolResult {
    // The last interaction is in the trace only after it was painted.
    if let Ok(world) = page.tab.world().await {
        let painted = world
            .call::<serde_json::Value>("tabmux.settle", json!({ "quietFrames": 3, "capMs": 200 }));
        let _ = tokio::time::timeout(PAINT_LIMIT, painted).await;
    }
    recording.session.send(cdp::End::default()).await?;
    recording.ended = true;
    page.tab.catch_up().await;
    bounds::may_look_back(&page.tab)?;
    let complete = tokio::time::timeout(END_LIMIT, recording.tap.events.recv()).await;
    let complete = complete.ok().flatten();
    let complete = complete.and_then(|(_, event)| event.decode::<cdp::TracingComplete>());
    let Some(complete) = complete else {
        return Err(ToolError::Stuck);
    };
    page.progress("saving the trace");
    let bytes = stream::save(&recording.session, complete.stream, &mut draft).await?;
    let frame = page
        .tab
        .state()
        .frames
        .main()
        .map(|main| main.id.to_string());
    let frame = frame.unwrap_or_default();
    let read = draft.read_back(move |file| Trace::read(file, &frame)).await;
    let place = draft.keep().await?;
    let saved = format!(
        "Saved the trace to {} ({:.1} MB); DevTools opens it under Performance.",
        place.display(),
        bytes as f64 / 1_000_000.0
    );
    let lost = match complete.data_loss_occurred {
        true => "\nChrome's buffer was full: the end of the trace is missing.",
        false => "",
    };
    let text = match read {
        Ok(Ok(mut read)) => {
            read.names = names(&page.tab, read.unnamed_nodes()).await;
            let summary = trace::summary(&read);
            *page.tab.tracing().last() = Some(read);
            format!("{summary}\n{saved}{lost}")
        }
        Ok(Err(why)) => format!("{saved}{lost}\nIt cannot be analyzed here: {why}."),
        Err(_) => format!("{saved}{lost}\nIt cannot be analyzed here."),
    };
    Ok(ToolOutput::text(text))
}

/// Names of DOM nodes of the main frame, if they still exist.
async fn names(tab: &Tab, nodes: Vec<i64>) -> HashMap<i64, String> {
    let mut names = HashMap::new();
    for node in nodes {
        let describe = dom::DescribeNode {
            backend_node_id: Some(node.into()),
            ..Default::default()
        };
        let described = tab.session().send_within(describe, NAME_LIMIT).await;
        if let Ok(described) = described {
            names.insert(node, brief(&described.node));
        }
    }
    names
}

/// `<div#id.class>`, or a text as it is.
fn brief(node: &dom::Node) -> String {
    if node.local_name.is_empty() {
        return format!("\"{}\"", one_line(&node.node_value, 40));
    }
    let list = node.attributes.as_deref().unwrap_or_default();
    let mut words = format!("<{}", node.local_name);
    for pair in list.chunks_exact(2) {
        match pair {
            [name, value] if name == "id" => words.push_str(&format!("#{value}")),
            [name, value] if name == "class" => words.push_str(&format!(".{value}")),
            _ => {}
        }
    }
    one_line(&format!("{words}>"), 80)
}

/// The categories that DevTools records, without samples of every function.
const CATEGORIES: &[&str] = &[
    "-*",
    "blink.console",
    "blink.user_timing",
    "devtools.timeline",
    "devtools.timeline.frame",
    "disabled-by-default-devtools.timeline",
    "disabled-by-default-devtools.timeline.frame",
    "disabled-by-default-devtools.timeline.stack",
    "latencyInfo",
    "loading",
    "v8.execute",
];
const PAINT_LIMIT: Duration = Duration::from_secs(1);
const NAME_LIMIT: Duration = Duration::from_secs(1);
const LOAD_LIMIT: Duration = Duration::from_secs(15);
const QUIET_LIMIT: Duration = Duration::from_secs(5);
const END_LIMIT: Duration = Duration::from_secs(30);
