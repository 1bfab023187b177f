//! Running the agent's JavaScript in the page.

mod dialogs;
mod written;

pub(super) use dialogs::Dialogs;

use super::act::{self, Before, Element};
use super::{Access, Category, Tool, ToolOutput, ToolResult};
use crate::bounds;
use crate::error::ToolError;
use crate::files::Destination;
use crate::run::Page;
use crate::script;
use crate::tab::Tab;
use crate::world::{RemoteObject, World};
use schemars::JsonSchema;
use serde::Deserialize;
use std::hash::{BuildHasher, Hasher, RandomState};
use tabmux_cdp::Session;
use tabmux_cdp::types::runtime;
use tabmux_text::{escaped_json, one_line};

/// Runs JavaScript in the page.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct EvaluateScript {
    /// A function, such as `() => document.title` or `async (el) => el.innerText`.
    function: Option<String>,
    /// uids of its arguments. It runs in their frame.
    args: Option<Vec<String>>,
    /// uid of an iframe: run in the page inside it.
    frame_uid: Option<String>,
    // Further arguments of chrome-devtools-mcp.
    /// A file with the function, instead of `function`.
    #[schemars(extend("unlisted" = true))]
    source_path: Option<String>,
    /// Whether the text is a function or a script; a script's last value is the result.
    #[schemars(extend("unlisted" = true))]
    format: Option<Format>,
    /// Where to write the result, instead of answering with it.
    #[schemars(extend("unlisted" = true))]
    file_path: Option<String>,
    #[schemars(extend("unlisted" = true))]
    overwrite: Option<bool>,
    /// How to answer dialogs that open meanwhile: accept, dismiss, or a text for a prompt.
    #[schemars(extend("unlisted" = true))]
    dialog_action: Option<String>,
    /// Whether to wait for the effects of the function. Default: true.
    #[schemars(extend("unlisted" = true))]
    wait_for_stable_dom: Option<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Format {
    Function,
    Script,
}

impl Tool for EvaluateScript {
    const NAME: &'static str = "evaluate_script";
    const DESCRIPTION: &'static str = "Run a JavaScript function in the page and get what it returns as JSON. Promises are awaited.";
    const ACCESS: Access = Access::Act;
    const CATEGORY: Category = Category::Debugging;

    fn check(&self) -> Result<(), String> {
        let many = |args: &Vec<String>| args.len() > MAX_ARGS;
        let wrong = match (&self.function, &self.source_path) {
            (None, None) => "give `function`, such as `() => document.title`",
            (Some(_), Some(_)) => "give `function` or `sourcePath`, not both",
            (Some(function), None) if function.trim().is_empty() => "`function` is empty",
            _ if self.frame_uid.is_some() && self.args.is_some() => {
                "`args` already determine the frame; omit `frameUid`"
            }
            _ if self.is_script() && (self.args.is_some() || self.frame_uid.is_some()) => {
                "a script takes no `args` and runs in the page itself; use format function"
            }
            _ if self.args.as_ref().is_some_and(many) => {
                return Err(format!("`args` has more than {MAX_ARGS} entries"));
            }
            _ => return Ok(()),
        };
        Err(wrong.into())
    }

    fn answers_dialogs(&self) -> bool {
        self.dialog_action.is_some()
    }

    async fn run(self, page: Page) -> ToolResult {
        let work = self.evaluate(&page);
        match &self.dialog_action {
            Some(action) => Dialogs::new(action).during(&page.tab, work).await,
            None => work.await,
        }
    }
}

impl EvaluateScript {
    /// A script whose dialogs are accepted.
    pub(super) fn of_script(script: String) -> Self {
        Self {
            function: Some(script),
            args: None,
            frame_uid: None,
            source_path: None,
            format: Some(Format::Script),
            file_path: None,
            overwrite: None,
            dialog_action: Some("accept".to_owned()),
            wait_for_stable_dom: None,
        }
    }

