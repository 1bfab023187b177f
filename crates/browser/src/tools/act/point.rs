//! Points of the viewport that an agent names itself.

use crate::error::ToolError;
use crate::tab::Tab;
use serde::Deserialize;
use serde_json::json;
use tabmux_text::one_line;

/// What is at a point of the viewport, in words. A point outside of it is an error.
pub(in crate::tools) async fn at(tab: &Tab, (x, y): (f64, f64)) -> Result<String, ToolError> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Found {
        width: f64,
        height: f64,
        hit: Option<String>,
    }
    let point = json!({ "x": x, "y": y });
    let found: Found = tab.world().await?.call("tabmux.at", point).await?;
    let inside = (0.0..found.width).contains(&x) && (0.0..found.height).contains(&y);
    if !inside {
        return Err(ToolError::Arguments(format!(
            "The point {x},{y} is outside the viewport of {}x{}. Scroll first, or use another point.",
            found.width, found.height
        )));
    }
    let hit = found.hit.as_deref().unwrap_or("nothing");
    Ok(one_line(hit, 200))
}
