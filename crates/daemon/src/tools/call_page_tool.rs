//! `call_page_tool`: calls a tool that a page offers.

use super::tab_argument::TabArgument;
use super::{ListedIn, SessionTool};
use crate::convert::{Parsed, Rejected};
use crate::options::SessionOptions;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::sync::Arc;
use tabmux_core::{CallKind, ToolName};
use tabmux_text::one_line;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct CallPageTool {
    name: String,
    arguments: Option<Map<String, Value>>,
    tab_id: Option<TabArgument>,
}

impl SessionTool for CallPageTool {
    const NAME: &'static str = "call_page_tool";
    const LISTED_IN: ListedIn = ListedIn::Fixed;
    const TAKES_INDEX: bool = false;

    fn description() -> Cow<'static, str> {
        "Call a tool that a page offers.".into()
    }

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "arguments": {"type": "object"},
                "tabId": {"type": "number"}
            },
            "required": ["name"]
        })
    }

    fn parse(self, _: &SessionOptions) -> Result<Parsed, Rejected> {
        let name = ToolName::parse(&self.name).ok_or_else(|| no_such_tool(&self.name))?;
        let tab = self.tab_id.map(|tab| tab.0);
        Ok(Parsed {
            page_arguments: Arc::new(self.arguments.unwrap_or_default()),
            ..Parsed::from(CallKind::CallPageTool { name, tab })
        })
    }
}

fn no_such_tool(name: &str) -> Rejected {
    Rejected::Arguments(format!(
        "No page offers a tool `{}`. Call list_page_tools to see what pages offer.",
        one_line(name, 100)
    ))
}
