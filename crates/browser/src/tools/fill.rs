//! Filling fields: one, or a whole form.

use super::act::{self, Before, Chord, Drawing, Element};
use super::{Access, Category, Tool, ToolResult, secret};
use crate::error::ToolError;
use crate::run::Page;
use crate::secrets;
use crate::tab::Clicks;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tabmux_text::one_line;

/// Fills one field.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Fill {
    uid: String,
    /// A text, an option's text, or "true" or "false" for checkboxes and switches.
    value: String,
    include_snapshot: Option<bool>,
}

impl Tool for Fill {
    const NAME: &'static str = "fill";
    const DESCRIPTION: &'static str =
        "Fill a field: text, list, box or date; checks that the field accepted it.";
    const ACCESS: Access = Access::Act;
    const CATEGORY: Category = Category::Input;
    const TELLS_CHANGES: bool = true;

    fn target(&self) -> Option<&str> {
        Some(&self.uid)
    }

    async fn run(self, page: Page) -> ToolResult {
        let _drawing = Drawing::of(&page.tab);
        let before = Before::look(&page.tab);
        let element = Element::find(&page.tab, &self.uid).await?;
        let done = fill(&page, &element, &self.value, Echo::Allowed).await?;
        let output = act::settle(&page.tab, &before, None, &format!("Filled.{done}")).await?;
        act::with_snapshot(&page, self.include_snapshot, output).await
    }
}

/// Fills several fields.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct FillForm {
    elements: Vec<Field>,
    include_snapshot: Option<bool>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Field {
    uid: String,
    /// As for fill.
    value: String,
}

impl Tool for FillForm {
    const NAME: &'static str = "fill_form";
    const DESCRIPTION: &'static str = "Fill several fields in one call.";
    const ACCESS: Access = Access::Act;
    const CATEGORY: Category = Category::Input;
    const TELLS_CHANGES: bool = true;

    fn check(&self) -> Result<(), String> {
        match self.elements.len() {
            0 => Err("`elements` is empty".into()),
            1..=MAX_FIELDS => Ok(()),
            _ => Err(format!("`elements` has more than {MAX_FIELDS} entries")),
        }
    }

    async fn run(self, page: Page) -> ToolResult {
        let _drawing = Drawing::of(&page.tab);
        let before = Before::look(&page.tab);
        // Find all elements first, so that a wrong uid changes nothing.
        let mut elements = Vec::with_capacity(self.elements.len());
        for field in &self.elements {
            elements.push(Element::find(&page.tab, &field.uid).await?);
        }
        // A secret that may not be used changes nothing, either.
        for (field, element) in self.elements.iter().zip(&elements) {
            secrets::named_by(&field.value, &element.world.origin)?;
        }
        let mut notes = String::new();
        for (count, (field, element)) in self.elements.iter().zip(&elements).enumerate() {
            let note = fill(&page, element, &field.value, Echo::Allowed)
                .await
                .map_err(|error| match count {
                    0 => error,
                    _ => ToolError::NotActionable {
                        why: format!("{error} The {count} fields before it are filled."),
                    },
                })?;
            if !note.is_empty() {
                notes.push_str(&format!("\n{}:{note}", field.uid));
            }
        }
        let done = format!("Filled {} fields.{notes}", elements.len());
        let output = act::settle(&page.tab, &before, None, &done).await?;
        act::with_snapshot(&page, self.include_snapshot, output).await
    }
}

/// The answer of our scripts about a field.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Answer {
    ok: bool,
    reason: String,
    detail: String,
    /// What to do next.
    how: String,
    /// The checkbox to click.
    n: Option<u32>,
    /// Whether a text field was empty.
    empty: bool,
    /// The field's content, if it differs from the value.
    shown: Option<String>,
    /// The message of the page's validation.
    note: Option<String>,
}

/// Whether an answer may contain the value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Echo {
    Allowed,
    /// It is a secret.
    Never,
}

