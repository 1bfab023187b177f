//! The replies of the core's tools, as agents read them.

use super::parts::{self, Part};
use serde::Serialize;
use tabmux_core::{TabId, TabRow, ToolName};
use tabmux_protocol::{CallReply, Content};

/// `list_tabs`: the object that the specification fixes, and a note about tabs that it omits.
pub(super) fn tab_list(tabs: &[TabRow], focused: Option<TabId>, part: Part) -> CallReply {
    let shown = match part.of("list_tabs", tabs, Row::of, json_bytes) {
        Ok(shown) => shown,
        Err(error) => return CallReply::error(error),
    };
    let mut reply = json(&Tabs {
        tabs: shown.rows,
        focused_tab_id: focused.map(|tab| tab.0),
    });
    let note = shown.note.map(|text| Content::Text { text });
    reply.content.extend(note);
    reply
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Connected<'a> {
    pub(super) connected: bool,
    pub(super) browser: About<'a>,
    pub(super) tab_count: usize,
}

#[derive(Serialize)]
pub(super) struct About<'a> {
    pub(super) name: &'a str,
    pub(super) version: &'a str,
}

#[derive(Serialize)]
pub(super) struct NotConnected<'a> {
    pub(super) connected: bool,
    pub(super) error: &'a str,
    pub(super) instructions: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tabs {
    tabs: Vec<Row>,
    focused_tab_id: Option<u32>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    id: u32,
    title: String,
    url: String,
    focused: bool,
    tool_count: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Opened<'a> {
    pub(super) tab: Page<'a>,
    pub(super) focused: bool,
    pub(super) tools_available: Vec<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Focused<'a> {
    pub(super) success: bool,
    pub(super) tab: Page<'a>,
    pub(super) tools_available: Vec<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Added<'a> {
    pub(super) category: &'a str,
    pub(super) tools_available: Vec<&'a str>,
}

#[derive(Serialize)]
pub(super) struct Page<'a> {
    pub(super) id: u32,
    pub(super) title: &'a str,
    pub(super) url: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Closed {
    pub(super) closed: bool,
    pub(super) tab_id: u32,
}

impl Row {
    fn of(tab: &TabRow) -> Self {
        Self {
            id: tab.id.0,
            title: parts::label(&tab.title),
            url: parts::label(&tab.url),
            focused: tab.focused,
            tool_count: tab.tool_count,
        }
    }
}

impl<'a> From<&'a TabRow> for Page<'a> {
    fn from(tab: &'a TabRow) -> Self {
        Self {
            id: tab.id.0,
            title: &tab.title,
            url: &tab.url,
        }
    }
}

pub(super) fn names(tools: &[ToolName]) -> Vec<&str> {
    tools.iter().map(ToolName::as_str).collect()
}

/// A reply as text for agents, and as structured data for programs.
pub(super) fn json(value: &impl Serialize) -> CallReply {
    match serde_json::value::to_raw_value(value) {
        Ok(raw) => CallReply {
            structured: Some(raw.clone()),
            ..CallReply::text(raw.get())
        },
        Err(error) => CallReply::error(format!("Internal tabmux error: {error}.")),
    }
}

/// The size of a row as JSON.
pub(super) fn json_bytes(row: &impl Serialize) -> usize {
    serde_json::to_string(row).map_or(0, |text| text.len())
}
