//! A cache of the page tool lists that sessions share, updated name by name.

use super::Core;
use crate::offer::Source;
use crate::tab::Tab;
use crate::{BrowserId, Mode, SchemaId, SessionId, SiteFilter, TabId, TabPolicy, ToolName};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Page tools by name, and their published content.
pub(crate) type PageList = Vec<(ToolName, SchemaId)>;

/// The lists of sessions that hold no tab.
#[derive(Debug, Default)]
pub(super) struct SharedLists {
    lists: Vec<(ListKey, Arc<PageList>)>,
    /// The names whose entries may be out of date.
    stale: BTreeSet<ToolName>,
}

/// Everything that decides which page tools a session lists, except the tabs that it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ListKey {
    site_filter: SiteFilter,
    isolated: bool,
    /// The browsers that it is limited to, if it is.
    only_in: Option<Vec<BrowserId>>,
    mode: Mode,
    /// The browsers whose page tools it lists. Empty in progressive mode, where tabs that the session does not
    /// hold contribute only tools of the page library.
    connected: Vec<BrowserId>,
}

impl SharedLists {
    /// Whether a list is kept that has a site filter, with tools of this browser if one is given.
    pub(super) fn has_filters(&self, browser: Option<BrowserId>) -> bool {
        self.lists.iter().any(|(list_key, _)| {
            let is_of = |browser| list_key.connected.contains(&browser);
            list_key.site_filter.is_set() && browser.is_none_or(is_of)
        })
    }
}

impl Core {
    /// The same as [`listed_page_tools`](Self::listed_page_tools) and
    /// [`has_library_tools`](Self::has_library_tools), but only what changed since the last call is computed.
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
        // Sessions with the same key differ only in the tabs that they hold.
        let mut own = self.own_names(session);
        own.extend(
            self.settled(session)
                .iter()
                .flat_map(|(_, settled)| settled.names()),
        );
        if own.is_empty() {
            return common;
        }
        let others = common.iter().filter(|(name, _)| !own.contains(name));
        let mut list: PageList = others.copied().collect();
        list.extend(own.iter().filter_map(|name| self.listing(session, *name)));
        list.sort_unstable_by_key(|(name, _)| *name);
        Arc::new(list)
    }

    /// Marks a tool of a tab as changed.
    pub(super) fn touch(&mut self, name: ToolName, source: Source, tab: TabId) {
        self.edition += 1;
        match source {
            Source::Library => self.unchecked.everywhere = true,
            Source::WebMcp | Source::Generated => {
                let browser = self.tabs.get(&tab).and_then(Tab::browser);
                self.unchecked.page_tools.extend(browser);
            }
        }
        let common = &mut self.common;
        if common.stale.len() >= MOST_STALE {
            // The lists were not used for a long time.
            common.lists.clear();
            common.stale.clear();
        }
        if !common.lists.is_empty() {
            common.stale.insert(name);
        }
    }

    /// Marks a tab and its tools as changed, because its holders or its visibility changed.
    pub(super) fn touch_tab(&mut self, id: TabId) {
        self.persistence_version += 1;
        self.recheck_tab(id);
    }

    /// Marks a tab and its tools as changed for the lists of sessions.
    pub(super) fn recheck_tab(&mut self, id: TabId) {
        let Some(tab) = self.tabs.get(&id) else {
            return;
        };
        self.unchecked.browsers.extend(tab.browser());
        // Their lists may have tools that the page no longer has.
        let sessions = tab.focused_by.iter();
        self.unchecked.sessions.extend(sessions);
        let tools = tab.offers.iter();
        let tools: Vec<_> = tools.map(|(name, source, _)| (name, source)).collect();
        for (name, source) in tools {
            self.touch(name, source, id);
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
        let only_in = known.config.only_own_browsers.then(|| {
            let mut own: Vec<_> = known.browsers().collect();
            own.sort_unstable();
            own
        });
        Some(ListKey {
            site_filter: known.config.site_filter.clone(),
            isolated: known.config.isolated,
            only_in,
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
        let names = self.registry.names(list_key.connected.iter().copied());
        let list = names.into_iter();
        let list = list.filter_map(|name| Some((name, self.common_schema(&list_key, name)?)));
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

    /// What is published under a name for sessions that hold no tab: the tool of the active tab, or else of the
    /// first tab that registered it.
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
        let connected = list_key.connected.iter().copied();
        in_front.or_else(|| self.registry.registered(name, connected).find_map(seen))
    }

    /// Whether sessions that do not hold a tab see it.
    fn is_common(&self, list_key: &ListKey, tab: &Tab) -> bool {
        let shares = |holder| self.tab_policy(holder) == Some(TabPolicy::Shared);
        let is_in = |own: &Vec<_>| tab.browser().is_some_and(|browser| own.contains(&browser));
        tab.is_open()
            && tab.context.is_none()
            && !list_key.isolated
            && list_key.only_in.as_ref().is_none_or(is_in)
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

    /// The tabs that a session holds, and those in its isolated context.
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

/// In practice there are few different keys.
const MOST_LIST_KEYS: usize = 16;
const MOST_STALE: usize = 10_000;
