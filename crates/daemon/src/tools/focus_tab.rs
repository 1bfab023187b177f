//! `focus_tab`: focuses a tab, so that a progressive session lists its tools.

use super::format::{TabSummary, names, structured};
use super::tab_argument::TabArgument;
use super::{ListedIn, Part, SessionTool};
use crate::convert::{Parsed, Rejected};
use crate::options::SessionOptions;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::borrow::Cow;
use tabmux_core::{CallKind, Reply};
use tabmux_protocol::CallReply;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct FocusTab {
    tab_id: TabArgument,
}

impl SessionTool for FocusTab {
    const NAME: &'static str = "focus_tab";
    const LISTED_IN: ListedIn = ListedIn::Progressive;

    fn description() -> Cow<'static, str> {
        "Switch focus to a different tab, loading its tools".into()
    }

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "tabId": {"type": "number", "description": "ID of the tab to focus"}
            },
            "required": ["tabId"]
        })
    }

    fn parse(self, _: &SessionOptions) -> Result<Parsed, Rejected> {
        let tab = self.tab_id.0;
        Ok(CallKind::FocusTab { tab }.into())
    }

    fn reply(reply: Reply, _: Part) -> Option<CallReply> {
        let Reply::Focused { tab, tools, .. } = reply else {
            return None;
        };
        Some(structured(&Focused {
            success: true,
            tab: TabSummary::from(&tab),
            tools_available: names(&tools),
        }))
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Focused<'a> {
    success: bool,
    tab: TabSummary<'a>,
    tools_available: Vec<&'a str>,
}
