//! A minimal MCP server: one tool that returns its arguments.
//!
//! `cargo run -p tabmux-mcp --example parrot`, then send JSON-RPC to it, or start it from a client.

use serde_json::{Map, json};
use std::future::pending;
use tabmux_protocol::{
    Backend, BackendEvent, CallFailure, CallReply, CallRequest, RequestId, ToolInfo,
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), tabmux_mcp::ServeError> {
    tabmux_mcp::serve_stdio(Parrot).await
}

struct Parrot;

impl Backend for Parrot {
    async fn tools(&self) -> Result<Vec<ToolInfo>, CallFailure> {
        Ok(vec![ToolInfo {
            name: "repeat".to_owned(),
            description: "Repeats its arguments.".to_owned(),
            input_schema: Map::from_iter([("type".to_owned(), json!("object"))]).into(),
            output_schema: None,
            hints: None,
        }])
    }

    async fn call(&self, request: CallRequest) -> Result<CallReply, CallFailure> {
        match request.tool.as_str() {
            "repeat" => Ok(CallReply::text(request.arguments.get())),
            _ => Err(CallFailure::UnknownTool { name: request.tool }),
        }
    }

    fn cancel(&self, _request: &RequestId) {}

    async fn next_event(&self) -> Option<BackendEvent> {
        pending().await
    }
}
