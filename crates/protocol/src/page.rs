//! The messages between a page's worker and the daemon on the websocket `/page`: one JSON object per frame, each
//! with a `type`. `docs/page-protocol.md` describes them.

#[cfg(feature = "bindings")]
mod bindings;

#[cfg(feature = "bindings")]
pub use bindings::typescript;
#[cfg(feature = "bindings")]
use bindings::{CallErrorCode, CallToolResult, HandlerType, ToolAnnotations, WorkerKind};

use serde::{Deserialize, Serialize, de::IgnoredAny};
use serde_json::{Map, Value};

/// The version of this protocol.
pub const PAGE_PROTOCOL: u32 = 1;

/// The longest frame that a worker may send. Results have at most 8 Mi characters, of up to three bytes.
pub const LONGEST_FRAME: usize = 25 * 1024 * 1024;

/// A message from a worker.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(rename = "ToDaemon"))]
#[serde(
    tag = "type",
    rename_all = "SCREAMING_SNAKE_CASE",
    rename_all_fields = "camelCase"
)]
pub enum FromPage {
    /// The first message.
    Hello {
        /// The protocol it speaks.
        version: u32,
        /// The version of the library. For people who read the messages.
        #[serde(default)]
        #[cfg_attr(feature = "bindings", ts(as = "String"))]
        library: IgnoredAny,
        /// The kind of the worker. For people who read the messages.
        #[serde(default)]
        #[cfg_attr(feature = "bindings", ts(as = "WorkerKind"))]
        worker: IgnoredAny,
    },
    /// Registers a tab, which has no tools yet.
    RegisterTab(PageTab),
    /// Updates a tab; its tools stay.
    UpdateTab(PageTab),
    /// Unregisters a tab and its tools.
    UnregisterTab {
        /// The tab.
        tab_id: String,
    },
    /// The user's active tab changed.
    SetActiveTab {
        /// The active tab; `None` if it is none of this worker's.
        tab_id: Option<String>,
        /// Since when, in milliseconds since 1970.
        at: f64,
    },
    /// Registers a tool of a tab.
    RegisterTool(PageTool),
    /// Unregisters a tool of a tab.
    UnregisterTool {
        /// The tab.
        tab_id: String,
        /// The tool.
        name: String,
    },
    /// The result of a call.
    ToolCallResult {
        /// The call.
        call_id: String,
        /// Whether the tool succeeded.
        success: bool,
        /// Its result: a `CallToolResult` of MCP.
        #[serde(default)]
        #[cfg_attr(feature = "bindings", ts(optional, as = "Option<CallToolResult>"))]
        result: Value,
        /// Why it failed.
        #[serde(default)]
        #[cfg_attr(feature = "bindings", ts(optional, as = "Option<String>"))]
        error: String,
        /// The kind of failure.
        #[serde(default)]
        #[cfg_attr(feature = "bindings", ts(optional, as = "Option<CallErrorCode>"))]
        code: String,
    },
    /// Asks for a `PONG`.
    Ping,
    /// Answers a `PING`.
    Pong,
}

/// A tab with the page library.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(rename = "TabRecord"))]
#[serde(rename_all = "camelCase")]
pub struct PageTab {
    /// The id that it gave itself.
    pub tab_id: String,
    /// The id of its document, a new one each time that the tab registers.
    pub document_id: String,
    /// Its address.
    pub url: String,
    /// Its title.
    pub title: String,
    /// The nonce that the daemon's script put into the document, if it did.
    #[serde(default)]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub nonce: Option<String>,
    /// Whether the document is visible. The daemon does not use it.
    #[serde(default)]
    #[cfg_attr(feature = "bindings", ts(as = "bool"))]
    pub visible: IgnoredAny,
    /// Whether the document has the keyboard. The daemon does not use it.
    #[serde(default)]
    #[cfg_attr(feature = "bindings", ts(as = "bool"))]
    pub focused: IgnoredAny,
    /// When the tab was last opened, focused or used, in milliseconds since 1970. The daemon does not use it.
    #[serde(default)]
    #[cfg_attr(feature = "bindings", ts(as = "f64"))]
    pub last_seen: IgnoredAny,
}

