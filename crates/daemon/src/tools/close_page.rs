//! `close_page`: closes a page, unless it is the last one.

use super::format::also_held;
use super::tab_argument::{TabArgument, page_id_schema};
use super::{ListedIn, Part, SessionTool};
use crate::convert::{Parsed, Rejected};
use crate::options::SessionOptions;
use serde::Deserialize;
use serde_json::{Value, json};
use std::borrow::Cow;
use tabmux_browser::tools::Category;
use tabmux_core::{CallKind, Reply};
use tabmux_protocol::CallReply;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ClosePage {
    #[serde(alias = "tabId")]
    page_id: TabArgument,
}

impl SessionTool for ClosePage {
    const NAME: &'static str = "close_page";
    const LISTED_IN: ListedIn = ListedIn::Fixed;
    const CATEGORY: Option<Category> = Some(Category::Navigation);

    fn description() -> Cow<'static, str> {
        "Close a page. The last one cannot be closed.".into()
    }

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {"pageId": page_id_schema()},
            "required": ["pageId"]
        })
    }

    fn parse(self, _: &SessionOptions) -> Result<Parsed, Rejected> {
        let tab = self.page_id.0;
        Ok(CallKind::ClosePage { tab }.into())
    }

    fn reply(reply: Reply, _: Part) -> Option<CallReply> {
        let Reply::Closed { tab, shared } = reply else {
            return None;
        };
        let held = also_held(shared, tab);
        Some(CallReply::text(format!("Closed page {tab}.{held}")))
    }
}
