//! Converts our types to MCP's and back.

use crate::resources;
use rmcp::{
    ErrorData,
    model::{
        CallToolResult, ContentBlock, ErrorCode, JsonObject, ListToolsResult, Tool, ToolAnnotations,
    },
};
use serde_json::value::{RawValue, to_raw_value};
use tabmux_protocol::{CallFailure, CallReply, Content, ToolInfo};

pub(crate) fn tool_list(tools: Vec<ToolInfo>) -> ListToolsResult {
    ListToolsResult::with_all_items(tools.into_iter().map(tool).collect())
}

pub(crate) fn arguments(arguments: Option<JsonObject>) -> Result<Box<RawValue>, ErrorData> {
    to_raw_value(&arguments.unwrap_or_default())
        .map_err(|error| ErrorData::invalid_params(format!("Unusable arguments: {error}"), None))
}

pub(crate) fn tool_result(reply: CallReply) -> CallToolResult {
    let mut result = CallToolResult::default();
    result.content = reply.content.into_iter().map(content_block).collect();
    result.is_error = reply.is_error.then_some(true);
    // rmcp needs a parsed value. JSON that is nested too deeply is in the text only.
    result.structured_content = reply
        .structured
        .and_then(|raw| serde_json::from_str(raw.get()).ok());
    result
}

pub(crate) fn failure(failure: CallFailure) -> ErrorData {
    match failure {
        CallFailure::UnknownTool { name } => {
            ErrorData::invalid_params(format!("Unknown tool: {name}"), None)
        }
        CallFailure::UnknownResource { uri } => resources::not_found(&uri),
        CallFailure::Cancelled => cancelled(),
        CallFailure::Unavailable { why } => ErrorData::internal_error(why, None),
        CallFailure::Closed => ErrorData::internal_error(
            "The part of tabmux that runs the calls has stopped; restart the MCP server",
            None,
        ),
    }
}

pub(crate) fn cancelled() -> ErrorData {
    ErrorData::internal_error("The call was cancelled", None)
}

pub(crate) fn too_busy() -> ErrorData {
    ErrorData::internal_error(
        "Too many requests are open: wait for answers, or cancel some",
        None,
    )
}

pub(crate) fn session_over() -> ErrorData {
    ErrorData::internal_error("The call was cancelled because the session has ended", None)
}

pub(crate) fn unreadable_request(method: &str) -> ErrorData {
    if METHODS_WITH_PARAMS.contains(&method) {
        let message = format!("Invalid params for {method}");
        return ErrorData::invalid_params(message, None);
    }
    let message = format!("Method not found: {method}");
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None)
}

fn tool(info: ToolInfo) -> Tool {
    let mut tool = Tool::new(info.name, info.description, info.input_schema);
    tool.output_schema = info.output_schema;
    match info.hints {
        None => tool,
        Some(hints) => {
            let annotations = ToolAnnotations::new().read_only(hints.read_only);
            tool.with_annotations(match hints.destructive {
                Some(destructive) => annotations.destructive(destructive),
                None => annotations,
            })
        }
    }
}

fn content_block(content: Content) -> ContentBlock {
    match content {
        Content::Text { text } => ContentBlock::text(text),
        Content::Image { data, mime_type } => ContentBlock::image(data, mime_type),
        Content::ResourceLink(link) => ContentBlock::resource_link(resources::resource(link)),
        Content::Resource(body) => ContentBlock::resource(resources::body(body)),
    }
}

const METHODS_WITH_PARAMS: [&str; 9] = [
    "initialize",
    "resources/list",
    "resources/read",
    "resources/subscribe",
    "resources/templates/list",
    "resources/unsubscribe",
    "subscriptions/listen",
    "tools/call",
    "tools/list",
];

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{json, to_value};
    use tabmux_protocol::ToolHints;

    #[test]
    fn replies_become_results() {
        let structured = to_raw_value(&json!({"a": [1]})).unwrap();
        for (reply, expected) in [
            (
                CallReply::text("hi"),
                json!({"resultType": "complete", "content": [{"type": "text", "text": "hi"}]}),
            ),
            (
                CallReply::error("no"),
                json!({
                    "resultType": "complete",
                    "content": [{"type": "text", "text": "no"}],
                    "isError": true,
                }),
            ),
            (
                CallReply {
                    content: vec![Content::Image {
                        data: "AAAA".into(),
                        mime_type: "image/png".into(),
                    }],
                    structured: Some(structured),
                    is_error: false,
                    question: None,
                },
                json!({
                    "resultType": "complete",
                    "content": [{"type": "image", "data": "AAAA", "mimeType": "image/png"}],
                    "structuredContent": {"a": [1]},
                }),
            ),
        ] {
            assert_eq!(to_value(tool_result(reply)).unwrap(), expected);
        }
    }

    #[test]
    fn tools_are_published_as_they_are() {
        let schema = json!({"type": "object", "properties": {"url": {"type": "string"}}});
        let info = |hints| ToolInfo {
            name: "visit".into(),
            description: "Visit.".into(),
            input_schema: schema.as_object().unwrap().clone().into(),
            output_schema: None,
            hints,
        };
        let bare = json!({"name": "visit", "description": "Visit.", "inputSchema": schema});
        assert_eq!(to_value(tool(info(None))).unwrap(), bare);
        let hinted = tool(info(Some(ToolHints::READS)));
        assert_eq!(
            to_value(hinted).unwrap()["annotations"],
            json!({"readOnlyHint": true})
        );
        let consequential = ToolHints {
            read_only: false,
            destructive: Some(true),
        };
        assert_eq!(
            to_value(tool(info(Some(consequential)))).unwrap()["annotations"],
            json!({"readOnlyHint": false, "destructiveHint": true})
        );
    }

    #[test]
    fn failures_have_the_codes_that_mcp_gives_them() {
        let unknown = failure(CallFailure::UnknownTool { name: "x".into() });
        assert_eq!(unknown.code, ErrorCode::INVALID_PARAMS);
        assert_eq!(failure(CallFailure::Closed).code, ErrorCode::INTERNAL_ERROR);
        assert_eq!(
            unreadable_request("tools/call").code,
            ErrorCode::INVALID_PARAMS
        );
        assert_eq!(
            unreadable_request("foo/bar").code,
            ErrorCode::METHOD_NOT_FOUND
        );
    }
}
