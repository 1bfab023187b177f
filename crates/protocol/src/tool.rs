//! What a client is told about a tool.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::Arc;

/// One entry of a session's tool list, ready to be published.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolInfo {
    /// The name the client calls.
    pub name: String,
    /// When to use it, in one or two plain sentences.
    pub description: String,
    /// The JSON schema of its arguments: always an object schema.
    pub input_schema: Arc<Map<String, Value>>,
    /// What the tool promises about its effects. `None` publishes no annotations at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hints: Option<ToolHints>,
}

/// What a tool promises about its effects, in MCP's terms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolHints {
    /// The tool changes nothing.
    pub read_only: bool,
    /// What the tool does may be hard to undo. `None` says nothing about it.
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
