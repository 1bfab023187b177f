//! What the main loop keeps of pages that offer tools: what they say in full. The core knows only names
//! and numbers.

use crate::argument_check::ArgumentCheck;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use tabmux_browser::text::{honest, is_changed, make_visible, one_line};
use tabmux_core::{ConnectionId, DocumentId, PageId, SchemaId, ToolFacts, ToolKey};
use tabmux_protocol::page::{PageTool, ToPage};
use tabmux_protocol::{ToolHints, ToolInfo};
use tokio::sync::mpsc;

/// All workers that are connected.
#[derive(Debug, Default)]
pub(crate) struct PageTools {
    workers: HashMap<ConnectionId, Worker>,
    connections_counted: u64,
    keys_counted: u64,
}

/// One worker, and the tabs behind it.
#[derive(Debug)]
pub(crate) struct Worker {
    pub(crate) origin: Arc<str>,
    pub(crate) out: mpsc::Sender<ToPage>,
    pages: HashMap<PageId, Page>,
    /// Since when one of its tabs is in front, in milliseconds since 1970.
    pub(crate) active_since: Option<f64>,
}

#[derive(Debug, Default)]
struct Page {
    /// The worker's name of its document, and ours.
    document: (String, u64),
    tools: HashMap<ToolKey, Record>,
}

/// A tool, in full.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) schema: Arc<Map<String, Value>>,
    pub(crate) hints: Option<ToolHints>,
    /// The origin of the page or frame that it belongs to.
    pub(crate) origin: Arc<str>,
    arguments: ArgumentCheck,
}

impl PageTools {
    /// A worker arrived.
    pub(crate) fn open(&mut self, origin: Arc<str>, out: mpsc::Sender<ToPage>) -> ConnectionId {
        self.connections_counted += 1;
        let connection = ConnectionId(self.connections_counted);
        let worker = Worker {
            origin,
            out,
            pages: HashMap::new(),
            active_since: None,
        };
        self.workers.insert(connection, worker);
        connection
    }

    pub(crate) fn close(&mut self, connection: ConnectionId) -> bool {
        self.workers.remove(&connection).is_some()
    }

    pub(crate) fn worker(&self, connection: ConnectionId) -> Option<&Worker> {
        self.workers.get(&connection)
    }

    pub(crate) fn worker_mut(&mut self, connection: ConnectionId) -> Option<&mut Worker> {
        self.workers.get_mut(&connection)
    }

    /// Whether no other worker has had a tab in front for a shorter time.
    pub(crate) fn is_latest(&self, connection: ConnectionId, since: f64) -> bool {
        let others = self.workers.iter().filter(|(id, _)| **id != connection);
        let mut times = others.filter_map(|(_, worker)| worker.active_since);
        times.all(|other| other <= since)
    }

    /// The document that a tab shows, in our count. Another one has no tools yet.
    pub(crate) fn show(
        &mut self,
        connection: ConnectionId,
        page: &PageId,
        document: &str,
    ) -> Option<DocumentId> {
        let pages = &mut self.workers.get_mut(&connection)?.pages;
        let page = pages.entry(page.clone()).or_default();
        if page.document.0 != document {
            page.document = (one_line(document, 100), page.document.1 + 1);
            page.tools.clear();
        }
        Some(DocumentId(page.document.1))
    }

    /// A tab registered itself again: it is a new one, with another document, whatever it says.
    pub(crate) fn renew(&mut self, connection: ConnectionId, page: &PageId) {
        let worker = self.workers.get_mut(&connection);
        if let Some(page) = worker.and_then(|worker| worker.pages.get_mut(page)) {
            // The count goes on, so what was meant for an old document never reaches a new one.
            page.document.1 += 1;
            page.document.0.clear();
            page.tools.clear();
        }
    }

    /// Whether a worker has this tab. How many it may have is the core's affair.
    pub(crate) fn has(&self, connection: ConnectionId, page: &PageId) -> bool {
        let worker = self.workers.get(&connection);
        worker.is_some_and(|worker| worker.pages.contains_key(page))
    }

    pub(crate) fn forget_page(&mut self, connection: ConnectionId, page: &PageId) {
        if let Some(worker) = self.workers.get_mut(&connection) {
            worker.pages.remove(page);
        }
    }

