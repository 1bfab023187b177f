//! `close_tab`: closes a tab of a progressive session.

use super::format::structured;
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
pub(super) struct CloseTab {
    tab_id: Option<TabArgument>,
}

impl SessionTool for CloseTab {
    const NAME: &'static str = "close_tab";
    const LISTED_IN: ListedIn = ListedIn::Progressive;

    fn description() -> Cow<'static, str> {
        "Close a tab".into()
    }

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "tabId": {
                    "type": "number",
                    "description": "ID of tab to close. Defaults to focused tab."
                }
            }
        })
    }

    fn parse(self, _: &SessionOptions) -> Result<Parsed, Rejected> {
        let tab = self.tab_id.map(|tab| tab.0);
        Ok(CallKind::CloseTab { tab }.into())
    }

    fn reply(reply: Reply, _: Part) -> Option<CallReply> {
        let Reply::Closed { tab, .. } = reply else {
            return None;
        };
        Some(structured(&Closed {
            closed: true,
            tab_id: tab.0,
        }))
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Closed {
    closed: bool,
    tab_id: u32,
}
