//! `run_steps`: several calls in one. The daemon makes the calls, one at a time and like any other; what it needs to
//! know of the page before, between and after them are the stages of this tool.

use super::{Access, Category, Tool, ToolOutput, ToolResult, changes};
use crate::error::ToolError;
use crate::run::{Page, dialog_opens};
use crate::tab::Tab;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Runs several steps.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct RunSteps {
    /// Each {tool, arguments, navigates?}.
    #[serde(rename = "steps")]
    #[schemars(with = "Vec<Anything>")]
    _steps: Vec<Value>,
    /// Arguments use {{item.x}}.
    #[serde(rename = "forEach")]
    #[schemars(with = "Option<Vec<Anything>>")]
    _for_each: Option<Vec<Value>>,
    /// How often to run them; at most, with `until`.
    #[schemars(extend("unlisted" = true))]
    #[serde(rename = "repeat")]
    _repeat: Option<u32>,
    /// Ends the repetition: text, textGone, url or function as for wait_for.
    #[schemars(extend("unlisted" = true))]
    #[serde(rename = "until")]
    _until: Option<serde_json::Map<String, Value>>,
    #[schemars(skip)]
    stage: Option<Ask>,
}

/// An object, in the schema.
struct Anything;

impl JsonSchema for Anything {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Anything".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "object"})
    }
}

/// What the daemon asks for.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Ask {
    /// Before the first step: whether all these uids are known. With `changes`, the page is remembered for the end.
    Begin { uids: Vec<String>, changes: bool },
    /// After a step: which document the tab shows.
    Look {},
    /// After the last step, if that is wanted: what changed since this document was shown.
    End { document: String, changes: bool },
}

/// The state of the tab between two steps.
#[derive(Debug, Serialize)]
struct TabBetweenSteps {
    document: String,
    url: String,
    dialog: Option<String>,
    /// Uids that are not on the page.
    missing: Vec<String>,
}

impl Tool for RunSteps {
    const NAME: &'static str = "run_steps";
    const DESCRIPTION: &'static str =
        "Run several tools in one call; stops at a failure, dialog or unexpected navigation.";
    const ACCESS: Access = Access::Act;
    const CATEGORY: Category = Category::Input;

    fn answers_dialogs(&self) -> bool {
        matches!(self.stage, Some(Ask::Begin { .. } | Ask::Look {}))
    }

    async fn run(self, page: Page) -> ToolResult {
        let text = match self.stage {
            Some(Ask::Begin { uids, changes }) => begin(&page, uids, changes).await?.text(),
            Some(Ask::Look {}) => TabBetweenSteps::now(&page.tab).text(),
            Some(Ask::End { document, changes }) if changes => changed(&page, &document).await,
            Some(Ask::End { .. }) => String::new(),
            None => {
                return Err(ToolError::Arguments(
                    "run_steps works in sessions of the daemon only.".into(),
                ));
            }
        };
        Ok(ToolOutput::text(text))
    }
}

impl TabBetweenSteps {
    fn now(tab: &Tab) -> Self {
        let state = tab.state();
        let main = state.frames.main();
        Self {
            document: main
                .map(|main| format!("{:?}", main.loader))
                .unwrap_or_default(),
            url: main.map(|main| main.url.clone()).unwrap_or_default(),
            dialog: state.dialog.as_ref().map(crate::error::dialog_open),
            missing: Vec::new(),
        }
    }

    fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// While a dialog is open, the page does not respond: then the uids are checked when their steps come.
async fn begin(
    page: &Page,
    uids: Vec<String>,
    changes: bool,
) -> Result<TabBetweenSteps, ToolError> {
    tokio::select! {
        biased;
        dialog = dialog_opens(&page.tab) => dialog.map(|_| TabBetweenSteps::now(&page.tab)),
        begun = checked(page, uids, changes) => begun,
    }
}

async fn checked(
    page: &Page,
    uids: Vec<String>,
    changes: bool,
) -> Result<TabBetweenSteps, ToolError> {
    let mut missing = Vec::new();
    for uid in uids {
        if !is_known(&page.tab, &uid).await {
            missing.push(uid);
        }
    }
    if let Some(viewer) = page.viewer().filter(|_| changes) {
        changes::begin(&page.tab, viewer).await;
    }
    Ok(TabBetweenSteps {
        missing,
        ..TabBetweenSteps::now(&page.tab)
    })
}

async fn is_known(tab: &Tab, uid: &str) -> bool {
    let Ok((world, n)) = tab.element(uid).await else {
        return false;
    };
    let known = "((n) => tabmux.element(n) !== null)";
    world.call(known, json!(n)).await.unwrap_or(false)
}

async fn changed(page: &Page, document: &str) -> String {
    let Some(viewer) = page.viewer() else {
        return String::new();
    };
    let stayed = TabBetweenSteps::now(&page.tab).document == document;
    let told = changes::since_begin(&page.tab, viewer, stayed).await;
    told.unwrap_or_default()
}
