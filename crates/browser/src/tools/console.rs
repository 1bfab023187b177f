//! The page's console: the list of messages, and one of them with its stack.

mod stack;

use super::paging::{self, check_names, check_size, page as paged};
use super::{Access, Category, Tool, ToolOutput, ToolResult};
use crate::bounds;
use crate::error::ToolError;
use crate::run::Page;
use crate::tab::ConsoleMessage;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tabmux_text::{one_line, shorten};

/// Lists console messages.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ListConsoleMessages {
    page_size: Option<u32>,
    page_idx: Option<u32>,
    /// Such as error or warn.
    types: Option<Vec<String>>,
    /// Include those of the last 3 pages.
    include_preserved_messages: Option<bool>,
    /// With unmapped stack traces.
    #[schemars(extend("unlisted" = true))]
    include_stack_traces: Option<bool>,
    #[schemars(skip)]
    service_worker_id: Option<String>,
}

impl Tool for ListConsoleMessages {
    const NAME: &'static str = "list_console_messages";
    const DESCRIPTION: &'static str = "List what the page wrote to its console, and its errors.";
    const ACCESS: Access = Access::Read;
    const CATEGORY: Category = Category::Debugging;
    const PROGRESSIVE: bool = false;
    const DURING_DIALOG: bool = true;
    const NEEDS_PAGE: bool = false;

    fn output_schema() -> Option<Value> {
        Some(json!({
            "type": "object",
            "properties": {
                "messages": {"type": "array", "items": {
                    "type": "object",
                    "properties": {
                        "msgid": {"type": "integer"},
                        "type": {"type": "string"},
                        "text": {"type": "string"},
                        "times": {"type": "integer"},
                    },
                    "required": ["msgid", "type", "text", "times"],
                }},
                "total": {"type": "integer"},
            },
            "required": ["messages", "total"],
        }))
    }

    fn check(&self) -> Result<(), String> {
        check_size(self.page_size)?;
        if self.service_worker_id.is_some() {
            return Err(
                "console messages of service workers are not recorded; omit `serviceWorkerId`"
                    .into(),
            );
        }
        check_names("types", self.types.as_ref(), TYPES)
    }

    async fn run(self, page: Page) -> ToolResult {
        let state = page.tab.state();
        let everything = self.include_preserved_messages == Some(true);
        let policy = bounds::here().unwrap_or_default();
        let wanted = |message: &&ConsoleMessage| {
            let of_type = |types: &Vec<String>| types.iter().any(|name| name == &message.kind);
            (everything || message.epoch == state.epoch)
                && self.types.as_ref().is_none_or(of_type)
                && state.may_tell_message(message, &policy)
        };
        let messages: Vec<_> = state.console.iter().filter(wanted).collect();
        let stacks = self.include_stack_traces == Some(true);
        let mut text = paged(
            &messages,
            "messages",
            self.page_size,
            self.page_idx,
            |message| match stacks {
                true => [vec![line(message)], stack::as_told(message)]
                    .concat()
                    .join("\n"),
                false => line(message),
            },
        )?;
        // With stack traces a message has several lines.
        let plain = paged(&messages, "messages", self.page_size, self.page_idx, |it| {
            line(it)
        })?;
        let shown = paging::shown(&messages, self.page_size, self.page_idx, &plain);
        let rows: Vec<_> = shown.iter().map(|message| row(message)).collect();
        let structured = json!({ "messages": rows, "total": messages.len() });
        if state.console.lost > 0 {
            text.push_str(&format!(
                "\nThe {} oldest messages were dropped.",
                state.console.lost
            ));
        }
        let names_issues = |types: &Vec<String>| types.iter().any(|name| name == ISSUE);
        if self.types.as_ref().is_some_and(names_issues) {
            text.push_str("\nIssues that only DevTools finds are not collected here.");
        }
        Ok(ToolOutput {
            structured: Some(structured),
            ..ToolOutput::text(text)
        })
    }
}

/// Shows one console message.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct GetConsoleMessage {
    /// From list_console_messages.
    msgid: u32,
}

impl Tool for GetConsoleMessage {
    const NAME: &'static str = "get_console_message";
    const DESCRIPTION: &'static str =
        "Show one console message with its arguments and source-mapped stack.";
    const ACCESS: Access = Access::Read;
    const CATEGORY: Category = Category::Debugging;
    const PROGRESSIVE: bool = false;

    async fn run(self, page: Page) -> ToolResult {
        let policy = bounds::here().unwrap_or_default();
        let found = {
            let state = page.tab.state();
            let found = state.console.find(self.msgid.into()).cloned();
            found.filter(|message| state.may_tell_message(message, &policy))
        };
        let message = found.ok_or_else(|| ToolError::NotActionable {
            why: format!(
                "There is no console message {}. Call list_console_messages to see which are kept.",
                self.msgid
            ),
        })?;
        let mut lines = vec![line(&message)];
        if message.text.chars().count() > SHORT {
            lines.push(shorten(&message.text, MAX_TEXT));
        }
        if message.args.len() > 1 || message.args.iter().any(|arg| arg.object.is_some()) {
            lines.push("Arguments:".into());
            for (index, arg) in message.args.iter().enumerate() {
                let text = match &arg.object {
                    Some(object) => stack::write_out(&message.session, object)
                        .await
                        .unwrap_or_else(|| arg.text.clone()),
                    None => arg.text.clone(),
                };
                lines.push(format!("  {index}: {}", shorten(&text, MAX_ARGUMENT)));
            }
        }
        if !message.stack.is_empty() {
            lines.push("Stack:".into());
            lines.extend(stack::lines(&page.tab, &message).await);
        }
        Ok(ToolOutput::text(lines.join("\n")))
    }
}

fn row(message: &ConsoleMessage) -> Value {
    json!({
        "msgid": message.id,
        "type": message.kind,
        "text": one_line(&message.text, SHORT),
        "times": message.times,
    })
}

/// `msgid=7 [error] text (2 args) [3 times]`
fn line(message: &ConsoleMessage) -> String {
    let mut line = format!(
        "msgid={} [{}] {}",
        message.id,
        message.kind,
        one_line(&message.text, SHORT)
    );
    if message.args.len() > 1 {
        line.push_str(&format!(" ({} args)", message.args.len()));
    }
    if message.times > 1 {
        line.push_str(&format!(" [{} times]", message.times));
    }
    line
}

const SHORT: usize = 300;
const MAX_TEXT: usize = 4_000;
const MAX_ARGUMENT: usize = 2_000;

/// What chrome-devtools-mcp calls findings of DevTools. The filter is accepted, but matches
/// nothing.
const ISSUE: &str = "issue";

const TYPES: &[&str] = &[
    "log",
    "debug",
    "info",
    "error",
    "warn",
    "verbose",
    "dir",
    "dirxml",
    "table",
    "trace",
    "clear",
    "startGroup",
    "startGroupCollapsed",
    "endGroup",
    "assert",
    "profile",
    "profileEnd",
    "count",
    "timeEnd",
    ISSUE,
];
