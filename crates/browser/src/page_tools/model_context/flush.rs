//! Makes documents report pending changes of their tools now.

use super::unguessable;
use crate::error::ToolError;
use crate::script;
use crate::world::World;
use serde_json::json;
use std::sync::LazyLock;

/// Flushes the document of a world and the frames of its origin inside it. Their reports have arrived when this
/// returns. Returns whether the browser has its own WebMCP there.
pub(crate) async fn flush(world: &World) -> Result<bool, ToolError> {
    let [ask, answer] = EVENTS.each_ref().map(|name| json!(name));
    let expression = format!("({SCRIPT})({ask}, {answer})");
    script::evaluate(&world.session, world.context, &expression).await
}

/// The names of the events for the request and its answer. Pages cannot guess them.
pub(super) static EVENTS: LazyLock<[String; 2]> = LazyLock::new(|| [unguessable(), unguessable()]);

const SCRIPT: &str = include_str!("../../../js/model_context/flush.js");
