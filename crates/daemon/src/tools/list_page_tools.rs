//! `list_page_tools`: lists the tools that pages offer.

use super::tab_argument::TabArgument;
use super::{ListedIn, SessionTool};
use crate::convert::{Parsed, Rejected};
use crate::options::SessionOptions;
use crate::record::Record;
use serde::Deserialize;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::fmt::Write;
use std::sync::Arc;
use tabmux_core::{CallKind, ToolRow};
use tabmux_protocol::CallReply;
use tabmux_text::one_line;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ListPageTools {
    tab_id: Option<TabArgument>,
}

impl SessionTool for ListPageTools {
    const NAME: &'static str = "list_page_tools";
    const LISTED_IN: ListedIn = ListedIn::Fixed;
    const READS: bool = true;
    const TAKES_INDEX: bool = false;

    fn description() -> Cow<'static, str> {
        "List the tools that open pages offer themselves.".into()
    }

    fn schema() -> Value {
        json!({"type": "object", "properties": {"tabId": {"type": "number"}}})
    }

    fn parse(self, _: &SessionOptions) -> Result<Parsed, Rejected> {
        let tab = self.tab_id.map(|tab| tab.0);
        Ok(CallKind::ListPageTools { tab }.into())
    }
}

/// Each tool with what an agent needs to call it, within the size limit.
pub(crate) fn reply(tools: &[(ToolRow, Option<Arc<Record>>)], missing: Missing) -> CallReply {
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

const MOST_SCHEMA: usize = 4_000;
const MOST_TEXT: usize = 40_000;
