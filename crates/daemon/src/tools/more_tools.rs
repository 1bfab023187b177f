//! `more_tools`: adds page actions to the list of a progressive session.

use super::format::{names, structured};
use super::{ListedIn, Part, SessionTool};
use crate::catalogue;
use crate::convert::{Parsed, Rejected};
use crate::options::SessionOptions;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::borrow::Cow;
use tabmux_browser::tools::Category;
use tabmux_core::{CallKind, Reply};
use tabmux_protocol::CallReply;
use tabmux_text::one_line;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MoreTools {
    category: String,
}

impl SessionTool for MoreTools {
    const NAME: &'static str = "more_tools";
    const LISTED_IN: ListedIn = ListedIn::ProgressiveFocused;
    const TAKES_INDEX: bool = false;

    fn description() -> Cow<'static, str> {
        let contents = CATEGORIES.map(|(category, what)| format!("{} ({what})", category.name()));
        format!("Add tools to this list: {}.", contents.join(", ")).into()
    }

    fn schema() -> Value {
        let names: Vec<_> = categories().collect();
        json!({
            "type": "object",
            "properties": {"category": {"type": "string", "enum": names}},
            "required": ["category"]
        })
    }

    fn parse(self, _: &SessionOptions) -> Result<Parsed, Rejected> {
        let tools = catalogue::of_categories(std::slice::from_ref(&self.category));
        if tools.is_empty() {
            let known: Vec<_> = categories().collect();
            return Err(Rejected::Arguments(format!(
                "There is no category `{}`. Call more_tools with one of {}.",
                one_line(&self.category, 100),
                known.join(", ")
            )));
        }
        let category = self.category.into();
        Ok(CallKind::MoreTools { category, tools }.into())
    }

    fn reply(reply: Reply, _: Part) -> Option<CallReply> {
        let Reply::Added { category, tools } = reply else {
            return None;
        };
        Some(structured(&Added {
            category: &category,
            tools_available: names(&tools),
        }))
    }
}

/// The names of the categories that can be added.
pub(crate) fn categories() -> impl Iterator<Item = &'static str> {
    CATEGORIES.iter().map(|(category, _)| category.name())
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Added<'a> {
    category: &'a str,
    tools_available: Vec<&'a str>,
}

/// The categories that can be added for a focused tab, and their contents.
const CATEGORIES: [(Category, &str); 9] = [
    (
        Category::Advanced,
        "clipboard, passwords, permissions, downloads, styles",
    ),
    (Category::Debugging, "console messages, PDF"),
    (Category::Emulation, "device, network, size"),
    (Category::Input, "drag, upload, click at a point"),
    (Category::Network, "requests and their bodies"),
    (Category::Performance, "traces, heap snapshots"),
    (Category::Rules, "block and change requests"),
    (Category::Screencast, "film the page"),
    (Category::Storage, "cookies, local and session storage"),
];
