//! Scripts that run in every new document of a tab.

use super::origin;
use crate::bounds;
use crate::error::ToolError;
use crate::run::Page;
use crate::script;
use crate::tab::Tab;
use crate::tools::{Access, Category, Tool, ToolOutput, ToolResult};
use schemars::JsonSchema;
use serde::Deserialize;
use std::time::Duration;
use tabmux_cdp::types::runtime::CompileScript;

/// Adds a script.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::tools) struct AddInitScript {
    /// JavaScript to run before the scripts of every page and frame; empty removes all such scripts.
    script: String,
}

impl Tool for AddInitScript {
    const NAME: &'static str = "add_init_script";
    const DESCRIPTION: &'static str =
        "Run a script in every document that this tab loads, until the tab is released.";
    const ACCESS: Access = Access::Act;
    const CATEGORY: Category = Category::Advanced;
    const OPT_IN: bool = true;
    const PROGRESSIVE: bool = false;
    const NEEDS_PAGE: bool = false;

    fn check(&self) -> Result<(), String> {
        match self.script.len() > MAX_SCRIPT {
            true => Err(format!("`script` is longer than {MAX_SCRIPT} bytes")),
            false => Ok(()),
        }
    }

    async fn run(self, page: Page) -> ToolResult {
        let tab = &page.tab;
        let scripts = tab.added_scripts();
        if self.script.trim().is_empty() {
            scripts.clear();
            return Ok(ToolOutput::text(
                "Removed all scripts of add_init_script from this tab.",
            ));
        }
        let is_bounded = bounds::here().is_some_and(|policy| !policy.is_open());
        let (source, place) = match is_bounded {
            true => {
                let origin = origin(tab, None)?;
                let source = only_on(&origin, &self.script);
                // By itself, too: a brace in it must not end the condition.
                for code in [&self.script, &source] {
                    check_syntax(tab, code).await?;
                }
                (source, format!("document of {origin}"))
            }
            false => (self.script, "document".to_owned()),
        };
        let Some(count) = scripts.add(tab.sessions(), source).await? else {
            return Err(ToolError::Arguments(
                "This tab has 20 such scripts already. Remove them with an empty `script`.".into(),
            ));
        };
        Ok(ToolOutput::text(format!(
            "The script runs in every new {place}; {count} in this tab. Reload the page to run it there."
        )))
    }
}

/// Fails if it is not a whole script. Nothing of it runs.
async fn check_syntax(tab: &Tab, code: &str) -> Result<(), ToolError> {
    let compile = CompileScript {
        expression: code.to_owned(),
        ..Default::default()
    };
    let compiled = tab.session().send_within(compile, COMPILE_LIMIT);
    let compiled = script::in_page(compiled).await;
    let compiled = compiled.map_err(script::document_gone_or)?;
    match compiled.exception_details {
        Some(wrong) => Err(ToolError::Arguments(format!(
            "`script` cannot be parsed: {}. Under a policy about sites it must be a whole script.",
            script::describe(&wrong)
        ))),
        None => Ok(()),
    }
}

/// Under a policy about sites, a script must not see documents of other ones, such as those of frames.
fn only_on(origin: &str, script: &str) -> String {
    format!("if (location.origin === {origin:?}) {{\n{script}\n}}")
}

const MAX_SCRIPT: usize = 100_000;
const COMPILE_LIMIT: Duration = Duration::from_secs(10);
