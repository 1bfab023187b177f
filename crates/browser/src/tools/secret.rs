//! Secrets of the session: typing one, and listing them.

use super::act::{Element, WAIT_MS};
use super::{Access, Category, Tool, ToolOutput, ToolResult};
use crate::bounds;
use crate::error::ToolError;
use crate::run::Page;
use crate::secrets::{self, Secret};
use crate::tab::Tab;
use crate::world::World;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use url::Url;

/// Lists the secrets.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListSecrets {}

impl Tool for ListSecrets {
    const NAME: &'static str = "list_secrets";
    const DESCRIPTION: &'static str = "List the secrets that fill, fill_form and type_text can type: give \
                                       {{secret:NAME}} as the whole value. Values are never shown.";
    const ACCESS: Access = Access::Read;
    const CATEGORY: Category = Category::Secrets;
    const OPT_IN: bool = true;
    const PROGRESSIVE: bool = false;
    const DURING_DIALOG: bool = true;
    const NEEDS_PAGE: bool = false;

    async fn run(self, page: Page) -> ToolResult {
        let origins = origins_in(&page.tab);
        let secrets = secrets::here();
        let lines: Vec<_> = secrets.iter().map(|it| line(it, &origins)).collect();
        Ok(ToolOutput::text(match lines.is_empty() {
            true => "There are no secrets.".to_owned(),
            false => lines.join("\n"),
        }))
    }
}

fn line(secret: &Secret, origins: &[String]) -> String {
    let usable = origins.iter().any(|it| secret.check(it).is_ok());
    let usable = if usable { "usable" } else { "not usable" };
    let (name, allowed) = (secret.name(), secret.origins());
    format!("{{{{secret:{name}}}}}: {usable} in this tab; for {allowed}")
}

/// The origins of the documents in a tab that the session may access.
fn origins_in(tab: &Tab) -> Vec<String> {
    let frames: Vec<_> = tab.state().frames.iter().cloned().collect();
    let frames = frames
        .iter()
        .filter(|it| bounds::may_enter(tab, it).is_ok());
    let urls = frames.filter_map(|frame| Url::parse(&frame.url).ok());
    urls.map(|url| url.origin().ascii_serialization()).collect()
}

/// The answer of our scripts.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Answer {
    ok: bool,
    reason: String,
    detail: String,
}

/// Fills a field with a secret value, which was permitted for the element's document.
pub(super) async fn fill(page: &Page, element: &Element, value: &str) -> Result<String, ToolError> {
    page.acting();
    // First without the value: if the page navigates while the field is not usable yet, nothing is typed.
    let ask = json!({ "n": element.n, "waitMs": WAIT_MS });
    let answer: Answer = element.call("tabmux.fillSecret", ask).await?;
    if !answer.ok {
        return Err(refusal(element, &answer));
    }
    let ask = json!({ "n": element.n, "value": value });
    match element.call::<Answer>("tabmux.fillSecret", ask).await {
        // Most probably because of the value, but not certainly.
        Err(ToolError::DocumentGone) => Ok(NAVIGATED.to_owned()),
        Err(error) => Err(error),
        Ok(answer) if answer.ok => Ok(String::new()),
        Ok(answer) => Err(refusal(element, &answer)),
    }
}

fn refusal(element: &Element, answer: &Answer) -> ToolError {
    let uid = element.uid();
    let why = match answer.reason.as_str() {
        "not-text" => format!("The field {uid} takes no text, so no secret was typed. {TEXT_ONLY}"),
        "not-fillable" => format!("The element {uid} cannot be filled. {TEXT_ONLY}"),
        "readonly" => format!("The field {uid} is read-only. {TEXT_ONLY}"),
        "unfocusable" => {
            format!("The field {uid} cannot be focused. Click it, then use type_text.")
        }
        "not-taken" => {
            format!("The field {uid} did not accept the secret as it is. Check what it expects.")
        }
        reason => return element.refusal_for(reason, &answer.detail),
    };
    ToolError::NotActionable { why }
}

/// Types a secret where the focus is, if the text names one: the document that has the focus must be of an allowed
/// origin. Returns whether the text named one.
pub(super) async fn type_named(tab: &Tab, text: &str) -> Result<bool, ToolError> {
    let world = focused_world(tab).await?;
    let Some(value) = secrets::named_by(text, &world.origin)? else {
        return Ok(false);
    };
    // The value goes to this document, even if the focus moves to another one now.
    let answer: Answer = world
        .call("tabmux.typeSecret", json!({ "value": &*value }))
        .await?;
    match answer.ok {
        true => Ok(true),
        false => Err(ToolError::NotActionable {
            why: "No text field has the focus, so no secret was typed. Click the field first, or use fill.".into(),
        }),
    }
}

/// The world of the innermost document that has the focus.
async fn focused_world(tab: &Tab) -> Result<World, ToolError> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Focus {
        n: u32,
        frame: bool,
    }
    let mut world = tab.world().await?;
    for _ in 0..DEEPEST {
        let focus: Focus = world.call("tabmux.focusedElement", json!({})).await?;
        if !focus.frame {
            break;
        }
        let inner = super::shown_frame(&world, focus.n).await?;
        tab.catch_up().await;
        let inner = inner.and_then(|id| tab.state().frames.find(&id).cloned());
        let inner = inner.ok_or_else(|| ToolError::NotActionable {
            why: "A frame that has just appeared has the focus, and its site is not known yet. Try again.".into(),
        })?;
        bounds::may_enter(tab, &inner)?;
        world = tab.world_of(&inner).await?;
    }
    Ok(world)
}

const NAVIGATED: &str =
    " The page navigated meanwhile. Check whether it took the secret before you go on.";
const TEXT_ONLY: &str = "Use the uid of a text field.";

/// Frames nested deeper than this are not followed.
const DEEPEST: usize = 32;

#[cfg(test)]
mod tests {
    use crate::fake::{self, Asked, FakeBrowser};
    use crate::secrets::{self, Secrets};
    use serde_json::{Value, json};
    use std::sync::Arc;

    /// A page that navigates while the field is awaited, or while the secret is typed.
    fn leaving(when: &'static str) -> impl FnMut(&Asked) -> Vec<Value> {
        move |asked| {
            if !asked.runs("tabmux.fillSecret(") {
                // The origin of the world.
                return match asked.runs("; self.origin") {
                    true => vec![asked.gives(json!("https://app.example"))],
                    false => fake::usual(asked),
                };
            }
            let step = match asked.runs("\"value\"") {
                true => "typed",
                false => "awaited",
            };
            match step == when {
                true => vec![asked.refuse("Inspected target navigated or closed")],
                false => vec![asked.gives(json!({"ok": true}))],
            }
        }
    }

    async fn filled(when: &'static str) -> String {
        let harness = FakeBrowser::new(leaving(when)).await;
        let uid = harness.element().await;
        let mut secrets = Secrets::default();
        let origins = ["https://app.example".to_owned()];
        secrets.add("PASSWORD", "correct-horse", &origins).unwrap();
        let fill = harness.run("fill", json!({"uid": uid, "value": "{{secret:PASSWORD}}"}));
        let filled = secrets::within(Arc::new(secrets), fill).await;
        match filled {
            Ok(output) => format!("{output:?}"),
            Err(error) => error.to_string(),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_page_that_navigates_first_got_no_secret() {
        let said = filled("awaited").await;
        assert!(said.starts_with("The page navigated while"), "{said}");
        let said = filled("typed").await;
        assert!(said.contains("Check whether it took the secret"), "{said}");
    }
}
