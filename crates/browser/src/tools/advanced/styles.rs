//! Computed styles of an element.

use crate::error::ToolError;
use crate::run::Page;
use crate::tools::act::Element;
use crate::tools::{Access, Category, Tool, ToolOutput, ToolResult};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tabmux_text::one_line;

/// Reads computed styles.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::tools) struct GetCssStyles {
    /// The element, from take_snapshot or find.
    uid: String,
    /// Such as color or --accent. Default: the most important ones.
    properties: Option<Vec<String>>,
}

impl Tool for GetCssStyles {
    const NAME: &'static str = "get_css_styles";
    const DESCRIPTION: &'static str = "Read the computed CSS values of an element.";
    const ACCESS: Access = Access::Read;
    const CATEGORY: Category = Category::Advanced;
    const OPT_IN: bool = true;
    const PROGRESSIVE: bool = false;

    fn check(&self) -> Result<(), String> {
        let Some(properties) = &self.properties else {
            return Ok(());
        };
        if !(1..=MAX_PROPERTIES).contains(&properties.len()) {
            return Err(format!(
                "`properties` must have 1 to {MAX_PROPERTIES} names"
            ));
        }
        match properties.iter().all(|name| is_name(name)) {
            true => Ok(()),
            false => Err("`properties` has names such as color, margin-top or --accent".into()),
        }
    }

    async fn run(self, page: Page) -> ToolResult {
        let element = Element::find(&page.tab, &self.uid).await?;
        let asked: Vec<_> = match &self.properties {
            Some(names) => names.iter().map(String::as_str).collect(),
            None => USUAL.to_vec(),
        };
        let ask = json!({ "n": element.n, "names": asked });
        let values: Option<Vec<String>> = element.call(READ, ask).await?;
        let values = values.ok_or(ToolError::ElementGone { uid: self.uid })?;
        let lines = asked
            .iter()
            .zip(&values)
            .map(|(name, value)| match value.as_str() {
                "" => format!("{name}: (none)"),
                value => format!("{name}: {}", one_line(value, MAX_VALUE)),
            });
        Ok(ToolOutput::text(lines.collect::<Vec<_>>().join("\n")))
    }
}

fn is_name(name: &str) -> bool {
    let known = |character: char| character.is_alphanumeric() || matches!(character, '-' | '_');
    (1..=100).contains(&name.len()) && name.chars().all(known)
}

const READ: &str = "(({ n, names }) => { const element = tabmux.element(n); if (!element) return null; \
     const style = getComputedStyle(element); return names.map((name) => \
     style.getPropertyValue(name).trim().slice(0, 1000)) })";
const MAX_PROPERTIES: usize = 50;
const MAX_VALUE: usize = 300;
const USUAL: [&str; 40] = [
    "display",
    "visibility",
    "opacity",
    "position",
    "z-index",
    "top",
    "right",
    "bottom",
    "left",
    "width",
    "height",
    "box-sizing",
    "margin",
    "padding",
    "border",
    "border-radius",
    "outline",
    "overflow",
    "flex",
    "flex-direction",
    "justify-content",
    "align-items",
    "gap",
    "grid-template-columns",
    "color",
    "background-color",
    "background-image",
    "box-shadow",
    "font-family",
    "font-size",
    "font-weight",
    "line-height",
    "text-align",
    "text-decoration",
    "text-transform",
    "white-space",
    "cursor",
    "pointer-events",
    "transform",
    "transition",
];
