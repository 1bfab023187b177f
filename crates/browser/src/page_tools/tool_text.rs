//! The text of a tool that clients get: bounded, cleaned, checked and serialized.
//!
//! This is expensive work on untrusted text. So it is done once, by the task that received the tool, and never by a
//! task that others wait for. The result is cheap to pass on.

use serde_json::{Map, Value, json};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use tabmux_text::{clean, has_hidden, make_visible};
use tokio::sync::Semaphore;

/// A tool's description and schema, as clients get them.
#[derive(Debug)]
pub struct ToolText {
    /// When to use it, and where this text comes from.
    pub description: Box<str>,
    schema: Box<str>,
    /// What lists show instead, if that is shorter.
    listed: Option<(Box<str>, Box<str>)>,
    declares_tab: bool,
    content: u64,
}

/// Who wrote a tool's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SaidBy {
    /// The page.
    Page,
    /// tabmux: the tool was generated from what the page shows.
    Us,
}

impl ToolText {
    /// Prepares a tool's text. The schema is JSON as the page wrote it.
    pub fn prepare(description: &str, schema: &str, said_by: SaidBy, origin: &str) -> Self {
        let schema = serde_json::from_str(schema).unwrap_or_default();
        let schema = object_schema(schema);
        let declares_tab = schema
            .get("properties")
            .is_some_and(|properties| properties.get("tabId").is_some());
        let schema = Value::Object(schema).to_string();
        let description = described(description, said_by, origin);
        let mut hasher = DefaultHasher::new();
        (&description, &schema).hash(&mut hasher);
        Self {
            description: description.into(),
            schema: schema.into(),
            listed: None,
            declares_tab,
            content: hasher.finish(),
        }
    }

    /// The same text with a shorter description and schema for lists. They come from us.
    pub fn listed_as(self, description: &str, schema: &str, origin: &str) -> Self {
        let description = described(description, SaidBy::Us, origin);
        let schema = object_schema(serde_json::from_str(schema).unwrap_or_default());
        let schema = Value::Object(schema).to_string();
        let mut hasher = DefaultHasher::new();
        (&description, &schema).hash(&mut hasher);
        Self {
            listed: Some((description.into(), schema.into())),
            content: hasher.finish(),
            ..self
        }
    }

    /// The description in lists.
    pub fn listed_description(&self) -> &str {
        let listed = self.listed.as_ref();
        listed.map_or(&self.description, |(description, _)| description)
    }

    /// The schema in lists, parsed. Expensive.
    pub fn read_listed_schema(&self) -> Map<String, Value> {
        let listed = self.listed.as_ref();
        let schema = listed.map_or(&self.schema, |(_, schema)| schema);
        serde_json::from_str(schema).unwrap_or_default()
    }

    /// The schema of its arguments: a JSON object.
    pub fn schema(&self) -> &str {
        &self.schema
    }

    /// The schema, parsed. Expensive.
    pub fn read_schema(&self) -> Map<String, Value> {
        serde_json::from_str(&self.schema).unwrap_or_default()
    }

    /// Whether the page's schema has its own `tabId`; the argument then belongs to the page.
    pub fn declares_tab(&self) -> bool {
        self.declares_tab
    }

    /// A hash of what lists show: different texts have different ones.
    pub fn content(&self) -> u64 {
        self.content
    }

    /// Its size in bytes.
    pub fn bytes(&self) -> usize {
        self.description.len() + self.schema.len()
    }
}

/// Runs expensive work on untrusted text on a blocking thread. One at a time, in order of arrival: all pages together
/// cannot use more than one processor.
pub async fn run_in_background<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let _turn = TURN.acquire().await.ok()?;
    tokio::task::spawn_blocking(work).await.ok()
}

/// Prepares the texts of tools, a bounded number of bytes at a time, so that other tabs get their turn in between.
pub(super) async fn prepare_all(tools: Vec<Arc<super::FoundTool>>) {
    let mut tools = tools.into_iter().peekable();
    while tools.peek().is_some() {
        let mut bytes = 0;
        let mut part = Vec::new();
        while let Some(tool) = tools.next_if(|_| bytes < AT_ONCE) {
            bytes += tool.bytes();
            part.push(tool);
        }
        run_in_background(move || {
            for tool in &part {
                tool.text();
            }
        })
        .await;
    }
}

