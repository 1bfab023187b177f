//! What the suite asks for by name, and what it wants to hear: the names and values are the suite's.

use rmcp::model::{
    CallToolResult, GetPromptResult, Prompt, ReadResourceResult, Resource, ResourceTemplate, Tool,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::sync::OnceLock;

/// The lists, and the answers that are always the same.
fn all() -> &'static Value {
    static ALL: OnceLock<Value> = OnceLock::new();
    ALL.get_or_init(|| serde_json::from_str(include_str!("answers.json")).unwrap_or_default())
}

fn list<T: DeserializeOwned>(name: &str) -> Vec<T> {
    serde_json::from_value(all()[name].clone()).unwrap_or_default()
}

pub(crate) fn tools() -> Vec<Tool> {
    let mut tools = all()["tools"].as_array().cloned().unwrap_or_default();
    let described = tools.clone();
    for (name, kind) in [("results", "Answers."), ("rounds", "Asks, then answers.")] {
        let named = all()[name].as_object().into_iter().flatten();
        let is_described = |name: &str| described.iter().any(|tool| tool["name"] == name);
        let named = named.filter(|(name, _)| !name.ends_with("_prompt") && !is_described(name));
        let schema = json!({"type": "object"});
        tools
            .extend(named.map(
                |(name, _)| json!({"name": name, "description": kind, "inputSchema": schema}),
            ));
    }
    serde_json::from_value(tools.into()).unwrap_or_default()
}

pub(crate) fn resources() -> Vec<Resource> {
    list("resources")
}

pub(crate) fn templates() -> Vec<ResourceTemplate> {
    list("templates")
}

pub(crate) fn prompts() -> Vec<Prompt> {
    list("prompts")
}

/// The answer of a tool that always answers the same.
pub(crate) fn result(tool: &str) -> Option<CallToolResult> {
    complete(all()["results"].get(tool)?.clone())
}

/// What a resource has in it.
pub(crate) fn contents(uri: &str) -> Option<ReadResourceResult> {
    let item = uri
        .strip_prefix("test://template/")
        .and_then(|rest| rest.strip_suffix("/data"));
    let contents = match item {
        Some(id) => {
            let data =
                json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
            json!({"uri": uri, "mimeType": "application/json", "text": data.to_string()})
        }
        None => all()["contents"].get(uri)?.clone(),
    };
    complete(json!({"contents": [contents]}))
}

/// A prompt whose arguments replace their names in braces.
pub(crate) fn prompt(name: &str, arguments: &Value) -> Option<GetPromptResult> {
    let messages = with(all()["messages"].get(name)?, arguments);
    complete(json!({"messages": messages}))
}

/// A result that is not a question.
fn complete<T: DeserializeOwned>(mut result: Value) -> Option<T> {
    result["resultType"] = "complete".into();
    serde_json::from_value(result).ok()
}

/// What a tool asks in its rounds, by the names of the answers.
pub(crate) fn rounds(name: &str) -> Option<&'static Vec<Value>> {
    all()["rounds"].get(name)?.as_array()
}

/// What a tool asks while it runs.
pub(crate) fn question(tool: &str, arguments: &Value) -> Option<Value> {
    Some(with(all()["questions"].get(tool)?, arguments))
}

/// The value with `{name}` replaced by the argument of this name, in all its texts.
fn with(value: &Value, arguments: &Value) -> Value {
    match value {
        Value::String(text) => {
            let mut text = text.clone();
            for (name, value) in arguments.as_object().into_iter().flatten() {
                text = text.replace(&format!("{{{name}}}"), value.as_str().unwrap_or_default());
            }
            text.into()
        }
        Value::Array(all) => all.iter().map(|one| with(one, arguments)).collect(),
        Value::Object(all) => {
            let all = all.iter();
            all.map(|(name, one)| (name.clone(), with(one, arguments)))
                .collect()
        }
        other => other.clone(),
    }
}