    /// Takes in a tool. One that its tab registered before keeps its key.
    pub(crate) fn register(
        &mut self,
        connection: ConnectionId,
        page: &PageId,
        tool: PageTool,
    ) -> Result<ToolFacts, String> {
        let worker = self.workers.get_mut(&connection).ok_or("It is too late.")?;
        let known = worker.pages.get_mut(page).ok_or("There is no such tab.")?;
        check(&tool)?;
        let mut same = known.tools.iter();
        let same = same.find(|(_, record)| record.name == tool.name);
        let key = same.map(|(key, _)| *key);
        let key = key.unwrap_or_else(|| {
            self.keys_counted += 1;
            ToolKey(self.keys_counted)
        });
        let says = |hint| tool.annotations.get(hint) == Some(&Value::Bool(true));
        let read_only = says("readOnlyHint");
        let destructive = says("destructiveHint") || says("consequentialHint");
        let hints = (read_only || destructive).then_some(ToolHints {
            read_only,
            destructive: destructive.then_some(true),
        });
        let record = Record::new(
            tool.name,
            described(&tool.description, "Offered by", &worker.origin),
            tool.input_schema,
            hints,
            Arc::clone(&worker.origin),
        );
        let facts = record.facts(key);
        known.tools.insert(key, record);
        Ok(facts)
    }

    /// Takes out a tool, by the name that the page gave it.
    pub(crate) fn unregister(
        &mut self,
        connection: ConnectionId,
        page: &PageId,
        name: &str,
    ) -> Option<ToolKey> {
        let page = self.workers.get_mut(&connection)?.pages.get_mut(page)?;
        let mut tools = page.tools.iter();
        let key = tools
            .find(|(_, record)| record.name == name)
            .map(|(key, _)| *key)?;
        page.tools.remove(&key);
        Some(key)
    }

    /// Takes out a tool for which there is no room. Its name.
    pub(crate) fn forget_tool(
        &mut self,
        connection: ConnectionId,
        page: &PageId,
        key: ToolKey,
    ) -> Option<String> {
        let page = self.workers.get_mut(&connection)?.pages.get_mut(page)?;
        page.tools.remove(&key).map(|record| record.name)
    }

    pub(crate) fn record(
        &self,
        connection: ConnectionId,
        page: &PageId,
        key: ToolKey,
    ) -> Option<&Record> {
        self.workers
            .get(&connection)?
            .pages
            .get(page)?
            .tools
            .get(&key)
    }

    /// The worker's own name of the document that a tab shows.
    pub(crate) fn document(&self, connection: ConnectionId, page: &PageId) -> Option<&str> {
        let page = self.workers.get(&connection)?.pages.get(page)?;
        Some(&page.document.0)
    }
}

impl Record {
    pub(crate) fn new(
        name: String,
        description: String,
        schema: Map<String, Value>,
        hints: Option<ToolHints>,
        origin: Arc<str>,
    ) -> Self {
        Self {
            name,
            description,
            schema: Arc::new(object_schema(schema)),
            hints,
            origin,
            arguments: ArgumentCheck::default(),
        }
    }

    /// What the core knows of it.
    pub(crate) fn facts(&self, key: ToolKey) -> ToolFacts {
        ToolFacts {
            key,
            name: self.name.as_str().into(),
            schema: self.schema_id(),
            read_only: self.hints.is_some_and(|hints| hints.read_only),
        }
    }

    /// The tool as a client is told about it, with `tabId` where a tab can be named.
    pub(crate) fn info(&self, name: &str, with_tab: bool) -> ToolInfo {
        let mut schema = Arc::clone(&self.schema);
        let declared = declares_tab(&schema);
        if with_tab && !declared {
            let schema = Arc::make_mut(&mut schema);
            let properties = schema
                .entry("properties")
                .or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(properties) = properties {
                properties.insert(
                    "tabId".to_owned(),
                    json!({"type": "string", "description": TAB_ID}),
                );
            }
        }
        ToolInfo {
            name: name.to_owned(),
            description: self.description.clone(),
            input_schema: schema,
            hints: self.hints,
        }
    }