    async fn evaluate(&self, page: &Page) -> ToolResult {
        let place = match &self.frame_uid {
            Some(uid) => RunContext::inside(&page.tab, uid).await?,
            None => RunContext::find(&page.tab, self.args.as_deref().unwrap_or_default()).await?,
        };
        let source = self.source(page).await?;
        // Before any action: a file that cannot be written fails the call.
        let draft = match &self.file_path {
            Some(path) => {
                let to = Destination::new(Some(path), self.overwrite, "json");
                Some(page.files.create(to).await?)
            }
            None => None,
        };
        // Random, so that no page can return an object with this key.
        let boxed = format!("tabmux {:x}", RandomState::new().build_hasher().finish());
        let before = Before::look(&page.tab);
        page.acting();
        if self.is_script() && place.anchor.is_some() && !page.tab.guard().stops() {
            return Err(ToolError::Arguments(
                "A script is not allowed here: a policy about origins applies, and this tab is the user's own. Use \
                 format function."
                    .into(),
            ));
        }
        let result = match self.is_script() {
            true => place.evaluate(source).await?,
            false => place.call(&wrap(&source, &boxed)).await?,
        };
        let text = match draft {
            None => escaped_json(&place.write_out(result, &boxed, MAX_TEXT).await?).into_owned(),
            Some(mut draft) => {
                let text = place.write_out(result, &boxed, MAX_IN_FILE).await?;
                draft.write(text.into_bytes()).await?;
                let saved = draft.keep().await?;
                format!("The result is in {}.", saved.display())
            }
        };
        let wait = self.wait_for_stable_dom != Some(false);
        match wait && before.caused_something(&page.tab) {
            true => act::settle(&page.tab, &before, None, &text).await,
            false => Ok(ToolOutput::text(text)),
        }
    }

    fn is_script(&self) -> bool {
        self.format == Some(Format::Script)
    }

    async fn source(&self, page: &Page) -> Result<String, ToolError> {
        let Some(path) = &self.source_path else {
            return Ok(self.function.clone().unwrap_or_default());
        };
        let source = page.files.read(path, MAX_SOURCE).await?;
        String::from_utf8(source).map_err(|_| {
            ToolError::File(format!(
                "{} cannot be run: it is not text.",
                one_line(path, 300)
            ))
        })
    }
}

/// Where the function runs, and its arguments.
struct RunContext {
    session: Session,
    /// Elements of one frame. The function runs there; without any, in the main frame.
    arguments: Vec<RemoteObject>,
    /// An object of the frame to run in, if that is neither the main frame nor given by arguments.
    anchor: Option<RemoteObject>,
}

impl RunContext {
    /// The document inside an iframe.
    async fn inside(tab: &Tab, uid: &str) -> Result<Self, ToolError> {
        let element = Element::find(tab, uid).await?;
        let shown = act::shown_frame(&element.world, element.n).await?;
        let inner = shown.and_then(|id| tab.state().frames.find(&id).cloned());
        let Some(inner) = inner else {
            return Err(ToolError::NotActionable {
                why: format!(
                    "The element {uid} is not an iframe. Use the uid of the iframe itself."
                ),
            });
        };
        Self::at(&tab.world_of(&inner).await?).await
    }

    /// The page's own world, in the document of this isolated world and in no other.
    async fn at(world: &World) -> Result<Self, ToolError> {
        Ok(Self {
            session: world.session.clone(),
            arguments: Vec::new(),
            anchor: Some(world.document_in_page().await?),
        })
    }

    async fn find(tab: &Tab, uids: &[String]) -> Result<Self, ToolError> {
        let mut elements: Vec<Element> = Vec::new();
        for uid in uids {
            elements.push(Element::find(tab, uid).await?);
        }
        let Some(first) = elements.first() else {
            if bounds::here().is_some_and(|policy| !policy.is_open()) {
                // Bound to the current document, so that it cannot run in the next one.
                return Self::at(&tab.world().await?).await;
            }
            return Ok(Self {
                session: tab.session().clone(),
                arguments: Vec::new(),
                anchor: None,
            });
        };
        let document = first.world.document;
        if elements
            .iter()
            .any(|element| element.world.document != document)
        {
            return Err(ToolError::Arguments(
                "The elements in `args` are in different frames. Call the function once for each frame.".into(),
            ));
        }
        let session = first.world.session.clone();
        let mut arguments = Vec::new();
        for element in &elements {
            arguments.push(in_page_world(element).await?);
        }
        Ok(Self {
            session,
            arguments,
            anchor: None,
        })
    }

    async fn call(&self, function: &str) -> Result<runtime::RemoteObject, ToolError> {
        match self.anchor.as_ref().or_else(|| self.arguments.first()) {
            None => self.evaluate(format!("({function})()")).await,
            Some(first) => {
                let arguments = self.arguments.iter().map(|argument| runtime::CallArgument {
                    object_id: Some(argument.id.clone()),
                    ..Default::default()
                });
                let call = runtime::CallFunctionOn {
                    function_declaration: function.to_owned(),
                    object_id: Some(first.id.clone()),
                    arguments: Some(arguments.collect()),
                    await_promise: Some(true),
                    user_gesture: Some(true),
                    ..Default::default()
                };
                returned(script::call(&self.session, call).await?)
            }
        }
    }

    /// Runs an expression or a script in the main frame.
    async fn evaluate(&self, expression: String) -> Result<runtime::RemoteObject, ToolError> {
        let evaluate = runtime::Evaluate {
            expression,
            await_promise: Some(true),
            user_gesture: Some(true),
            ..Default::default()
        };
        returned(script::run(&self.session, evaluate).await?)
    }

