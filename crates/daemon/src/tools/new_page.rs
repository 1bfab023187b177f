//! `new_page`: opens a page and selects it.

use super::format::page_line;
use super::{ListedIn, Part, SessionTool};
use crate::convert::{CallExtras, Parsed, Rejected};
use crate::options::SessionOptions;
use serde::Deserialize;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::time::Duration;
use tabmux_browser::tools::Category;
use tabmux_core::{CallKind, Reply};
use tabmux_protocol::CallReply;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct NewPage {
    url: String,
    #[serde(default, rename = "background")]
    _background: bool, // Accepted and ignored: new pages always open in the background.
    isolated_context: Option<String>,
    timeout: Option<u64>,
}

impl SessionTool for NewPage {
    const NAME: &'static str = "new_page";
    const LISTED_IN: ListedIn = ListedIn::Fixed;
    const CATEGORY: Option<Category> = Some(Category::Navigation);

    fn description() -> Cow<'static, str> {
        "Open a URL in a new page and select it.".into()
    }

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "url": {"type": "string", "description": "URL to open"},
                "background": {"type": "boolean"},
                "isolatedContext": {
                    "type": "string",
                    "description": "Pages of one name share cookies and storage with each other only."
                },
                "timeout": {"type": "integer", "description": "In milliseconds."}
            },
            "required": ["url"]
        })
    }

    fn parse(self, session: &SessionOptions) -> Result<Parsed, Rejected> {
        let limit = self.timeout.filter(|timeout| *timeout > 0);
        let load_limit = limit.map(Duration::from_millis);
        let kind = CallKind::NewPage {
            url: session.policy().parse(&self.url)?.as_str().into(),
        };
        Ok(Parsed {
            timeout: load_limit,
            extras: CallExtras {
                load_limit,
                context: self.isolated_context.filter(|name| !name.is_empty()),
                ..CallExtras::default()
            },
            ..Parsed::from(kind)
        })
    }

    fn reply(reply: Reply, _: Part) -> Option<CallReply> {
        let Reply::Opened { tab, .. } = reply else {
            return None;
        };
        let page = page_line(&tab);
        Some(CallReply::text(format!("Opened and selected page {page}")))
    }
}
