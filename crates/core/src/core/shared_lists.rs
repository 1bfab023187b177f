//! The page tools that sessions have in common: worked out once for all of them, and brought up to date name by
//! name.

use super::Core;
use crate::offer::Source;
use crate::tab::Tab;
use crate::{BrowserId, Mode, SchemaId, SessionId, SiteFilter, TabId, TabPolicy, ToolName};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Page tools by name, and what is published of them.
pub(crate) type PageList = Vec<(ToolName, SchemaId)>;

/// What sessions are offered that hold no tab.
#[derive(Debug, Default)]
pub(super) struct SharedLists {
    lists: Vec<(ListKey, Arc<PageList>)>,
    /// The names about which something may be different since.
    stale: BTreeSet<ToolName>,
}

/// All that decides which page tools a session is offered, the tabs that it holds aside.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ListKey {
    site_filter: SiteFilter,
    isolated: bool,
    mode: Mode,
    /// The browsers whose pages' tools it has. None in progressive mode: there, tabs that it does not hold
    /// matter for their tools of the page library only.
    connected: Vec<BrowserId>,
}

impl Core {
    /// The same as [`listed_page_tools`](Self::listed_page_tools) and
    /// [`has_library_tools`](Self::has_library_tools) say, for the price of what changed since they were asked
    /// last.
    pub(super) fn shared_list(&mut self, session: SessionId) -> (Arc<PageList>, bool) {
        let Some(list_key) = self.list_key(session) else {
            return (Arc::default(), false);
        };
        let is_progressive = list_key.mode == Mode::Progressive;
        let common = self.common_list(list_key);
        let has_library_tools =
            is_progressive && (!common.is_empty() || self.has_own_library_tools(session));
        (self.with_own(session, common), has_library_tools)
    }

    fn with_own(&self, session: SessionId, common: Arc<PageList>) -> Arc<PageList> {
        // Only the tabs that it holds make a difference between a session and its like.
        let own = self.own_names(session);
        if own.is_empty() {
            return common;
        }
        let others = common.iter().filter(|(name, _)| !own.contains(name));
        let mut list: PageList = others.copied().collect();
        list.extend(own.iter().filter_map(|name| self.listing(session, *name)));
        list.sort_unstable_by_key(|(name, _)| *name);
        Arc::new(list)
    }

    /// Something about a tool is different, wherever it is offered.
    pub(super) fn touch(&mut self, name: ToolName) {
        self.edition += 1;
        let common = &mut self.common;
        if common.stale.len() >= MOST_STALE {
            // Nobody has asked for long.
            common.lists.clear();
            common.stale.clear();
        }
        if !common.lists.is_empty() {
            common.stale.insert(name);
        }
    }

    /// Something about a tab is different that decides who has it, and who has its tools.
    pub(super) fn touch_tab(&mut self, id: TabId) {
        self.persistence_version += 1;
        let tab = self.tabs.get(&id);
        let names: Vec<_> = tab.map_or(Vec::new(), |tab| tab.page_tools().collect());
        for name in names {
            self.touch(name);
        }
    }

    fn list_key(&self, session: SessionId) -> Option<ListKey> {
        let known = self.sessions.get(&session)?;
        let mode = known.config.mode;
        let browsers = known
            .browser_bindings
            .iter()
            .map(|browser_binding| browser_binding.browser);
        let connected =
            browsers.filter(|browser| mode == Mode::Static && self.is_connected(session, *browser));
        let mut connected: Vec<_> = connected.collect();
        connected.sort_unstable();
        Some(ListKey {
            site_filter: known.config.site_filter.clone(),
            isolated: known.config.isolated,
            mode,
            connected,
        })
    }

