//! The full descriptions of the tools that were found in browser tabs. The core knows only their names and numbers.

use crate::page_quotas::Held;
use crate::record::{Record, SharedText};
use std::collections::HashMap;
use std::sync::Arc;
use tabmux_browser::page_tools::{FoundTool, ToolSource};
use tabmux_core::{BrowserId, TargetId, ToolFacts, ToolKey};
use tabmux_protocol::ToolHints;

/// The tools of all tabs, by source.
#[derive(Debug, Default)]
pub(crate) struct FoundTools(HashMap<(BrowserId, TargetId), HashMap<ToolSource, Tools>>);

type Tools = HashMap<ToolKey, Arc<Record>>;

impl FoundTools {
    /// Replaces the tools of one source in a tab. The sender has already cleaned their texts.
    pub(crate) fn take_in(
        &mut self,
        browser: BrowserId,
        target: TargetId,
        source: ToolSource,
        tools: &[Arc<FoundTool>],
    ) -> Vec<ToolFacts> {
        let sources = self.0.entry((browser, target)).or_default();
        let mut known = sources.remove(&source).unwrap_or_default();
        let mut facts = Vec::with_capacity(tools.len());
        let mut kept = HashMap::with_capacity(tools.len());
        for tool in tools {
            let key = ToolKey(tool.number.0);
            let same = known.remove(&key).filter(|known| is_same(known, tool));
            let record = same.unwrap_or_else(|| Arc::new(record(tool)));
            facts.push(record.facts(key));
            kept.insert(key, record);
        }
        sources.insert(source, kept);
        facts
    }

    pub(crate) fn record(
        &self,
        browser: BrowserId,
        target: &TargetId,
        key: ToolKey,
    ) -> Option<&Arc<Record>> {
        let sources = self.0.get(&(browser, target.clone()))?;
        sources.values().find_map(|tools| tools.get(&key))
    }

    pub(crate) fn forget_tab(&mut self, browser: BrowserId, target: &TargetId) {
        self.0.remove(&(browser, target.clone()));
    }

    pub(crate) fn forget_browser(&mut self, browser: BrowserId) {
        self.0.retain(|(whose, _), _| *whose != browser);
    }
}

/// Whether the tool is unchanged. Texts are long, so they are compared by pointer.
fn is_same(known: &Record, tool: &FoundTool) -> bool {
    Arc::ptr_eq(&known.shared.text, tool.text())
        && known.name == tool.name
        && known.hints == hints(tool)
        && known.origin == tool.origin
}

fn record(tool: &FoundTool) -> Record {
    Record {
        name: Arc::clone(&tool.name),
        // The browser side already limits their size per tab.
        shared: Arc::new(SharedText::new(Arc::clone(tool.text()), Held::default())),
        hints: hints(tool),
        origin: Arc::clone(&tool.origin),
        room: Held::default(),
    }
}

fn hints(tool: &FoundTool) -> Option<ToolHints> {
    (tool.read_only || tool.consequential).then_some(ToolHints {
        read_only: tool.read_only,
        destructive: tool.consequential.then_some(true),
    })
}
