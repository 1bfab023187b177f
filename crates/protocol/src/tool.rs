//! One entry of a tool list.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::Arc;

/// One entry of a session's tool list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolInfo {
    /// The name by which clients call it.
    pub name: String,
    /// When to use it, in one or two plain sentences.
    pub description: String,
    /// The JSON schema of its arguments: always an object schema.
    pub input_schema: Arc<Map<String, Value>>,
    /// The JSON schema of its structured answers, if the client gets them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Arc<Map<String, Value>>>,
    /// Hints about the tool's effects. `None` publishes no annotations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hints: Option<ToolHints>,
}

/// Hints about a tool's effects, as in MCP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolHints {
    /// The tool changes nothing.
    pub read_only: bool,
    /// Whether its effects may be hard to undo. `None`: unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destructive: Option<bool>,
}

impl ToolHints {
    /// A tool that changes nothing.
    pub const READS: Self = Self {
        read_only: true,
        destructive: None,
    };
}

/// Whether the specification fixes the text of this tool's answers, so that nothing may be added to them.
pub fn has_fixed_text(tool: &str) -> bool {
    tool == "list_browsers"
}
