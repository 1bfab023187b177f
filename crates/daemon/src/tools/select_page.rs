//! `select_page`: selects the page that tools without `tabId` work on.

use super::format::{also_held, page_line};
use super::tab_argument::{TabArgument, page_id_schema};
use super::{ListedIn, Part, SessionTool};
use crate::convert::{CallExtras, Parsed, Rejected};
use crate::options::SessionOptions;
use serde::Deserialize;
use serde_json::{Value, json};
use std::borrow::Cow;
use tabmux_browser::tools::Category;
use tabmux_core::{CallKind, Reply};
use tabmux_protocol::CallReply;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct SelectPage {
    #[serde(alias = "tabId")]
    page_id: TabArgument,
    #[serde(default)]
    bring_to_front: bool,
}

impl SessionTool for SelectPage {
    const NAME: &'static str = "select_page";
    const LISTED_IN: ListedIn = ListedIn::Fixed;
    const CATEGORY: Option<Category> = Some(Category::Navigation);

    fn description() -> Cow<'static, str> {
        "Select the page that tools without tabId (its number) work on.".into()
    }

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "pageId": page_id_schema(),
                "bringToFront": {"type": "boolean", "description": "Also show it to the user."}
            },
            "required": ["pageId"]
        })
    }

    fn parse(self, _: &SessionOptions) -> Result<Parsed, Rejected> {
        let tab = self.page_id.0;
        Ok(Parsed {
            extras: CallExtras {
                to_front: self.bring_to_front,
                ..CallExtras::default()
            },
            ..Parsed::from(CallKind::SelectPage { tab })
        })
    }

    fn reply(reply: Reply, _: Part) -> Option<CallReply> {
        let Reply::Focused { tab, shared, .. } = reply else {
            return None;
        };
        let (page, held) = (page_line(&tab), also_held(shared, tab.id));
        Some(CallReply::text(format!("Selected page {page}{held}")))
    }
}
