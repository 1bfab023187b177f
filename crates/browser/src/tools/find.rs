//! Searching the whole page.

use super::look::{DocumentView, look};
use super::{Access, Category, Tool, ToolOutput, ToolResult};
use crate::run::Page;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::fmt::Write;
use tabmux_text::one_line;

/// Searches.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Find {
    /// Part of a name, text or value; case is ignored.
    text: Option<String>,
    /// The role as snapshots print it: button, link, textbox, row, heading, clickable, …
    role: Option<String>,
    /// Default: 20.
    #[schemars(range(min = 1, max = 200))]
    limit: Option<u32>,
}

impl Tool for Find {
    const NAME: &'static str = "find";
    const DESCRIPTION: &'static str = "Search the whole page and all frames for a text, a role or both. Returns \
                                       lines of take_snapshot.";
    const ACCESS: Access = Access::Read;
    const CATEGORY: Category = Category::Debugging;

    fn check(&self) -> Result<(), String> {
        let blank = |text: &Option<String>| text.as_ref().is_none_or(|text| text.trim().is_empty());
        if blank(&self.text) && blank(&self.role) {
            return Err("give a `text`, a `role`, or both".into());
        }
        match self.limit {
            Some(limit) if limit == 0 || limit > MAX_MATCHES => {
                Err(format!("`limit` must be between 1 and {MAX_MATCHES}"))
            }
            _ => Ok(()),
        }
    }

    async fn run(self, page: Page) -> ToolResult {
        let limit = self.limit.unwrap_or(20) as usize;
        let role = self.role.as_deref().map(|role| role.trim().to_lowercase());
        let argument = json!({
            "text": self.text.as_deref().filter(|text| !text.trim().is_empty()),
            "role": role.as_deref().filter(|role| !role.is_empty()),
            "limit": limit,
            "maxBytes": MAX_BYTES,
        });
        let world = page.tab.world().await?;
        let views = look(&page.tab, world, "tabmux.find", |_| argument.clone()).await?;
        let found: usize = views.iter().map(|sight| sight.view.found).sum();
        let mut text = String::new();
        let mut shown = 0;
        for sight in &views {
            let view = &sight.view;
            let mut start = 0;
            for &end in &view.ends {
                let lines = view.lines.get(start..end).unwrap_or_default();
                let bytes: usize = lines.iter().map(|line| line.len() + 1).sum();
                if shown == limit || text.len() + bytes > MAX_BYTES {
                    break;
                }
                for line in lines {
                    text.push_str(line);
                    text.push('\n');
                }
                shown += 1;
                start = end;
            }
        }
        let unread = !views.iter().all(DocumentView::is_complete);
        Ok(ToolOutput::text(self.report(found, shown, unread, text)))
    }
}

impl Find {
    fn report(&self, found: usize, shown: usize, unread: bool, lines: String) -> String {
        let mut report = match found {
            0 => format!(
                "Nothing on the page matches {}. It may not be shown yet: wait_for waits for a text, take_snapshot \
                 shows what is there.",
                self.wanted()
            ),
            1 => format!("1 match for {}:\n{lines}", self.wanted()),
            _ if shown < found => format!(
                "{found} matches for {}, the first {shown} of them (use a longer text, a role or a higher limit \
                 to see more):\n{lines}",
                self.wanted()
            ),
            _ => format!("{found} matches for {}:\n{lines}", self.wanted()),
        };
        report.truncate(report.trim_end().len());
        if unread {
            let _ = write!(
                report,
                "\n[Not searched: a frame that is loading or does not respond.]"
            );
        }
        report
    }

    fn wanted(&self) -> String {
        let text = self
            .text
            .as_ref()
            .map(|text| format!("{:?}", one_line(text, 100)));
        let role = self
            .role
            .as_ref()
            .map(|role| format!("role {}", one_line(role, 40)));
        [text, role]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(" with ")
    }
}

const MAX_MATCHES: u32 = 200;
const MAX_BYTES: usize = 20_000;