/// Fills one field and checks the result. Returns further remarks, each after a space.
pub(super) async fn fill(
    page: &Page,
    element: &Element,
    value: &str,
    echo: Echo,
) -> Result<String, ToolError> {
    if let Some(secret) = secrets::named_by(value, &element.world.origin)? {
        return secret::fill(page, element, &secret).await;
    }
    let secret = echo == Echo::Never;
    let told = if secret { HIDDEN } else { value };
    let tab = &page.tab;
    page.acting();
    let ask = json!({ "n": element.n, "value": value, "waitMs": act::WAIT_MS });
    let field: Answer = element.call("tabmux.fillTarget", ask).await?;
    if !field.ok {
        return Err(refusal(element, &field.hiding(secret), told));
    }
    match field.how.as_str() {
        "type" if !value.is_empty() => tab.insert_text(value.to_owned()).await?,
        "type" if !field.empty => clear(page).await?,
        "click" => {
            let stand_in = element.sibling(field.n.unwrap_or(element.n));
            let clicked = act::click(page, &stand_in, Clicks::left(1)).await?;
            clicked.ok_or_else(|| ToolError::NotActionable {
                why: not_fillable(element),
            })?;
        }
        _ => {}
    }
    let field = match field.how.as_str() {
        "done" => field,
        _ => {
            let ask = json!({ "n": element.n, "value": value });
            match element.call("tabmux.filled", ask).await {
                // The page accepted the value and navigated.
                Err(ToolError::DocumentGone) => return Ok(String::new()),
                checked => checked?,
            }
        }
    };
    if !field.ok {
        return Err(refusal(element, &field.hiding(secret), told));
    }
    if secret {
        return Ok(String::new());
    }
    let shown = field.shown.filter(|shown| shown != value);
    let shown = shown.map(|shown| format!(" It now reads \"{}\".", one_line(&shown, 200)));
    let note = field
        .note
        .map(|note| format!(" The page says: \"{}\".", one_line(&note, 200)));
    Ok(shown.unwrap_or_default() + &note.unwrap_or_default())
}

impl Answer {
    /// The same without the field's content, if it is secret.
    fn hiding(self, secret: bool) -> Self {
        match secret && self.reason == "not-taken" {
            true => Self {
                detail: HIDDEN.into(),
                ..self
            },
            false => self,
        }
    }
}

/// Deletes the selection.
async fn clear(page: &Page) -> Result<(), ToolError> {
    let backspace = Chord::parse("Backspace").map_err(ToolError::Arguments)?;
    backspace.press(&page.tab).await
}

fn refusal(element: &Element, answer: &Answer, value: &str) -> ToolError {
    let uid = element.uid();
    let detail = one_line(&answer.detail, 600);
    let value = one_line(value, 60);
    let why = match answer.reason.as_str() {
        "not-fillable" => not_fillable(element),
        "file" => format!(
            "The element {uid} takes files, which fill cannot give it. Ask the user to choose them."
        ),
        "readonly" => {
            format!("The field {uid} is read-only. The page fills it from something else.")
        }
        "unfocusable" => {
            format!("The field {uid} cannot be focused. Click it first, then use type_text.")
        }
        "radio" => format!(
            "The radio button {uid} cannot be switched off. Fill another one of its group with \"true\"."
        ),
        "format" => format!("The field {uid} does not accept \"{value}\". It expects {detail}."),
        "no-option" => format!("The list {uid} has no option \"{value}\". It has {detail}."),
        "option-disabled" => {
            format!("The option \"{value}\" of {uid} is disabled. Choose another one.")
        }
        "not-taken" if detail.is_empty() => {
            format!(
                "The field {uid} did not accept \"{value}\" and is empty now. Check what it expects."
            )
        }
        "not-taken" => format!(
            "The field {uid} did not accept \"{value}\"; it now holds \"{detail}\". Check what it expects."
        ),
        _ => return element.refusal_for(&answer.reason, &answer.detail),
    };
    ToolError::NotActionable { why }
}

fn not_fillable(element: &Element) -> String {
    format!(
        "The element {} cannot be filled. Use the uid of a field, or click it.",
        element.uid()
    )
}

const MAX_FIELDS: usize = 100;
/// Shown in place of a secret.
const HIDDEN: &str = "(not repeated)";
