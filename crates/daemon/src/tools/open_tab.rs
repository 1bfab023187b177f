//! `open_tab`: opens a tab in a progressive session.

use super::format::{TabSummary, names, structured};
use super::{ListedIn, Part, SessionTool};
use crate::convert::{Parsed, Rejected};
use crate::options::SessionOptions;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::borrow::Cow;
use tabmux_core::{CallKind, Reply};
use tabmux_protocol::CallReply;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OpenTab {
    url: String,
    focus: Option<bool>,
}

impl SessionTool for OpenTab {
    const NAME: &'static str = "open_tab";
    const LISTED_IN: ListedIn = ListedIn::Progressive;

    fn description() -> Cow<'static, str> {
        "Open a new browser tab".into()
    }

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "url": {"type": "string", "description": "URL to open"},
                "focus": {
                    "type": "boolean",
                    "description": "Focus the new tab after opening",
                    "default": true
                }
            },
            "required": ["url"]
        })
    }

    fn parse(self, session: &SessionOptions) -> Result<Parsed, Rejected> {
        let kind = CallKind::OpenTab {
            url: session.policy().parse(&self.url)?.as_str().into(),
            focus: self.focus.unwrap_or(true),
        };
        Ok(kind.into())
    }

    fn reply(reply: Reply, _: Part) -> Option<CallReply> {
        let Reply::Opened { tab, tools } = reply else {
            return None;
        };
        Some(structured(&Opened {
            tab: TabSummary::from(&tab),
            focused: tab.focused,
            tools_available: names(&tools),
        }))
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Opened<'a> {
    tab: TabSummary<'a>,
    focused: bool,
    tools_available: Vec<&'a str>,
}
