//! `list_pages`: lists the pages of a session with a fixed list.

use super::format::{page_line, with_data};
use super::parts::label;
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

    fn output_schema() -> Option<Value> {
        let page = json!({
            "type": "object",
            "properties": {
                "id": {"type": "integer"},
                "title": {"type": "string"},
                "url": {"type": "string"},
                "selected": {"type": "boolean"},
                "shared": {"type": "boolean"},
            },
            "required": ["id", "title", "url", "selected", "shared"],
        });
        Some(json!({
            "type": "object",
            "properties": {
                "pages": {"type": "array", "items": page},
                "total": {"type": "integer"},
            },
            "required": ["pages", "total"],
        }))
    }

    fn parse(self, _: &SessionOptions) -> Result<Parsed, Rejected> {
        self.0.parsed(Self::NAME, CallKind::ListPages)
    }

    fn reply(reply: Reply, part: Part) -> Option<CallReply> {
        let Reply::Pages { pages, selected } = reply else {
            return None;
        };
        Some(match list(&pages, selected, part) {
            Ok((text, count)) => with_data(text, &data(&pages, selected, part, count)),
            Err(error) => CallReply::error(error),
        })
    }
}

/// The same pages as in the text.
fn data(pages: &[TabRow], selected: Option<TabId>, part: Part, count: usize) -> Value {
    let row = |page: &TabRow| {
        json!({
            "id": page.id.0,
            "title": label(&page.title),
            "url": label(&page.url),
            "selected": Some(page.id) == selected,
            "shared": page.shared,
        })
    };
    let shown = part.of(ListPages::NAME, pages, row, |_| 0);
    let mut rows = shown.map(|shown| shown.rows).unwrap_or_default();
    rows.truncate(count);
    json!({ "pages": rows, "total": pages.len() })
}

/// The text, and how many pages it shows.
fn list(pages: &[TabRow], selected: Option<TabId>, part: Part) -> Result<(String, usize), String> {
    if pages.is_empty() {
        let none = "No page is open. Call new_page, or any tool: it opens one.";
        return Ok((none.to_owned(), 0));
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
    let count = lines.len();
    if let Some(mut note) = shown.note {
        if let Some(selected) = selected {
            let _ = write!(note, " Page {selected} is selected.");
        }
        lines.push(note);
    }
    Ok((lines.join("\n"), count))
}
