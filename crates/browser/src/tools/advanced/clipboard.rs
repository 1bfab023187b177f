//! The clipboard of the browser.

use super::origin;
use crate::error::ToolError;
use crate::permissions::{Permission, TabPermissions};
use crate::run::Page;
use crate::tab::Tab;
use crate::tools::{Access, Category, Tool, ToolOutput, ToolResult};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tabmux_cdp::types::browser::PermissionSetting;
use tabmux_text::shorten;

/// Reads or writes the clipboard.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::tools) struct Clipboard {
    action: Action,
    /// What to write.
    text: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Action {
    Read,
    Write,
}

impl Tool for Clipboard {
    const NAME: &'static str = "clipboard";
    const DESCRIPTION: &'static str = "Read the text in the clipboard, or write one. A browser with a window shares the user's clipboard.";
    const ACCESS: Access = Access::Act;
    const CATEGORY: Category = Category::Advanced;
    const OPT_IN: bool = true;
    const PROGRESSIVE: bool = false;

    fn check(&self) -> Result<(), String> {
        match (self.action, &self.text) {
            (Action::Read, Some(_)) => Err("`text` is for writing only".into()),
            (Action::Write, None) => Err("writing needs a `text`".into()),
            (Action::Write, Some(text)) if text.len() > MAX_TEXT => {
                Err(format!("`text` is longer than {MAX_TEXT} bytes"))
            }
            _ => Ok(()),
        }
    }

    async fn run(self, page: Page) -> ToolResult {
        let tab = &page.tab;
        let origin = origin(tab, None)?;
        let answer = match self.action {
            Action::Read => {
                let allowed = Allowed::begin(tab, origin).await?;
                let world = tab.world().await?;
                let work = world.call::<Answer>(READ, json!({}));
                let answer = tokio::time::timeout(LIMIT, work).await;
                allowed.end().await;
                answer
            }
            Action::Write => {
                let world = tab.world().await?;
                let work = world.call_as_user::<Answer>(WRITE, json!({ "text": self.text }));
                tokio::time::timeout(LIMIT, work).await
            }
        };
        let answer = answer.map_err(|_| refused("it did not answer"))??;
        match (answer.error, self.action) {
            (Some(error), _) => Err(refused(&tabmux_text::one_line(&error, 200))),
            (None, Action::Write) => Ok(ToolOutput::text("Wrote the text to the clipboard.")),
            (None, Action::Read) => Ok(ToolOutput::text(described(
                &answer.text.unwrap_or_default(),
            ))),
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Answer {
    text: Option<String>,
    error: Option<String>,
}

/// The permission to read, which the page has for the duration of one call, even if that is cancelled.
struct Allowed(TabPermissions);

impl Allowed {
    async fn begin(tab: &Tab, origin: String) -> Result<Self, ToolError> {
        let allowed = Self(tab.permissions().for_one_call());
        let permission = Permission {
            origin,
            name: "clipboard-read".to_owned(),
            setting: PermissionSetting::GRANTED,
        };
        allowed.0.set(permission).await?;
        Ok(allowed)
    }

    async fn end(self) {
        self.0.clear().await;
    }
}

impl Drop for Allowed {
    fn drop(&mut self) {
        self.0.end();
    }
}

fn described(text: &str) -> String {
    match text.chars().count() {
        0 => "The clipboard has no text.".to_owned(),
        count if count > MAX_SHOWN => format!(
            "The clipboard has {count} characters. The first {MAX_SHOWN}:\n{}",
            shorten(text, MAX_SHOWN)
        ),
        _ => format!("The clipboard has this text:\n{text}"),
    }
}

fn refused(why: &str) -> ToolError {
    ToolError::NotActionable {
        why: format!(
            "The clipboard cannot be used here: {why}. It works in pages of https:// and of localhost, in a browser \
             that tabmux starts; or use press_key with Control+C and Control+V."
        ),
    }
}

const READ: &str = "(async () => { try { if (!navigator.clipboard) return { error: 'the page is not secure' }; \
     return { text: (await navigator.clipboard.readText()).slice(0, 1000000) } } \
     catch (error) { return { error: String(error?.message) } } })";
const WRITE: &str = "(async ({ text }) => { try { if (!navigator.clipboard) return { error: 'the page is not secure' \
     }; await navigator.clipboard.writeText(text); return {} } catch (error) { return { error: \
     String(error?.message) } } })";
const MAX_TEXT: usize = 1_000_000;
const MAX_SHOWN: usize = 20_000;
const LIMIT: std::time::Duration = std::time::Duration::from_secs(5);
