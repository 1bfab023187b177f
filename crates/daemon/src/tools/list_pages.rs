//! `list_pages`: lists the pages of a session with a fixed list.

use super::format::page_line;
use super::{ListedIn, Part, SessionTool};
use crate::convert::{Parsed, Rejected};
use crate::options::SessionOptions;
use serde::Deserialize;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::fmt::Write;
use tabmux_browser::tools::Category;
use tabmux_core::{CallKind, Reply, TabId, TabRow};
use tabmux_protocol::CallReply;

#[derive(Deserialize)]
#[serde(transparent)]
pub(super) struct ListPages(Part);

impl SessionTool for ListPages {
    const NAME: &'static str = "list_pages";
    const LISTED_IN: ListedIn = ListedIn::Fixed;
    const READS: bool = true;
    const CATEGORY: Option<Category> = Some(Category::Navigation);

    fn description() -> Cow<'static, str> {
        "Get a list of pages open in the browser.".into()
    }

    fn schema() -> Value {
        json!({"type": "object", "properties": {}})
    }

    fn parse(self, _: &SessionOptions) -> Result<Parsed, Rejected> {
        self.0.parsed(Self::NAME, CallKind::ListPages)
    }

    fn reply(reply: Reply, part: Part) -> Option<CallReply> {
        let Reply::Pages { pages, selected } = reply else {
            return None;
        };
        Some(match list(&pages, selected, part) {
            Ok(text) => CallReply::text(text),
            Err(error) => CallReply::error(error),
        })
    }
}

fn list(pages: &[TabRow], selected: Option<TabId>, part: Part) -> Result<String, String> {
    if pages.is_empty() {
        return Ok("No page is open. Call new_page, or any tool: it opens one.".to_owned());
    }
    let row = |page: &TabRow| {
        let mark = if Some(page.id) == selected {
            " [selected]"
        } else {
            ""
        };
        let held = if page.shared {
            " [another session works here]"
        } else {
            ""
        };
        format!("{}{mark}{held}", page_line(page))
    };
    let shown = part.of(ListPages::NAME, pages, row, String::len)?;
    let mut lines = shown.rows;
    if let Some(mut note) = shown.note {
        if let Some(selected) = selected {
            let _ = write!(note, " Page {selected} is selected.");
        }
        lines.push(note);
    }
    Ok(lines.join("\n"))
}
