//! Calls that return their answers for inspection, and never wait forever.

use crate::{McpClient, PATIENCE};
use serde_json::Value;
use std::fmt;
use std::time::Duration;

/// The outcome of a call.
#[derive(Clone, Debug)]
pub enum Answer {
    /// The tool answered, with a result or with a sentence that says why not.
    Said {
        /// The tool.
        tool: String,
        /// Whether it failed.
        is_error: bool,
        /// Its text, and anything else it returned.
        text: String,
    },
    /// There was no answer.
    None {
        /// The tool.
        tool: String,
        /// What happened instead.
        why: String,
    },
}

impl Answer {
    /// What is wrong with it: a call must be answered, and an error must have a text.
    pub fn complaint(&self) -> Option<String> {
        match self {
            Self::Said {
                tool,
                text,
                is_error: true,
            } if text.trim().is_empty() => Some(format!("{tool} failed without a text")),
            Self::Said { .. } => None,
            Self::None { tool, why } => Some(format!("{tool} was not answered: {why}")),
        }
    }

    /// The same; [`Self::None`], which is a complaint, if the tool failed.
    pub(super) fn must_succeed(self) -> Self {
        match self {
            Self::Said {
                tool,
                is_error: true,
                text,
            } => Self::None {
                tool,
                why: format!("it failed: {text}"),
            },
            answer => answer,
        }
    }

    /// The tool's answer, if it succeeded.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Said {
                text,
                is_error: false,
                ..
            } => Some(text),
            _ => None,
        }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (tool, sign, text) = match self {
            Self::Said {
                tool,
                is_error: false,
                text,
            } => (tool, "=", text),
            Self::Said { tool, text, .. } => (tool, "!", text),
            Self::None { tool, why } => (tool, "?", why),
        };
        let short: String = text.chars().take(120).collect();
        write!(f, "{tool} {sign} {short:?}")
    }
}

/// Calls a tool, and waits for its answer almost as long as [`PATIENCE`].
pub(super) async fn ask(client: &McpClient, tool: &str, arguments: Value) -> Answer {
    // A little less: at [`PATIENCE`] the client itself panics, but the benchmark should continue.
    ask_within(client, tool, arguments, PATIENCE - Duration::from_secs(5)).await
}

pub(super) async fn ask_within(
    client: &McpClient,
    tool: &str,
    arguments: Value,
    limit: Duration,
) -> Answer {
    let asked = async {
        let pending = client.begin_call(tool, arguments).await;
        pending.answer_unless_ended().await
    };
    let (is_error, text) = match tokio::time::timeout(limit, asked).await {
        Ok(Some(Ok(result))) => (
            result["isError"].as_bool().unwrap_or(false),
            text_of(&result),
        ),
        Ok(Some(Err(error))) => (true, error.message),
        Ok(None) => return nothing(tool, "the client's own server has ended".to_owned()),
        Err(_) => return nothing(tool, format!("no answer within {limit:?}")),
    };
    Answer::Said {
        tool: tool.to_owned(),
        is_error,
        text,
    }
}

fn nothing(tool: &str, why: String) -> Answer {
    Answer::None {
        tool: tool.to_owned(),
        why,
    }
}

fn text_of(result: &Value) -> String {
    let blocks = result["content"].as_array().into_iter().flatten();
    let texts = blocks.map(|block| match block["text"].as_str() {
        Some(text) => text.to_owned(),
        None => block["type"].to_string(),
    });
    texts.collect::<Vec<_>>().join("\n")
}
