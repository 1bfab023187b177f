//! Calls whose answers are looked at and never waited for for ever.

use crate::{McpClient, PATIENCE};
use serde_json::Value;
use std::fmt;
use std::time::Duration;

/// What came of a call.
#[derive(Clone, Debug)]
pub enum Answer {
    /// The tool answered, with a result or with a sentence that says why not.
    Said {
        /// The tool.
        tool: String,
        /// Whether it says that it failed.
        is_error: bool,
        /// Its text, and whatever else it answered.
        text: String,
    },
    /// Nobody answered.
    None {
        /// The tool.
        tool: String,
        /// What happened instead.
        why: String,
    },
}

impl Answer {
    /// What is wrong with it: a call has to be answered, and a refusal has to say something.
    pub fn complaint(&self) -> Option<String> {
        match self {
            Self::Said {
                tool,
                text,
                is_error: true,
            } if text.trim().is_empty() => Some(format!("{tool} was refused without a word")),
            Self::Said { .. } => None,
            Self::None { tool, why } => Some(format!("{tool} was not answered: {why}")),
        }
    }

    /// The same; none, and so something to complain of, if the tool says that it failed.
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

    /// What the tool answered, if it did well.
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

/// Calls a tool, and waits for its answer as long as tests wait for anything.
pub(super) async fn ask(client: &McpClient, tool: &str, arguments: Value) -> Answer {
    // A little less: the client itself panics then, and the bench wants to go on.
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
        Err(_) => return nothing(tool, format!("nothing came within {limit:?}")),
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
