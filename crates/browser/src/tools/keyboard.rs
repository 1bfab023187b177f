//! Typing and pressing keys at the focus.

use super::act::{self, Before, Chord, Drawing};
use super::{Access, Category, Tool, ToolResult, secret};
use crate::disallowed_frames;
use crate::error::ToolError;
use crate::run::Page;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// Types a text.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct TypeText {
    text: String,
    /// A key to press afterwards, such as Enter.
    submit_key: Option<String>,
}

impl Tool for TypeText {
    const NAME: &'static str = "type_text";
    const DESCRIPTION: &'static str =
        "Type text key by key where the focus is; existing text stays.";
    const ACCESS: Access = Access::Act;
    const CATEGORY: Category = Category::Input;
    const TELLS_CHANGES: bool = true;

    fn check(&self) -> Result<(), String> {
        self.submit_key
            .as_deref()
            .map_or(Ok(()), |key| Chord::parse(key).map(drop))
    }

    async fn run(self, page: Page) -> ToolResult {
        let tab = &page.tab;
        let _drawing = Drawing::of(tab);
        let before = Before::look(tab);
        let focus: Focus = tab
            .world()
            .await?
            .call("tabmux.focusedElement", json!({}))
            .await?;
        disallowed_frames::refuse_keys(tab).await?;
        page.acting();
        let secret = self.text.contains("{{secret:") && secret::type_named(tab, &self.text).await?;
        if !secret {
            act::type_characters(tab, &self.text).await?;
        }
        // If the focus moved to a forbidden frame meanwhile, the last keys may have gone there.
        disallowed_frames::refuse_keys(tab).await?;
        if let Some(key) = &self.submit_key {
            Chord::parse(key)
                .map_err(ToolError::Arguments)?
                .press(tab)
                .await?;
        }
        let done = match focus {
            _ if secret => "Typed the secret.".into(),
            Focus { focused: false, .. } => {
                "Typed, but no field had the focus: the keys went to the page itself. To fill a field, \
                 use fill or click it first."
                    .into()
            }
            Focus { editable: false, frame: false, element, .. } => {
                format!("Typed, but {element} had the focus, which does not accept text.")
            }
            Focus { element, .. } => format!("Typed into {element}."),
        };
        act::settle(tab, &before, None, &done).await
    }
}

/// Presses a key.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct PressKey {
    /// Such as Enter, ArrowDown, a, Control+Shift+R.
    key: String,
    include_snapshot: Option<bool>,
}

impl Tool for PressKey {
    const NAME: &'static str = "press_key";
    const DESCRIPTION: &'static str = "Press a key or a combination where the focus is. The page receives it, not the \
                                       browser around it.";
    const ACCESS: Access = Access::Act;
    const CATEGORY: Category = Category::Input;
    const TELLS_CHANGES: bool = true;

    fn check(&self) -> Result<(), String> {
        Chord::parse(&self.key).map(drop)
    }

    async fn run(self, page: Page) -> ToolResult {
        let _drawing = Drawing::of(&page.tab);
        let before = Before::look(&page.tab);
        let chord = Chord::parse(&self.key).map_err(ToolError::Arguments)?;
        disallowed_frames::refuse_keys(&page.tab).await?;
        page.acting();
        chord.press(&page.tab).await?;
        let done = format!("Pressed {}.", self.key.trim());
        let output = act::settle(&page.tab, &before, None, &done).await?;
        act::with_snapshot(&page, self.include_snapshot, output).await
    }
}

/// What has the focus.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Focus {
    focused: bool,
    editable: bool,
    frame: bool,
    element: String,
}
