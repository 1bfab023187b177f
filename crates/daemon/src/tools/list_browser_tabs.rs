//! `list_browser_tabs`: lists the tabs whose pages use the page library.

use super::format::{json_bytes, structured};
use super::parts::label;
use super::{ListedIn, Part, SessionTool};
use crate::convert::{Parsed, Rejected};
use crate::options::SessionOptions;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::time::SystemTime;
use tabmux_core::{CallKind, PageRow};
use tabmux_protocol::{CallReply, Content};

#[derive(Deserialize)]
#[serde(transparent)]
pub(super) struct ListBrowserTabs(Part);

impl SessionTool for ListBrowserTabs {
    const NAME: &'static str = "list_browser_tabs";
    const LISTED_IN: ListedIn = ListedIn::FixedAndLibrary;
    const READS: bool = true;
    const TAKES_INDEX: bool = false;

    fn description() -> Cow<'static, str> {
        "List the tabs whose pages offer tools.".into()
    }

    fn schema() -> Value {
        json!({"type": "object", "properties": {}})
    }

    fn parse(self, _: &SessionOptions) -> Result<Parsed, Rejected> {
        self.0.parsed(Self::NAME, CallKind::ListBrowserTabs)
    }
}

/// A JSON array, as the specification fixes it.
pub(crate) fn reply(
    tabs: &[PageRow],
    left_out: usize,
    part: Part,
    seen: impl Fn(&PageRow) -> SystemTime,
) -> CallReply {
    let write = |row: &PageRow| Row::new(row, seen(row));
    let shown = match part.of(ListBrowserTabs::NAME, tabs, write, json_bytes) {
        Ok(shown) => shown,
        Err(error) => return CallReply::error(error),
    };
    let mut reply = structured(&shown.rows);
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
