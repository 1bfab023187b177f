//! `list_tabs`: lists the tabs of a progressive session.

use super::format::{json_bytes, structured};
use super::parts::label;
use super::{ListedIn, Part, SessionTool};
use crate::convert::{Parsed, Rejected};
use crate::options::SessionOptions;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::borrow::Cow;
use tabmux_core::{CallKind, Reply, TabId, TabRow};
use tabmux_protocol::{CallReply, Content};

#[derive(Deserialize)]
#[serde(transparent)]
pub(super) struct ListTabs(Part);

impl SessionTool for ListTabs {
    const NAME: &'static str = "list_tabs";
    const LISTED_IN: ListedIn = ListedIn::Progressive;

    fn description() -> Cow<'static, str> {
        "See all open tabs without loading their tools".into()
    }

    fn schema() -> Value {
        json!({"type": "object", "properties": {}})
    }

    fn parse(self, _: &SessionOptions) -> Result<Parsed, Rejected> {
        self.0.parsed(Self::NAME, CallKind::ListTabs)
    }

    fn reply(reply: Reply, part: Part) -> Option<CallReply> {
        match reply {
            Reply::Tabs { tabs, focused } => Some(list(&tabs, focused, part)),
            _ => None,
        }
    }
}

/// The object that the specification fixes, and a note about tabs that it omits.
fn list(tabs: &[TabRow], focused: Option<TabId>, part: Part) -> CallReply {
    let shown = match part.of(ListTabs::NAME, tabs, Row::of, json_bytes) {
        Ok(shown) => shown,
        Err(error) => return CallReply::error(error),
    };
    let mut reply = structured(&Tabs {
        tabs: shown.rows,
        focused_tab_id: focused.map(|tab| tab.0),
    });
    let note = shown.note.map(|text| Content::Text { text });
    reply.content.extend(note);
    reply
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

impl Row {
    fn of(tab: &TabRow) -> Self {
        Self {
            id: tab.id.0,
            title: label(&tab.title),
            url: label(&tab.url),
            focused: tab.focused,
            tool_count: tab.tool_count,
        }
    }
}
