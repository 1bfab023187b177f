//! Adding and removing page tools.

use super::Core;
use crate::call::Task;
use crate::offer::{Offer, Source};
use crate::tab::Tab;
use crate::{DocumentId, Output, PageRefusal, TabId, ToolFacts, ToolKey, ToolName};
use std::collections::BTreeSet;

impl Core {
    /// Adds or updates one tool of a tab.
    pub(super) fn offer_tool(&mut self, id: TabId, source: Source, tool: ToolFacts) {
        let key = tool.key;
        if let Err(refusal) = self.try_offer(id, source, tool) {
            self.refuse_tools(id, source, vec![key], refusal);
        }
        self.end_orphans(id);
    }

    /// Replaces all tools that a source has in a tab. Known tools keep their names; new ones get theirs in an
    /// order that does not depend on the report. Returns how many exceed the limits.
    pub(super) fn offer_all(&mut self, id: TabId, source: Source, tools: Vec<ToolFacts>) -> usize {
        let keys: BTreeSet<_> = tools.iter().map(|tool| tool.key).collect();
        self.drop_offers(id, |whose, offer| {
            whose == source && !keys.contains(&offer.key)
        });
        let room = self.config.tools_per_tab;
        let mut tools: Vec<_> = tools;
        let beyond = tools.split_off(tools.len().min(room));
        tools.sort_by_cached_key(|tool| (ToolName::parse(&tool.name).is_none(), tool.name.clone()));
        let mut refused = Vec::new();
        let mut why = PageRefusal::TooManyToolsInTab { limit: room };
        for tool in tools {
            let key = tool.key;
            if let Err(refusal) = self.try_offer(id, source, tool) {
                refused.push(key);
                why = refusal;
            }
        }
        refused.extend(beyond.iter().map(|tool| tool.key));
        let beyond = refused.len();
        if beyond > 0 {
            self.refuse_tools(id, source, refused, why);
        }
        self.end_orphans(id);
        beyond
    }

    /// Removes the tools of a tab that meet a condition.
    pub(super) fn drop_offers(&mut self, id: TabId, gone: impl Fn(Source, &Offer) -> bool) {
        let Some(tab) = self.tabs.get(&id) else {
            return;
        };
        let offers = tab.offers.iter();
        let offers = offers.filter(|(_, source, offer)| gone(*source, offer));
        let offers: Vec<_> = offers.map(|(name, source, _)| (name, source)).collect();
        for (name, source) in offers {
            self.drop_offer(id, name, source);
        }
    }

    /// Ends queued calls of tools that no longer exist. Running calls may finish.
    pub(super) fn end_orphans(&mut self, id: TabId) {
        let Some(tab) = self.tabs.get(&id) else {
            return;
        };
        let orphans = self.calls_in(id, |call| match *call.task() {
            Task::PageTool {
                name,
                source,
                key,
                document,
                ..
            } => !call.at_work && !has(tab, name, source, key, document),
            _ => false,
        });
        let name = tab.name(id);
        self.end_all(orphans, |core, call| core.fail_page_tool(call, &name));
    }

    fn try_offer(&mut self, id: TabId, source: Source, tool: ToolFacts) -> Result<(), PageRefusal> {
        let Some(tab) = self.tabs.get_mut(&id) else {
            return Ok(());
        };
        let Some(document) = tab.document(source) else {
            return Ok(());
        };
        tab.last_seen = self.now;
        if let Some(name) = tab.offers.name_of(source, tool.key)
            && let Some(known) = tab.offers.get_mut(name, source)
            && known.given == tool.name
        {
            let changed = known.schema != tool.schema || known.read_only != tool.read_only;
            *known = Offer::new(tool, document, known.place);
            if changed {
                self.touch(name, source, id);
            }
            return Ok(());
        }
        if let Some(name) = tab.offers.name_of(source, tool.key) {
            self.drop_offer(id, name, source);
        }
        self.add_offer(id, source, document, tool, None)
    }

    /// Adds a tool to a tab, at the end of the order of registration unless it has a `place`.
    pub(super) fn add_offer(
        &mut self,
        id: TabId,
        source: Source,
        document: DocumentId,
        tool: ToolFacts,
        place: Option<u64>,
    ) -> Result<(), PageRefusal> {
        let Some((tab, owner)) = self.tabs.get(&id).and_then(|tab| {
            let owner = tab.owner_of(source)?;
            Some((tab, owner))
        }) else {
            return Ok(());
        };
        let name = tab.offers.free_name(source, &tool.name, &self.built_in);
        self.check_room(tab, name)?;
        let twin = tab.offers.get(name, |whose| {
            whose.is_registered() == source.is_registered()
        });
        let place = twin.map(|(_, twin)| twin.place).or(place);
        let place = place.unwrap_or_else(|| self.registry.next_place());
        self.registry.add(name, owner, source, place, id);
        self.touch(name, source, id);
        if let Some(tab) = self.tabs.get_mut(&id) {
            let offer = Offer::new(tool, document, place);
            tab.offers.insert(name, source, offer);
        }
        Ok(())
    }

    fn check_room(&self, tab: &Tab, name: ToolName) -> Result<(), PageRefusal> {
        let config = &self.config;
        let limit = config.tools_per_tab;
        // A tool that another source already offers does not make the list longer.
        let is_known = tab.offers.get(name, |_| true).is_some();
        if !is_known && tab.offers.best(|_| true).count() >= limit {
            return Err(PageRefusal::TooManyToolsInTab { limit });
        }
        let limit = config.page_tools;
        if self.registry.offers() >= limit {
            return Err(PageRefusal::TooManyTools { limit });
        }
        let limit = config.page_tool_names;
        if self.registry.len() >= limit && !self.registry.contains(name) {
            return Err(PageRefusal::TooManyNames { limit });
        }
        Ok(())
    }

    pub(super) fn drop_offer(&mut self, id: TabId, name: ToolName, source: Source) {
        let Some(tab) = self.tabs.get_mut(&id) else {
            return;
        };
        if let Some(offer) = tab.offers.remove(name, source)
            && let Some(owner) = tab.owner_of(source)
        {
            self.registry.remove(name, owner, source, offer.place);
            self.touch(name, source, id);
        }
    }

    pub(super) fn refuse_tools(
        &mut self,
        id: TabId,
        source: Source,
        tools: Vec<ToolKey>,
        refusal: PageRefusal,
    ) {
        if let Some(place) = self.tabs.get(&id).and_then(|tab| tab.place(source)) {
            self.emit(Output::ToolsRefused {
                place,
                source,
                tools,
                refusal,
            });
        }
    }
}

/// Whether a tab still has exactly this tool.
fn has(tab: &Tab, name: ToolName, source: Source, key: ToolKey, document: DocumentId) -> bool {
    let offer = tab.offers.get(name, |whose| whose == source);
    offer.is_some_and(|(_, offer)| offer.key == key && offer.document == document)
}
