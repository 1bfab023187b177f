//! One tool of a page as the main loop keeps it: everything costly about it was done before it came here.

use crate::argument_check::ArgumentCheck;
use crate::intake::Held;
use serde_json::{Map, Value, json};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use tabmux_browser::page_tools::ToolText;
use tabmux_browser::text::one_line;
use tabmux_core::{SchemaId, ToolFacts, ToolKey, ToolName};
use tabmux_protocol::{ToolHints, ToolInfo};

/// A tool of one tab.
#[derive(Debug)]
pub(crate) struct Record {
    /// What the page calls it.
    pub(crate) name: Arc<str>,
    pub(crate) said: Arc<Said>,
    pub(crate) hints: Option<ToolHints>,
    /// The origin of the page or frame that it belongs to.
    pub(crate) origin: Arc<str>,
    /// The room that it takes beside what it says.
    #[expect(dead_code, reason = "given back when this is dropped")]
    pub(crate) room: Held,
}

/// What is said of a tool, which many tabs of one application say alike.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) text: Arc<ToolText>,
    arguments: ArgumentCheck,
    /// The room that it takes, given back with the last tool that says so.
    _room: Held,
}

/// A tool in a session's list, which is written out by the session's own task.
#[derive(Debug)]
pub(crate) enum Listed {
    /// One of ours.
    Own(ToolInfo),
    /// One of a page, under its published name.
    Page {
        name: ToolName,
        record: Arc<Record>,
        with_tab: bool,
    },
}

impl Said {
    pub(crate) fn new(text: Arc<ToolText>, room: Held) -> Self {
        Self {
            text,
            arguments: ArgumentCheck::default(),
            _room: room,
        }
    }
}

impl Record {
    /// What the core knows of it.
    pub(crate) fn facts(&self, key: ToolKey) -> ToolFacts {
        let hints = self.hints.unwrap_or_default();
        let mut hasher = DefaultHasher::new();
        let content = self.said.text.content();
        (content, hints.read_only, hints.destructive).hash(&mut hasher);
        ToolFacts {
            key,
            name: Arc::clone(&self.name),
            schema: SchemaId(hasher.finish()),
            read_only: hints.read_only,
        }
    }

    /// How much it says, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.name.len() + self.said.text.bytes()
    }

    /// Checks arguments against the author's own schema, and gives back those that are the page's. Says, in a
    /// sentence, what is wrong. The page decides how much work this is: never on the main loop.
    pub(crate) fn check(
        &self,
        arguments: &Map<String, Value>,
    ) -> Result<Map<String, Value>, String> {
        let text = &self.said.text;
        let mut arguments = arguments.clone();
        if !text.declares_tab() {
            arguments.remove("tabId");
        }
        let arguments = Value::Object(arguments);
        let checked = self.said.arguments.check(text, &arguments);
        let whole = match arguments {
            Value::Object(arguments) => arguments,
            _ => Map::new(),
        };
        checked.map(|()| whole).map_err(|why| {
            let name = one_line(&self.name, 64);
            format!(
                "Invalid arguments for {name}: {why}. Check the tool's input schema and call it again."
            )
        })
    }

    /// The tool as a client is told about it, with `tabId` where a tab can be named.
    fn info(&self, name: ToolName, with_tab: bool) -> ToolInfo {
        let text = &self.said.text;
        let mut schema = text.read_schema();
        if with_tab && !text.declares_tab() {
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
            name: name.as_str().to_owned(),
            description: text.description.to_string(),
            input_schema: Arc::new(schema),
            hints: self.hints,
        }
    }
}

/// Writes out a list. What pages say may be long, so that is done beside the tasks that others wait for.
pub(crate) async fn write_out(tools: Vec<Listed>) -> Vec<ToolInfo> {
    let bytes: usize = tools.iter().map(Listed::bytes).sum();
    if bytes <= LITTLE {
        return write(tools);
    }
    let written = tokio::task::spawn_blocking(move || write(tools));
    written.await.unwrap_or_default()
}

/// Tools of pages are left out from where their text becomes too much for one message to a client.
fn write(tools: Vec<Listed>) -> Vec<ToolInfo> {
    let (mut bytes, mut left_out) = (0, 0);
    let written = tools.into_iter().filter_map(|tool| {
        bytes += tool.bytes();
        match tool {
            Listed::Own(info) => Some(info),
            Listed::Page { .. } if bytes > MOST_LISTED => {
                left_out += 1;
                None
            }
            Listed::Page {
                name,
                record,
                with_tab,
            } => Some(record.info(name, with_tab)),
        }
    });
    let written = written.collect();
    if left_out > 0 {
        tracing::warn!(
            left_out,
            "pages' tools are left out of a list: they are too long"
        );
    }
    written
}

impl Listed {
    fn bytes(&self) -> usize {
        match self {
            Self::Own(_) => 0,
            Self::Page { record, .. } => record.bytes(),
        }
    }
}

const TAB_ID: &str = "Optional: Target specific tab by ID. If not provided, uses the currently focused tab. Use list_browser_tabs to discover available tabs.";
/// So much is written out in less than a millisecond.
const LITTLE: usize = 64 * 1_024;
/// A line to a client has at most 16 MiB, and characters may take six bytes in it. `list_page_tools` names the
/// others, and `call_page_tool` calls them.
const MOST_LISTED: usize = 2 * 1_024 * 1_024;
