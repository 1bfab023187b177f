//! Parsed responses of a server.

use serde_json::Value;
use std::fmt;

/// A JSON-RPC error.
#[derive(Clone, Debug, PartialEq)]
pub struct RpcError {
    /// Its code.
    pub code: i64,
    /// Its message.
    pub message: String,
    /// Its data, null if there is none.
    pub data: Value,
}

impl RpcError {
    pub(super) fn from_json(error: &Value) -> Self {
        Self {
            code: error["code"]
                .as_i64()
                .expect("an error has a whole-numbered code"),
            message: error["message"]
                .as_str()
                .expect("an error has a message")
                .to_owned(),
            data: error["data"].clone(),
        }
    }
}

impl fmt::Display for RpcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.code, self.message)
    }
}

/// The result of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolReply {
    /// The raw result.
    pub raw: Value,
}

impl ToolReply {
    /// Wraps a tool's result.
    pub fn new(raw: Value) -> Self {
        Self { raw }
    }

    /// Whether the tool failed.
    pub fn is_error(&self) -> bool {
        self.raw["isError"].as_bool().unwrap_or(false)
    }

    /// The text blocks, joined by newlines.
    pub fn text(&self) -> String {
        let blocks = self.content().iter();
        let texts: Vec<&str> = blocks.filter_map(|block| block["text"].as_str()).collect();
        texts.join("\n")
    }

    /// The first text parsed as JSON; fails the test if it is not JSON. Notes may follow it.
    pub fn json(&self) -> Value {
        let mut texts = self
            .content()
            .iter()
            .filter_map(|block| block["text"].as_str());
        match serde_json::from_str(texts.next().unwrap_or_default()) {
            Ok(value) => value,
            Err(error) => panic!("the text is no JSON ({error}): {}", self.text()),
        }
    }

    /// The structured content, null if there is none.
    pub fn structured(&self) -> &Value {
        &self.raw["structuredContent"]
    }

    /// Every block of the result.
    pub fn content(&self) -> &[Value] {
        self.raw["content"].as_array().map_or(&[], Vec::as_slice)
    }

    /// The same; fails the test if the tool failed.
    pub fn ok(self) -> Self {
        assert!(!self.is_error(), "the tool failed: {}", self.text());
        self
    }

    /// The error text of a failed call; fails the test if the tool succeeded.
    pub fn expect_error(self) -> String {
        assert!(self.is_error(), "the tool did not fail: {}", self.raw);
        self.text()
    }
}
