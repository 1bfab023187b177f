//! What an agent can use instead of an element that is gone: those that look like it, so that its next call can succeed
//! without a snapshot.

use crate::error::ToolError;
use crate::tab::Tab;
use serde::Deserialize;
use serde_json::json;
use std::time::Duration;
use tokio::time::timeout;

/// The error, with the elements of the same role and name if it says that an element is gone.
pub(crate) async fn named_in(tab: &Tab, error: ToolError) -> ToolError {
    let ToolError::ElementGone { uid } = &error else {
        return error;
    };
    match timeout(LIMIT, candidates(tab, uid)).await {
        Ok(Some(lines)) if !lines.is_empty() => ToolError::NotActionable {
            why: format!(
                "The element {uid} is no longer on the page. These have the same role and name; use one of their \
                 uids:\n{}",
                lines.join("\n")
            ),
        },
        _ => error,
    }
}

async fn candidates(tab: &Tab, uid: &str) -> Option<Vec<String>> {
    #[derive(Deserialize)]
    struct Found {
        lines: Vec<String>,
    }
    let (world, n) = tab.element(uid).await.ok()?;
    let found: Found = world
        .call("tabmux.candidates", json!({ "n": n }))
        .await
        .ok()?;
    Some(found.lines)
}

/// The limit for pages whose scripts block them.
const LIMIT: Duration = Duration::from_secs(1);
