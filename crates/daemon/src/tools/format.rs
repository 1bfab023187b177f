//! Forms that the replies of several session tools share.

use super::parts::label;
use serde::Serialize;
use serde_json::Value;
use tabmux_core::{BrowserRow, Reply, TabId, TabRow, ToolName};
use tabmux_protocol::CallReply;

/// A reply as text for agents, and as structured data for programs.
pub(super) fn structured(value: &impl Serialize) -> CallReply {
    match serde_json::value::to_raw_value(value) {
        Ok(raw) => CallReply {
            structured: Some(raw.clone()),
            ..CallReply::text(raw.get())
        },
        Err(error) => CallReply::error(format!("Internal tabmux error: {error}.")),
    }
}

/// A text for agents, and the same as data for clients that get it.
pub(super) fn with_data(text: String, data: &Value) -> CallReply {
    CallReply {
        structured: serde_json::value::to_raw_value(data).ok(),
        ..CallReply::text(text)
    }
}

/// The size of a row as JSON.
pub(super) fn json_bytes(row: &impl Serialize) -> usize {
    serde_json::to_string(row).map_or(0, |text| text.len())
}

pub(super) fn names(tools: &[ToolName]) -> Vec<&str> {
    tools.iter().map(ToolName::as_str).collect()
}

/// A tab, as progressive sessions see it.
#[derive(Serialize)]
pub(super) struct TabSummary<'a> {
    id: u32,
    title: &'a str,
    url: &'a str,
}

impl<'a> From<&'a TabRow> for TabSummary<'a> {
    fn from(tab: &'a TabRow) -> Self {
        Self {
            id: tab.id.0,
            title: &tab.title,
            url: &tab.url,
        }
    }
}

/// A page as one line, for sessions with a fixed list.
pub(super) fn page_line(page: &TabRow) -> String {
    format!("{}: {} ({})", page.id, label(&page.title), label(&page.url))
}

/// A note, for sessions with a fixed list, that another session works in the page, too.
pub(crate) fn also_held(shared: bool, tab: TabId) -> String {
    match shared {
        true => format!(" Page {tab} is also held by another session."),
        false => String::new(),
    }
}

/// The reply of tools that show the browser that they changed.
pub(super) fn one_browser(reply: Reply) -> Option<CallReply> {
    match reply {
        Reply::Browser { browser } => Some(CallReply::text(browser_line(&browser))),
        _ => None,
    }
}

/// One browser as one line.
pub(super) fn browser_line(browser: &BrowserRow) -> String {
    let BrowserRow {
        index,
        label,
        state,
        error,
        is_default,
        ..
    } = browser;
    let why = error.as_ref().map(|error| format!(" ({error})"));
    let default = if *is_default { " (default)" } else { "" };
    format!(
        "[{index}] {label} - {state}{}{default}",
        why.unwrap_or_default()
    )
}
