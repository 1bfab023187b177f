//! The three tools of `--slim`, with the names and arguments of chrome-devtools-mcp.
//!
//! A slim session has no tool for dialogs, so they are accepted.

use super::navigate::NavigatePage;
use super::screenshot::TakeScreenshot;
use super::script::{Dialogs, EvaluateScript};
use super::{Access, Category, Tool, ToolOutput, ToolResult};
use crate::bounds;
use crate::run::Page;
use schemars::JsonSchema;
use serde::Deserialize;
use std::time::Duration;

/// Takes a screenshot of the visible part.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Screenshot {}

/// Navigates to a URL.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Navigate {
    /// Where to go.
    url: String,
}

/// Runs a script.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Evaluate {
    /// An expression or a script, such as `document.title`.
    script: String,
}

impl Tool for Screenshot {
    const NAME: &'static str = "screenshot";
    const DESCRIPTION: &'static str =
        "Take a screenshot of the page; returns the path of its file.";
    const ACCESS: Access = Access::Act;
    const CATEGORY: Category = Category::Debugging;
    const DURING_DIALOG: bool = true;

    async fn run(self, page: Page) -> ToolResult {
        let picture = TakeScreenshot::default();
        let dialogs = Dialogs::accepted();
        dialogs.answer_open(&page.tab).await?;
        let place = dialogs.during(&page.tab, picture.save(&page)).await?;
        Ok(ToolOutput::text(place.display().to_string()))
    }
}

impl Tool for Navigate {
    const NAME: &'static str = "navigate";
    const DESCRIPTION: &'static str = "Go to a URL. Returns when the page is loaded.";
    const ACCESS: Access = Access::Act;
    const CATEGORY: Category = Category::Navigation;
    const DURING_DIALOG: bool = true;
    const NEEDS_PAGE: bool = false;
    const LEAVES: bool = true;

    fn timeout(&self) -> Option<Duration> {
        Some(LOAD_LIMIT)
    }

    async fn run(self, page: Page) -> ToolResult {
        let tab = &page.tab;
        bounds::may_open(tab.policy().parse(&self.url)?.as_str())?;
        let dialogs = Dialogs::accepted();
        dialogs.answer_open(tab).await?;
        let go = NavigatePage::to(self.url);
        dialogs.during(tab, go.arrive(tab, LOAD_LIMIT)).await?;
        let state = tab.state();
        let url = state.frames.main().map(|main| main.url.clone());
        Ok(ToolOutput::text(format!(
            "Navigated to {}.",
            url.unwrap_or_default()
        )))
    }
}

impl Tool for Evaluate {
    const NAME: &'static str = "evaluate";
    const DESCRIPTION: &'static str =
        "Run JavaScript in the page and get its value as JSON. Promises are awaited.";
    const ACCESS: Access = Access::Act;
    const CATEGORY: Category = Category::Debugging;
    const DURING_DIALOG: bool = true;

    async fn run(self, page: Page) -> ToolResult {
        Dialogs::accepted().answer_open(&page.tab).await?;
        EvaluateScript::of_script(self.script).run(page).await
    }
}

/// How long a page may take to load.
const LOAD_LIMIT: Duration = Duration::from_secs(30);
