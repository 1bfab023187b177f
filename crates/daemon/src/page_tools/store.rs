//! The full descriptions of page tools, by the place of their tab: a tab of the page library, or a tab of a browser.
//! The core knows only their names and numbers.

use crate::page_quotas::Held;
use crate::record::{Record, SharedText};
use std::collections::HashMap;
use std::sync::Arc;
use tabmux_browser::page_tools::FoundTool;
use tabmux_core::{BrowserId, Source, TabLocation, ToolFacts, ToolKey};
use tabmux_protocol::ToolHints;

/// The tools of all tabs.
#[derive(Debug, Default)]
pub(super) struct ToolStore {
    tabs: HashMap<TabLocation, HashMap<Source, Tools>>,
    /// Generated tools that are gone. Lists that have not changed since still have them.
    gone: HashMap<TabLocation, Tools>,
    /// How many keys the library's tools have used. Tools of browser tabs bring theirs along.
    keys_counted: u64,
}

/// The tools of one tab and one source. A key is unique in its tab.
type Tools = HashMap<ToolKey, Arc<Record>>;

impl ToolStore {
    pub(super) fn record(&self, place: &TabLocation, key: ToolKey) -> Option<&Arc<Record>> {
        let sources = self.tabs.get(place)?;
        let gone = || self.gone.get(place)?.get(&key);
        let found = sources.values().find_map(|tools| tools.get(&key));
        found.or_else(gone)
    }

    /// Replaces the tools that were found in a browser tab. The sender has already cleaned their texts.
    pub(super) fn replace(
        &mut self,
        place: TabLocation,
        source: Source,
        tools: &[Arc<FoundTool>],
    ) -> Vec<ToolFacts> {
        let sources = self.tabs.entry(place.clone()).or_default();
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
        if source == Source::Generated {
            let gone = self.gone.entry(place).or_default();
            gone.retain(|key, _| !kept.contains_key(key));
            if gone.len() + known.len() > MOST_GONE {
                gone.clear();
            }
            gone.extend(known.into_iter().take(MOST_GONE));
        }
        sources.insert(source, kept);
        facts
    }

    /// Adds a tool to a tab of the library. If the tab registered it before, it keeps its key.
    pub(super) fn register(
        &mut self,
        place: TabLocation,
        tool: Arc<Record>,
    ) -> Result<ToolFacts, String> {
        let sources = self.tabs.entry(place).or_default();
        let tools = sources.entry(Source::Library).or_default();
        let same = key_of(tools, &tool.name);
        let others = tools.iter().filter(|(key, _)| Some(**key) != same);
        let bytes: usize = others.map(|(_, other)| other.bytes()).sum();
        if bytes + tool.bytes() > MOST_IN_TAB {
            return Err(format!(
                "The tools of one tab may have {} kB of names, descriptions and schemas. Unregister some, or \
                 shorten them.",
                MOST_IN_TAB / 1_024
            ));
        }
        let key = same.unwrap_or_else(|| {
            self.keys_counted += 1;
            ToolKey(self.keys_counted)
        });
        let facts = tool.facts(key);
        tools.insert(key, tool);
        Ok(facts)
    }

    /// Removes a tool of the library, by the page's name for it.
    pub(super) fn unregister(&mut self, place: &TabLocation, name: &str) -> Option<ToolKey> {
        let tools = self.tabs.get_mut(place)?.get_mut(&Source::Library)?;
        let key = key_of(tools, name)?;
        tools.remove(&key);
        Some(key)
    }

    /// Removes a tool of the library, by its key.
    pub(super) fn remove(&mut self, place: &TabLocation, key: ToolKey) -> Option<Arc<Record>> {
        let tools = self.tabs.get_mut(place)?.get_mut(&Source::Library)?;
        tools.remove(&key)
    }

    pub(super) fn forget_tab(&mut self, place: &TabLocation) {
        self.tabs.remove(place);
        self.gone.remove(place);
    }

    pub(super) fn forget_browser(&mut self, gone: BrowserId) {
        let is_of = |place: &TabLocation| matches!(place, TabLocation::Browser { browser, .. } if *browser == gone);
        self.tabs.retain(|place, _| !is_of(place));
        self.gone.retain(|place, _| !is_of(place));
    }
}

/// The key of the tool with this name.
fn key_of(tools: &Tools, name: &str) -> Option<ToolKey> {
    let (key, _) = tools.iter().find(|(_, tool)| &*tool.name == name)?;
    Some(*key)
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

/// How many generated tools of a tab are kept after they are gone.
const MOST_GONE: usize = 50;
/// The limit for all tool texts of one tab: more than any model reads.
const MOST_IN_TAB: usize = 1_024 * 1_024;