/// MCP requires an object schema, whatever the page gave. An invalid schema is dropped: some clients reject the whole
/// list for it.
fn object_schema(mut schema: Map<String, Value>) -> Map<String, Value> {
    schema.insert("type".to_owned(), json!("object"));
    let properties = schema.entry("properties").or_insert_with(|| json!({}));
    if !properties.is_object() {
        *properties = json!({});
    }
    if !names_a_draft(&schema) {
        schema.remove("$schema");
    }
    let mut whole = Value::Object(schema);
    clean_schema(&mut whole);
    // Not `is_valid`: it panics on a draft that it does not know.
    let is_schema = jsonschema::meta::validate(&whole).is_ok();
    match whole {
        Value::Object(schema) if is_schema => schema,
        _ => Map::from_iter([
            ("type".to_owned(), json!("object")),
            ("properties".to_owned(), json!({})),
        ]),
    }
}

/// Whether a schema names a known draft. Clients cannot use any other.
fn names_a_draft(schema: &Map<String, Value>) -> bool {
    let name = schema.get("$schema").and_then(Value::as_str);
    name.is_some_and(|name| {
        let name = name.trim_end_matches('#');
        let name = name.split_once("://json-schema.org/draft");
        matches!(
            name,
            Some((
                "http" | "https",
                "-04/schema" | "-06/schema" | "-07/schema" | "/2019-09/schema" | "/2020-12/schema"
            ))
        )
    })
}

/// Cleans the texts of a schema, and shortens prose. Drops properties whose names contain hidden characters: no agent
/// could write them.
fn clean_schema(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            for (key, value) in fields {
                match (key.as_str(), value) {
                    ("description" | "title", Value::String(text)) => {
                        *text = clean(text, MAX_DESCRIPTION);
                    }
                    // These keys are names that the page chose, not keywords.
                    (
                        "properties" | "patternProperties" | "$defs" | "definitions",
                        Value::Object(named),
                    ) => {
                        named.retain(|name, _| !has_hidden(name));
                        named.values_mut().for_each(clean_schema);
                    }
                    ("enum" | "const" | "default" | "examples", value) => make_visible(value),
                    (_, value) => clean_schema(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(clean_schema),
        Value::String(_) => make_visible(schema),
        _ => {}
    }
}

/// The page's description, shortened, with its source.
fn described(description: &str, said_by: SaidBy, origin: &str) -> String {
    let words = clean(description, MAX_DESCRIPTION);
    let source = match said_by {
        SaidBy::Page => "Offered by a page of",
        SaidBy::Us => "Generated from",
    };
    format!("{words}\n({source} {origin}; untrusted.)")
        .trim_start()
        .to_owned()
}

/// How many of these jobs run at a time. The machine may have only two processors, and one is for everything else.
static TURN: Semaphore = Semaphore::const_new(1);
/// This many bytes take a few milliseconds.
const AT_ONCE: usize = 64 * 1_024;
const MAX_DESCRIPTION: usize = 4_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn text(schema: &str) -> ToolText {
        ToolText::prepare("Adds.", schema, SaidBy::Page, "http://a.test")
    }

    #[test]
    fn an_invalid_schema_becomes_an_empty_one() {
        for said in ["", "7", "[]", "{\"type\": 7}", "{\"properties\": 7}", "{"] {
            let read = Value::Object(text(said).read_schema());
            assert_eq!(read, json!({"type": "object", "properties": {}}), "{said}");
        }
    }

    #[test]
    fn an_unknown_draft_is_dropped() {
        for name in [
            "gopher://json-schema.org/draft/2020-12/schema",
            "https://json-schema.org/draft/2020-13/schema",
            "x",
            "",
        ] {
            let said = json!({"$schema": name, "properties": {"a": {"type": "string"}}});
            let kept = Value::Object(text(&said.to_string()).read_schema());
            let expected = json!({"properties": {"a": {"type": "string"}}, "type": "object"});
            assert_eq!(kept, expected, "{name}");
        }
    }

    #[test]
    fn only_another_text_is_another_content() {
        let one = text("{\"properties\": {\"a\": {}}}");
        assert_eq!(
            one.content(),
            text(" {\"properties\":{\"a\":{}}}").content()
        );
        assert_ne!(one.content(), text("{\"properties\":{\"b\":{}}}").content());
        let origin = |origin| ToolText::prepare("Adds.", "{}", SaidBy::Page, origin).content();
        assert_ne!(origin("http://a.test"), origin("http://b.test"));
        assert!(text("{\"properties\": {\"tabId\": {}}}").declares_tab());
        assert!(!one.declares_tab());
    }
}