/// A tool that a tab offers.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(rename = "ToolRecord"))]
#[serde(rename_all = "camelCase")]
pub struct PageTool {
    /// The tab.
    pub tab_id: String,
    /// The name that the page gave it.
    pub name: String,
    /// The author's description.
    #[serde(default)]
    pub description: String,
    /// The author's schema of its arguments.
    #[serde(default)]
    #[cfg_attr(feature = "bindings", ts(type = "JsonObject"))]
    pub input_schema: Map<String, Value>,
    /// The author's hints about its effects.
    #[serde(default)]
    #[cfg_attr(feature = "bindings", ts(optional, as = "Option<ToolAnnotations>"))]
    pub annotations: Map<String, Value>,
    /// The author's schema of its structured results. The daemon does not use it.
    #[serde(default)]
    #[cfg_attr(
        feature = "bindings",
        ts(optional, as = "Option<bindings::JsonObject>")
    )]
    pub output_schema: IgnoredAny,
    /// Where the handler is. There is one kind only, and the daemon does not use it.
    #[serde(default)]
    #[cfg_attr(feature = "bindings", ts(as = "HandlerType"))]
    pub handler_type: IgnoredAny,
    /// Whether the page has registered the same tool with its `modelContext`. The daemon does not use it.
    #[serde(default)]
    #[cfg_attr(feature = "bindings", ts(as = "bool"))]
    pub web_mcp: IgnoredAny,
}

/// A message from the daemon to a worker.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(rename = "FromDaemon"))]
#[serde(
    tag = "type",
    rename_all = "SCREAMING_SNAKE_CASE",
    rename_all_fields = "camelCase"
)]
pub enum ToPage {
    /// The connection is accepted.
    Welcome {
        /// The protocol version in use.
        version: u32,
    },
    /// The connection is refused and will be closed.
    Refused {
        /// Why, for the page's developer.
        reason: String,
    },
    /// A tab is refused, or no longer accepted.
    TabRefused {
        /// The tab.
        tab_id: String,
        /// Whether it would be accepted with another id.
        another_id: bool,
        /// Why, for the page's developer.
        reason: String,
    },
    /// A tool is refused.
    ToolRejected {
        /// The tab.
        tab_id: String,
        /// The tool.
        name: String,
        /// Why, for the page's developer.
        reason: String,
    },
    /// Runs a tool once, in this tab.
    CallTool {
        /// The call's id.
        call_id: String,
        /// The tab.
        target_tab_id: String,
        /// The document that the tool came from.
        document_id: String,
        /// The tool, by the name that the page gave it.
        tool_name: String,
        /// Its arguments, checked.
        #[cfg_attr(feature = "bindings", ts(type = "JsonObject"))]
        args: Map<String, Value>,
    },
    /// Cancels a call.
    CancelCall {
        /// The call.
        call_id: String,
    },
    /// Asks for a `PONG`.
    Ping,
    /// Answers a `PING`.
    Pong,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every example of the document, by its type.
    fn examples() -> Vec<Value> {
        let document = include_str!("../../../docs/page-protocol.md");
        let blocks = document.split("```json\n").skip(1);
        let texts = blocks.filter_map(|block| block.split("```").next());
        texts
            .map(|text| serde_json::from_str(text).unwrap())
            .collect()
    }

    #[test]
    fn every_example_of_the_document_can_be_parsed() {
        let from_daemon = [
            "WELCOME",
            "REFUSED",
            "TAB_REFUSED",
            "TOOL_REJECTED",
            "CALL_TOOL",
            "CANCEL_CALL",
        ];
        let mut parsed = 0;
        for example in examples() {
            if from_daemon.contains(&example["type"].as_str().unwrap()) {
                continue;
            }
            serde_json::from_value::<FromPage>(example.clone())
                .unwrap_or_else(|error| panic!("{error}: {example}"));
            parsed += 1;
        }
        assert!(parsed >= 9, "{parsed}");
    }

    #[test]
    fn our_messages_have_the_keys_of_the_document() {
        let call = ToPage::CallTool {
            call_id: "17".into(),
            target_tab_id: "550e8400-e29b-41d4-a716-446655440000".into(),
            document_id: "6fa459ea-ee8a-4ca4-894e-db77e160355e".into(),
            tool_name: "get_user".into(),
            args: Map::from_iter([("id".to_owned(), Value::from("7"))]),
        };
        let messages = [
            serde_json::to_value(call).unwrap(),
            serde_json::to_value(ToPage::Welcome { version: 1 }).unwrap(),
            serde_json::to_value(ToPage::TabRefused {
                tab_id: "550e8400-e29b-41d4-a716-446655440000".into(),
                another_id: true,
                reason: "Another tab already has this id. Make a new one.".into(),
            })
            .unwrap(),
            serde_json::to_value(ToPage::CancelCall {
                call_id: "17".into(),
            })
            .unwrap(),
        ];
        let examples = examples();
        for message in messages {
            assert!(examples.contains(&message), "{message}");
        }
    }
}
