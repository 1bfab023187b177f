//! A page tool as the main loop keeps it. All expensive work was done before.

use crate::argument_check::ArgumentCheck;
use crate::page_quotas::Held;
use serde_json::{Map, Value, json};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use tabmux_browser::OriginPolicy;
use tabmux_browser::page_tools::ToolText;
use tabmux_core::{SchemaId, ToolFacts, ToolKey, ToolName};
use tabmux_protocol::{ToolHints, ToolInfo};
use tabmux_text::one_line;

/// A tool of one tab.
#[derive(Debug)]
pub(crate) struct Record {
    /// The page's name for it.
    pub(crate) name: Arc<str>,
    pub(crate) shared: Arc<SharedText>,
    pub(crate) hints: Option<ToolHints>,
    /// The origin of the page or frame that it belongs to.
    pub(crate) origin: Arc<str>,
    /// The quota that it uses besides its text.
    #[expect(dead_code, reason = "given back when this is dropped")]
    pub(crate) room: Held,
}

/// The text of a tool, which many tabs of one application share.
#[derive(Debug)]
pub(crate) struct SharedText {
    pub(crate) text: Arc<ToolText>,
    arguments: ArgumentCheck,
    /// The quota that it uses, returned with the last tool that shares it.
    _room: Held,
}

/// A tool in a session's list; the session's own task formats it.
#[derive(Debug)]
pub(crate) enum Listed {
    /// A tabmux tool.
    Own(ToolInfo),
    /// A page tool, under its published name.
    Page {
        name: ToolName,
        record: Arc<Record>,
        with_tab: bool,
    },
}

impl SharedText {
    pub(crate) fn new(text: Arc<ToolText>, room: Held) -> Self {
        Self {
            text,
            arguments: ArgumentCheck::default(),
            _room: room,
        }
    }
}

impl Record {
    /// Its facts for the core.
    pub(crate) fn facts(&self, key: ToolKey) -> ToolFacts {
        let hints = self.hints.unwrap_or_default();
        let mut hasher = DefaultHasher::new();
        let content = self.shared.text.content();
        (content, hints.read_only, hints.destructive).hash(&mut hasher);
        ToolFacts {
            key,
            name: Arc::clone(&self.name),
            schema: SchemaId(hasher.finish()),
            read_only: hints.read_only,
        }
    }

    /// Whether sessions under a policy may see it. A tool of a frame belongs to the frame's site, not to the page's.
    pub(crate) fn is_visible_under(&self, policy: &OriginPolicy) -> bool {
        let origin = &*self.origin;
        !origin.starts_with("http") || policy.check(origin).is_ok()
    }

    /// The size of its texts, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.name.len() + self.shared.text.bytes()
    }

    /// Checks arguments against the page's schema, and returns those for the page, or a sentence that says what is
    /// wrong. The page decides how expensive this is, so it never runs in the main loop.
    pub(crate) fn check(
        &self,
        arguments: &Map<String, Value>,
    ) -> Result<Map<String, Value>, String> {
        let text = &self.shared.text;
        let mut arguments = arguments.clone();
        if !text.declares_tab() {
            arguments.remove("tabId");
        }
        let arguments = Value::Object(arguments);
        let checked = self.shared.arguments.check(text, &arguments);
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

    /// The tool as it is published to a client, with `tabId` if a tab can be named.
    fn info(&self, name: ToolName, with_tab: bool) -> ToolInfo {
        let text = &self.shared.text;
        let mut schema = text.read_listed_schema();
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
            description: text.listed_description().to_owned(),
            input_schema: Arc::new(schema),
            output_schema: None,
            hints: self.hints,
        }
    }
}

/// Formats a list. Long texts of pages are formatted on the blocking thread pool.
pub(crate) async fn write_out(tools: Vec<Listed>) -> Vec<ToolInfo> {
    let bytes: usize = tools.iter().map(Listed::bytes).sum();
    if bytes <= LITTLE {
        return write(tools);
    }
    let written = tokio::task::spawn_blocking(move || write(tools));
    written.await.unwrap_or_default()
}

/// Page tools are omitted once their text is too long for one message to a client.
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
            "page tools are omitted from a list: they are too long"
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
/// This much is formatted in less than a millisecond.
const LITTLE: usize = 64 * 1_024;
/// A line to a client has at most 16 MiB, and characters may take six bytes in it. `list_page_tools` names the
/// omitted tools, and `call_page_tool` calls them.
const MOST_LISTED: usize = 2 * 1_024 * 1_024;
