//! What the main loop keeps of tools that were found in browsers' tabs: what they say in full. The core
//! knows only names and numbers.

use crate::page_tools::{Record, described};
use std::collections::HashMap;
use std::sync::Arc;
use tabmux_browser::page_tools::{FoundTool, ToolSource};
use tabmux_core::{BrowserId, TargetId, ToolFacts, ToolKey};
use tabmux_protocol::ToolHints;

/// The tools of all tabs, by source.
#[derive(Debug, Default)]
pub(crate) struct FoundTools(HashMap<(BrowserId, TargetId), HashMap<ToolSource, Tools>>);

type Tools = HashMap<ToolKey, (Arc<FoundTool>, Record)>;

impl FoundTools {
    /// All the tools that a source has for a tab now.
    pub(crate) fn take_in(
        &mut self,
        browser: BrowserId,
        target: TargetId,
        source: ToolSource,
        tools: Vec<Arc<FoundTool>>,
    ) -> Vec<ToolFacts> {
        let sources = self.0.entry((browser, target)).or_default();
        let mut known = sources.remove(&source).unwrap_or_default();
        let mut facts = Vec::with_capacity(tools.len());
        let mut kept = HashMap::with_capacity(tools.len());
        for tool in tools {
            let key = ToolKey(tool.number.0);
            let same = known.remove(&key).filter(|(before, _)| *before == tool);
            let (tool, record) = same.unwrap_or_else(|| {
                let record = record(&tool, source);
                (tool, record)
            });
            facts.push(record.facts(key));
            kept.insert(key, (tool, record));
        }
        sources.insert(source, kept);
        facts
    }

    pub(crate) fn record(
        &self,
        browser: BrowserId,
        target: &TargetId,
        key: ToolKey,
    ) -> Option<&Record> {
        let sources = self.0.get(&(browser, target.clone()))?;
        let mut records = sources.values().filter_map(|tools| tools.get(&key));
        records.next().map(|(_, record)| record)
    }

    pub(crate) fn forget_tab(&mut self, browser: BrowserId, target: &TargetId) {
        self.0.remove(&(browser, target.clone()));
    }

    pub(crate) fn forget_browser(&mut self, browser: BrowserId) {
        self.0.retain(|(whose, _), _| *whose != browser);
    }
}

fn record(tool: &FoundTool, source: ToolSource) -> Record {
    let how = match source {
        ToolSource::WebMcp => "Offered by",
        ToolSource::Generated => "Generated from",
    };
    let hints = (tool.read_only || tool.consequential).then_some(ToolHints {
        read_only: tool.read_only,
        destructive: tool.consequential.then_some(true),
    });
    Record::new(
        tool.name.to_string(),
        described(&tool.description, how, &tool.origin),
        (*tool.schema).clone(),
        hints,
        Arc::clone(&tool.origin),
    )
}
