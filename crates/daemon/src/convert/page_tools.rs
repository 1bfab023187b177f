//! Replies about page tools.

use super::answers::{json, json_bytes};
use super::parts::{Part, label};
use crate::record::Record;
use serde::Serialize;
use std::fmt::Write;
use std::sync::Arc;
use std::time::SystemTime;
use tabmux_browser::text::one_line;
use tabmux_core::{PageRow, ToolRow};
use tabmux_protocol::{CallReply, Content};

/// `list_browser_tabs`: a JSON array, as the specification fixes it.
pub(crate) fn tabs(
    tabs: &[PageRow],
    left_out: usize,
    part: Part,
    seen: impl Fn(&PageRow) -> SystemTime,
) -> CallReply {
    let write = |row: &PageRow| Row::new(row, seen(row));
    let shown = match part.of("list_browser_tabs", tabs, write, json_bytes) {
        Ok(shown) => shown,
        Err(error) => return CallReply::error(error),
    };
    let mut reply = json(&shown.rows);
    let note = shown.note.map(|text| Content::Text { text });
    reply.content.extend(note);
    if left_out > 0 {
        let text = format!("{left_out} more tabs are left out. Close some to see the others.");
        reply.content.push(Content::Text { text });
    }
    // MCP requires structured content to be an object, but the specification fixes an array.
    CallReply {
        structured: None,
        ..reply
    }
}

/// `list_page_tools`: each tool with what an agent needs to call it, within the size limit.
pub(crate) fn list(tools: &[(ToolRow, Option<Arc<Record>>)], missing: Missing) -> CallReply {
    if tools.is_empty() && missing == Missing::default() {
        return CallReply::text("No page offers tools of its own.");
    }
    let mut text = String::new();
    let mut untold = missing.left_out;
    for (tool, record) in tools {
        let place = one_line(&tool.url, 200);
        let mut row = format!("{} in tab {} ({place})\n", tool.name, tool.tab_name);
        if let Some(record) = record {
            let text = &record.shared.text;
            let _ = writeln!(row, "  {}", one_line(&text.description, 400));
            let schema = text.schema();
            let _ = match schema.len() <= MOST_SCHEMA {
                true => writeln!(row, "  arguments: {schema}"),
                false => writeln!(row, "  arguments: a schema of {} bytes", schema.len()),
            };
        }
        match text.len() + row.len() <= MOST_TEXT {
            true => text.push_str(&row),
            false => untold += 1,
        }
    }
    if untold > 0 {
        let _ = writeln!(text, "… and {untold} more; name a tab to see its own.");
    }
    if missing.not_taken > 0 {
        let _ = writeln!(
            text,
            "{} more tools of these pages are left out: the limits are 64 tools in a tab, \
             64 kB for a schema, and 1 MB for all tools of a tab. Ask the page's author for fewer, or work with take_snapshot.",
            missing.not_taken
        );
    }
    if missing.not_generated > 0 {
        let _ = writeln!(
            text,
            "{} more could be generated from what these pages show; start with a larger \
             --generatedTools to have them, or work with take_snapshot.",
            missing.not_generated
        );
    }
    text.push_str("Call one by its name, or with call_page_tool.");
    CallReply::text(text)
}

/// How many tools a list omits, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Missing {
    /// The list is full.
    pub(crate) left_out: usize,
    /// Their pages have too many tools, or too large ones.
    pub(crate) not_taken: usize,
    /// The session's limit for generated tools is lower.
    pub(crate) not_generated: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    tab_id: String,
    url: String,
    title: String,
    is_active: bool,
    last_seen: String,
}

impl Row {
    fn new(row: &PageRow, seen: SystemTime) -> Self {
        Self {
            tab_id: row.name.to_string(),
            url: label(&row.url),
            title: label(&row.title),
            is_active: row.active,
            last_seen: humantime::format_rfc3339_millis(seen).to_string(),
        }
    }
}

const MOST_SCHEMA: usize = 4_000;
const MOST_TEXT: usize = 40_000;