    /// Checks arguments against the author's own schema. Says, in a sentence, what is wrong.
    pub(crate) fn check(&self, arguments: &Map<String, Value>) -> Result<(), String> {
        let checked = self.arguments.check(&self.schema, arguments);
        checked.map_err(|why| {
            let name = one_line(&self.name, 64);
            format!(
                "Invalid arguments for {name}: {why}. Check the tool's input schema and call it again."
            )
        })
    }

    fn schema_id(&self) -> SchemaId {
        let mut hasher = DefaultHasher::new();
        self.description.hash(&mut hasher);
        Value::Object((*self.schema).clone())
            .to_string()
            .hash(&mut hasher);
        let hints = self.hints.unwrap_or_default();
        (hints.read_only, hints.destructive).hash(&mut hasher);
        SchemaId(hasher.finish())
    }
}

/// Whether the author's schema has a `tabId` of its own, which then is the page's.
pub(crate) fn declares_tab(schema: &Map<String, Value>) -> bool {
    schema
        .get("properties")
        .is_some_and(|properties| properties.get("tabId").is_some())
}

fn check(tool: &PageTool) -> Result<(), String> {
    let size = Value::Object(tool.input_schema.clone()).to_string().len();
    if size > MOST_SCHEMA {
        return Err(format!(
            "Its schema has {size} bytes; at most {MOST_SCHEMA} are taken."
        ));
    }
    if tool.name.is_empty() || tool.name.len() > MOST_NAME {
        return Err(format!("A tool's name has 1 to {MOST_NAME} bytes."));
    }
    Ok(())
}

/// MCP wants an object schema, whatever the page gave. What is no schema at all is left out: some
/// clients refuse the whole list for it.
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
    make_honest(&mut whole);
    // Not `is_valid`, which panics where the page names a draft that it does not know.
    let is_schema = jsonschema::meta::validate(&whole).is_ok();
    match whole {
        Value::Object(schema) if is_schema => schema,
        _ => Map::from_iter([
            ("type".to_owned(), json!("object")),
            ("properties".to_owned(), json!({})),
        ]),
    }
}

/// Whether a schema names a draft that everybody knows. Any other name means nothing to a client.
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

/// What a schema says to the reader is cleaned, and bounded where it is prose. A property whose name is not seen as it
/// is, nobody could give.
fn make_honest(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            for (key, value) in fields {
                match (key.as_str(), value) {
                    ("description" | "title", Value::String(text)) => {
                        *text = honest(text, MOST_DESCRIPTION);
                    }
                    // The keys in there are the author's, whatever they are.
                    (
                        "properties" | "patternProperties" | "$defs" | "definitions",
                        Value::Object(named),
                    ) => {
                        named.retain(|name, _| !is_changed(name));
                        named.values_mut().for_each(make_honest);
                    }
                    ("enum" | "const" | "default" | "examples", value) => make_visible(value),
                    (_, value) => make_honest(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(make_honest),
        Value::String(_) => make_visible(schema),
        _ => {}
    }
}

/// The author's words, bounded, and where they come from.
pub(crate) fn described(description: &str, how: &str, origin: &str) -> String {
    let words = honest(description, MOST_DESCRIPTION);
    format!("{words}\n({how} a page of {origin}; untrusted.)")
        .trim_start()
        .to_owned()
}

const TAB_ID: &str = "Optional: Target specific tab by ID. If not provided, uses the currently focused tab. Use list_browser_tabs to discover available tabs.";
const MOST_SCHEMA: usize = 64 * 1_024;
const MOST_NAME: usize = 256;
const MOST_DESCRIPTION: usize = 4_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draft_that_nobody_knows_is_left_out() {
        for name in [
            "gopher://json-schema.org/draft/2020-12/schema",
            "https://json-schema.org/draft/2020-13/schema",
            "x",
            "",
        ] {
            let schema = json!({"$schema": name, "properties": {"a": {"type": "string"}}});
            let Value::Object(schema) = schema else {
                panic!("it is an object");
            };
            let kept = Value::Object(object_schema(schema));
            let expected = json!({"properties": {"a": {"type": "string"}}, "type": "object"});
            assert_eq!(kept, expected, "{name}");
        }
    }
}