    fn common_list(&mut self, list_key: ListKey) -> Arc<PageList> {
        self.refresh_common();
        let mut lists = self.common.lists.iter();
        if let Some((_, list)) = lists.find(|(known, _)| *known == list_key) {
            return Arc::clone(list);
        }
        let names = self.registry.names();
        let list = names.filter_map(|name| Some((name, self.common_schema(&list_key, name)?)));
        let list = Arc::new(list.collect());
        if self.common.lists.len() >= MOST_LIST_KEYS {
            self.common.lists.clear();
        }
        self.common.lists.push((list_key, Arc::clone(&list)));
        list
    }

    fn refresh_common(&mut self) {
        let stale = std::mem::take(&mut self.common.stale);
        if stale.is_empty() {
            return;
        }
        let mut lists = std::mem::take(&mut self.common.lists);
        for (list_key, list) in &mut lists {
            let list = Arc::make_mut(list);
            for &name in &stale {
                let place = list.binary_search_by_key(&name, |(name, _)| *name);
                match (place, self.common_schema(list_key, name)) {
                    (Ok(place), Some(schema)) => {
                        if let Some(listed) = list.get_mut(place) {
                            listed.1 = schema;
                        }
                    }
                    (Ok(place), None) => drop(list.remove(place)),
                    (Err(place), Some(schema)) => list.insert(place, (name, schema)),
                    (Err(_), None) => {}
                }
            }
        }
        self.common.lists = lists;
    }

    /// What is published under a name for those who hold no tab: the tool of the tab in front, else that
    /// of the first which registered it.
    fn common_schema(&self, list_key: &ListKey, name: ToolName) -> Option<SchemaId> {
        let seen = |id: TabId| {
            let tab = self.tabs.get(&id)?;
            let is_usable = |source: Source| match source {
                Source::Library => true,
                Source::WebMcp => {
                    let browser = tab.browser();
                    browser.is_some_and(|browser| list_key.connected.contains(&browser))
                }
                Source::Generated => false,
            };
            let (_, offer) = tab.offers.get(name, is_usable)?;
            self.is_common(list_key, tab).then_some(offer.schema)
        };
        let in_front = self.active.and_then(seen);
        in_front.or_else(|| self.registry.tabs(name, true).find_map(seen))
    }

    /// Whether a tab is shown to those who do not hold it.
    fn is_common(&self, list_key: &ListKey, tab: &Tab) -> bool {
        let shares = |holder| self.tab_policy(holder) == Some(TabPolicy::Shared);
        tab.is_open()
            && tab.context.is_none()
            && !list_key.isolated
            && tab.holders().all(shares)
            && self.hidden_by(&list_key.site_filter, tab).is_none()
    }

    /// The names of the tools in a session's own tabs.
    fn own_names(&self, session: SessionId) -> BTreeSet<ToolName> {
        let own = self.own_tabs(session);
        own.flat_map(Tab::page_tools).collect()
    }

    fn has_own_library_tools(&self, session: SessionId) -> bool {
        self.own_tabs(session).any(|tab| {
            let mut tools = tab.offers.best(|source| source == Source::Library);
            tools.next().is_some()
                && self.is_shown(session, tab)
                && self.hidden(session, tab).is_none()
        })
    }

    /// The tabs that a session holds, or that are there for it alone.
    fn own_tabs(&self, session: SessionId) -> impl Iterator<Item = &Tab> {
        let browser_bindings = self
            .sessions
            .get(&session)
            .map(|known| &known.browser_bindings);
        let browsers = browser_bindings.into_iter().flatten();
        let browsers = browsers.filter_map(|browser_binding| {
            self.browsers.get(&browser_binding.browser)?.connection()
        });
        let tabs = browsers.flat_map(|browser| browser.tabs.values());
        let tabs = tabs.filter_map(|id| self.tabs.get(id));
        tabs.filter(move |tab| tab.is_held_by(session) || tab.context == Some(session))
    }
}

/// Sessions differ in few ways.
const MOST_LIST_KEYS: usize = 16;
const MOST_STALE: usize = 10_000;
