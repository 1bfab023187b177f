//! The generated tools that a session lists: those that its page had when the list last changed.

use crate::{DocumentId, SchemaId, TabId, ToolKey, ToolName};
use std::collections::BTreeSet;

/// The generated tools in a session's list.
#[derive(Clone, Debug)]
pub(crate) struct Settled {
    /// The tab that was focused.
    pub(crate) tab: TabId,
    /// The document that it showed.
    pub(crate) document: DocumentId,
    /// By name.
    tools: Vec<SettledTool>,
    /// The document whose tools answers name: it differs from `document` after a call of this session navigated.
    seen: DocumentId,
    /// Tools of that document that are not listed and were named in an answer.
    told: BTreeSet<ToolName>,
}

/// A generated tool as it is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SettledTool {
    pub(crate) name: ToolName,
    pub(crate) key: ToolKey,
    pub(crate) schema: SchemaId,
}

impl Settled {
    /// `tools` are sorted by name.
    pub(crate) fn new(tab: TabId, document: DocumentId, tools: Vec<SettledTool>) -> Self {
        Self {
            tab,
            document,
            tools,
            seen: document,
            told: BTreeSet::new(),
        }
    }

    pub(crate) fn get(&self, name: ToolName) -> Option<&SettledTool> {
        let place = self.tools.binary_search_by_key(&name, |tool| tool.name);
        self.tools.get(place.ok()?)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = ToolName> {
        self.tools.iter().map(|tool| tool.name)
    }

    /// Whether the list would be the same with these tools.
    pub(crate) fn lists(&self, tools: &[SettledTool]) -> bool {
        self.tools == tools
    }

    /// A call of the session led to this document, or was made in it: from now on answers tell of its tools.
    pub(crate) fn see(&mut self, document: DocumentId) {
        if self.seen != document {
            self.seen = document;
            self.told.clear();
        }
    }

    /// Whether answers tell of this document's tools.
    pub(crate) fn has_seen(&self, document: DocumentId) -> bool {
        self.seen == document
    }

    /// Whether the agent can know this tool of the document: from its list, or from an answer. What is listed for
    /// another document must be exactly alike.
    pub(crate) fn is_known(&self, document: DocumentId, tool: &SettledTool) -> bool {
        let listed = self.get(tool.name);
        let is_listed =
            listed.is_some_and(|it| document == self.document || it.schema == tool.schema);
        is_listed || self.told.contains(&tool.name)
    }

    /// An answer names these tools.
    pub(crate) fn tell(&mut self, names: impl IntoIterator<Item = ToolName>) {
        self.told.extend(names);
    }
}