    /// The result as JSON, bounded; or why that is impossible.
    async fn write_out(
        &self,
        result: runtime::RemoteObject,
        boxed: &str,
        most: usize,
    ) -> Result<String, ToolError> {
        let object = result
            .object_id
            .clone()
            .map(|id| RemoteObject::new(id, self.session.clone()));
        if let Some(what) = unwritable(&result) {
            return Err(ToolError::NotActionable { why: what });
        }
        let Some(object) = object else {
            return Ok(plain(&result, most));
        };
        let written = written::write_out(&self.session, &object, boxed, most).await?;
        Ok(bounded(written.text, written.length, most))
    }
}

fn returned((result, exception): script::Returned) -> Result<runtime::RemoteObject, ToolError> {
    match exception {
        Some(exception) => Err(ToolError::Script(script::describe(&exception))),
        None => Ok(result),
    }
}

/// The element, as an object of the page's own world.
async fn in_page_world(element: &Element) -> Result<RemoteObject, ToolError> {
    let object = element.world.object(element.n).await?;
    object.in_page_world().await
}

/// Accepts a function or an expression; does not `await`, because Chrome does. A long string is put into an object:
/// Chrome sends strings completely, but objects by reference.
fn wrap(function: &str, boxed: &str) -> String {
    let function = function.trim().trim_end_matches(';');
    format!(
        "function (...args) {{ const it = (\n{function}\n); \
         const box = (it) => typeof it === 'string' && it.length > {LONG_TEXT} ? {{ '{boxed}': it }} : it; \
         const result = typeof it === 'function' ? it.apply(undefined, args) : it; \
         return typeof result?.then === 'function' ? (async () => box(await result))() : box(result); }}"
    )
}

/// Why a result cannot be written as JSON, as a sentence.
fn unwritable(result: &runtime::RemoteObject) -> Option<String> {
    let kind = result.r#type.as_str();
    let subtype = result
        .subtype
        .as_ref()
        .map(|subtype| subtype.as_str())
        .unwrap_or_default();
    let class = result.class_name.as_deref().unwrap_or_default();
    let described = one_line(result.description.as_deref().unwrap_or_default(), 80);
    let (what, instead) = match (kind, subtype) {
        ("function", _) => ("a function".into(), "the result of calling it"),
        ("symbol", _) => ("a symbol".into(), "a string"),
        ("bigint", _) => (
            format!("the BigInt {described}"),
            "String(value) or Number(value)",
        ),
        (_, "node") => (
            format!("a DOM node ({described})"),
            "what you want to know of it, such as its textContent",
        ),
        (_, "map" | "set" | "weakmap" | "weakset" | "iterator" | "generator") => {
            (format!("a {class}"), "Array.from(value)")
        }
        (_, "regexp") => ("a RegExp".into(), "String(value)"),
        (_, "error") => (
            format!("an error ({described})"),
            "its message, or throw it",
        ),
        _ if class == "Window" || class == "global" => {
            ("the window".into(), "the properties you want to know")
        }
        _ => return None,
    };
    Some(format!(
        "The function returned {what}, which JSON cannot represent. Return {instead} instead."
    ))
}

/// A result that is not an object.
fn plain(result: &runtime::RemoteObject, most: usize) -> String {
    if let Some(value) = &result.value {
        return bounded(value.as_str().to_owned(), 0, most);
    }
    if result
        .subtype
        .as_ref()
        .is_some_and(|subtype| subtype.as_str() == "null")
    {
        return "null".into();
    }
    // `NaN`, `-0` and infinities have a name instead of JSON.
    let named = result
        .unserializable_value
        .as_ref()
        .map(|value| value.as_str().to_owned());
    named.unwrap_or_else(|| result.r#type.as_str().to_owned())
}

/// At most `most` characters of a text, whatever length the page claims.
fn bounded(mut text: String, claimed: usize, most: usize) -> String {
    let length = claimed.max(written::units(&text));
    if length <= most {
        return text;
    }
    let mut budget = most;
    let end = text.char_indices().find_map(|(at, character)| {
        let left = budget.checked_sub(character.len_utf16());
        budget = left.unwrap_or_default();
        left.is_none().then_some(at)
    });
    text.truncate(end.unwrap_or(text.len()));
    format!(
        "{text}\n… cut here: the result has {length} characters and only the first {most} are shown. Return \
         less, for example a part of it."
    )
}

const MAX_ARGS: usize = 20;
const MAX_TEXT: usize = 30_000;
/// Longer strings are not sent at once.
const LONG_TEXT: usize = 100_000;
const MAX_IN_FILE: usize = 20_000_000;
const MAX_SOURCE: u64 = 1_000_000;
