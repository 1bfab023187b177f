//! Which page tools a session has, and to which tab a call of one goes.

use super::Core;
use super::shared_lists::PageList;
use crate::list::State;
use crate::offer::{Offer, Source};
use crate::route::{NoRoute, Route, RoutingRequest, route};
use crate::session::BrowserBinding;
use crate::tab::Tab;
use crate::{
    BrowserId, Mode, SchemaId, SessionId, TabId, TabLocation, TabName, ToolKey, ToolName, ToolRow,
};
use std::collections::BTreeSet;

impl Core {
    /// The tool that a session's call of this name would run if it names no tab. Its schema and description are
    /// published under this name.
    pub fn page_tool(&self, session: SessionId, name: ToolName) -> Option<ToolRow> {
        if self.only_tools(session).is_some() {
            return None;
        }
        let tab = self.publishing_tab(session, name);
        let tab = tab.or_else(|| self.describing_tab(session, name))?;
        self.tool_row(session, tab, name)
    }

    /// A session's list as in [`tools`](Self::tools), with the tab and key of each page tool. Each name is looked
    /// up once, because there may be very many.
    pub fn tools_with_places(
        &self,
        session: SessionId,
    ) -> Vec<(ToolName, Option<(TabLocation, ToolKey)>)> {
        let own = |name: &ToolName| (*name, None);
        let (before, after) = self.own_tools(session);
        if self.only_tools(session).is_some() {
            return before.map(own).collect();
        }
        let names = self.names_to_list(session).into_iter();
        let of_pages = names.filter_map(|name| {
            let entry = self.entry_of(session, name)?;
            Some((name, Some((entry.place?, entry.key))))
        });
        let mut list: Vec<_> = before.map(own).chain(of_pages).collect();
        if self.has_library_tools(session) {
            list.push(own(&ToolName::LIST_BROWSER_TABS));
        }
        list.extend(after.map(own));
        list
    }

    /// The page tool that a session's list has under a name.
    fn published(&self, session: SessionId, name: ToolName) -> Option<(&Tab, Source, &Offer)> {
        let tab = self.publishing_tab(session, name)?;
        self.offer_in(session, tab, name)
    }

    /// The tab whose tool is in a session's list under this name. In static mode any visible tab may have
    /// registered it. In progressive mode it is a tool of the focused tab, or one of the page library, which
    /// is listed in every state.
    fn publishing_tab(&self, session: SessionId, name: ToolName) -> Option<TabId> {
        match self.mode(session)? {
            Mode::Static => {
                self.available(session, name, SourceFilter::Registered)
                    .next()?;
                self.describing_tab(session, name)
            }
            Mode::Progressive => {
                let focused = self.focused_tab_with(session, name);
                focused.or_else(|| self.library_tab(session, name))
            }
        }
    }

    /// The tab whose tool of the page library a call without a tab would run.
    fn library_tab(&self, session: SessionId, name: ToolName) -> Option<TabId> {
        let route = self.library_route(session, name).ok();
        let tab = route.map(|route| route.tab);
        tab.or_else(|| self.available(session, name, SourceFilter::Library).next())
    }

    /// Whether a progressive session lists a tool of the page library.
    pub(super) fn has_library_tools(&self, session: SessionId) -> bool {
        let mut names = self.registry.library_names();
        self.mode(session) == Some(Mode::Progressive)
            && names.any(|name| {
                let mut tabs = self.available(session, name, SourceFilter::Library);
                tabs.next().is_some()
            })
    }

    /// The tab whose tool is published under this name: the one that a call would go to. In hybrid routing the
    /// active tab may lack the tool; then it is the first tab that has it.
    fn describing_tab(&self, session: SessionId, name: ToolName) -> Option<TabId> {
        let route = self.route_of(session, name, None).ok();
        let tab = route.map(|route| route.tab);
        tab.or_else(|| {
            self.available(session, name, SourceFilter::Registered)
                .next()
        })
    }

    /// A tool of a tab, as a session sees it.
    pub(super) fn tool_row(
        &self,
        session: SessionId,
        id: TabId,
        name: ToolName,
    ) -> Option<ToolRow> {
        let (tab, source, offer) = self.offer_in(session, id, name)?;
        Some(ToolRow {
            name,
            tab: id,
            tab_name: tab.name(id),
            url: tab.url.clone(),
            place: tab.place(source)?,
            key: offer.key,
            schema: offer.schema,
            source,
            read_only: offer.read_only,
        })
    }

    /// The page tools in a session's list, by name, and their published content.
    pub(super) fn listed_page_tools(&self, session: SessionId) -> PageList {
        if self.only_tools(session).is_some() {
            return Vec::new();
        }
        let names = self.names_to_list(session).into_iter();
        names
            .filter_map(|name| self.listing(session, name))
            .collect()
    }

    /// The names of all page tools that a session could have, and of those that it lists although they are gone.
    fn names_to_list(&self, session: SessionId) -> BTreeSet<ToolName> {
        let mut names = self.registry.names(self.browsers_of(session));
        if let Some((_, settled)) = self.settled(session) {
            names.extend(settled.names());
        }
        names
    }

    /// A page tool in a session's list, and its published content.
    pub(super) fn listing(
        &self,
        session: SessionId,
        name: ToolName,
    ) -> Option<(ToolName, SchemaId)> {
        let entry = self.entry_of(session, name)?;
        Some((name, entry.schema))
    }

    /// A page tool in a session's list. Generated tools are listed as they were when the list last changed.
    fn entry_of(&self, session: SessionId, name: ToolName) -> Option<ListEntry> {
        let live = self.published(session, name);
        let is_registered = live.is_some_and(|(_, source, _)| source.is_registered());
        match self.settled(session) {
            Some((tab, settled)) if !is_registered => {
                let listed = settled.get(name)?;
                Some(ListEntry {
                    place: tab.place(Source::Generated),
                    key: live.map_or(listed.key, |(_, _, offer)| offer.key),
                    schema: listed.schema,
                })
            }
            _ => {
                let (tab, source, offer) = live?;
                Some(ListEntry {
                    place: tab.place(source),
                    key: offer.key,
                    schema: offer.schema,
                })
            }
        }
    }

    /// To which tab a session's call goes. `named` is the tab that its agent named, if it can be reached.
    pub(super) fn route_of(
        &self,
        session: SessionId,
        name: ToolName,
        named: Option<TabId>,
    ) -> Result<Route, NoRoute> {
        let known = self.sessions.get(&session).ok_or(NoRoute::Nowhere)?;
        let has = |tab: TabId| self.offer_in(session, tab, name).is_some();
        let mut bound = known
            .browser_bindings
            .iter()
            .filter_map(BrowserBinding::focused_tab);
        let is_shown = |tab: &TabId| {
            let tab = self.tabs.get(tab);
            tab.is_some_and(|tab| self.is_shown(session, tab))
        };
        let wanted = RoutingRequest {
            routing: known.config.routing,
            named,
            bound: bound.find(|tab| has(*tab)),
            active: self.active.filter(is_shown),
        };
        // Registered tools take precedence over generated ones, in all tabs.
        let mut registered = self
            .available(session, name, SourceFilter::Registered)
            .peekable();
        let sources = match registered.peek() {
            Some(_) => SourceFilter::Registered,
            None => SourceFilter::Generated,
        };
        let has_this_kind = |tab: TabId| match wanted.named {
            Some(_) => has(tab),
            None => self.has_offer(session, tab, name, sources),
        };
        match sources {
            SourceFilter::Generated => route(
                &wanted,
                has_this_kind,
                self.available(session, name, sources),
            ),
            _ => route(&wanted, has_this_kind, registered),
        }
    }

    /// To which tab a call of a tool of the page library goes, if it names no tab. The bound tab is ignored.
    pub(super) fn library_route(
        &self,
        session: SessionId,
        name: ToolName,
    ) -> Result<Route, NoRoute> {
        let known = self.sessions.get(&session).ok_or(NoRoute::Nowhere)?;
        let is_shown = |tab: &TabId| {
            let tab = self.tabs.get(tab);
            tab.is_some_and(|tab| self.is_shown(session, tab))
        };
        let wanted = RoutingRequest {
            routing: known.config.routing,
            named: None,
            bound: None,
            active: self.active.filter(is_shown),
        };
        let has = |tab: TabId| self.has_offer(session, tab, name, SourceFilter::Library);
        route(
            &wanted,
            has,
            self.available(session, name, SourceFilter::Library),
        )
    }

    /// The tabs with a tool that a session sees, in order of registration.
    pub(super) fn available(
        &self,
        session: SessionId,
        name: ToolName,
        sources: SourceFilter,
    ) -> impl Iterator<Item = TabId> {
        let browsers = match sources {
            SourceFilter::Library => None,
            SourceFilter::Registered | SourceFilter::Generated => Some(self.browsers_of(session)),
        };
        let browsers = browsers.into_iter().flatten();
        let (registered, generated) = match sources {
            SourceFilter::Generated => (None, Some(self.registry.generated(name, browsers))),
            _ => (Some(self.registry.registered(name, browsers)), None),
        };
        let tabs = registered.into_iter().flatten();
        let tabs = tabs.chain(generated.into_iter().flatten());
        tabs.filter(move |tab| self.has_offer(session, *tab, name, sources))
    }

    /// The names of at most `most` tabs with a tool, and how many more there are.
    pub(super) fn available_names(
        &self,
        session: SessionId,
        name: ToolName,
        most: usize,
    ) -> (Vec<TabName>, usize) {
        let mut registered = self.available(session, name, SourceFilter::Registered);
        let sources = match registered.next() {
            Some(_) => SourceFilter::Registered,
            None => SourceFilter::Generated,
        };
        let mut tabs = self.available(session, name, sources);
        let named = tabs.by_ref().take(most);
        let named = named.filter_map(|id| Some(self.tabs.get(&id)?.name(id)));
        let named = named.collect();
        (named, tabs.count())
    }

    /// The tool of this name in a tab that the session can use, visible or not.
    pub(super) fn offer_in(
        &self,
        session: SessionId,
        id: TabId,
        name: ToolName,
    ) -> Option<(&Tab, Source, &Offer)> {
        let tab = self.tabs.get(&id)?;
        if !tab.is_open() || !self.is_within_reach(session, tab) {
            return None;
        }
        let (source, offer) = tab
            .offers
            .get(name, |source| self.can_use(session, tab.browser(), source))?;
        Some((tab, source, offer))
    }

    /// Whether a session can use tools of a source. Tools of the library work without a browser; for others the
    /// session must be connected to the tab's browser.
    pub(super) fn can_use(
        &self,
        session: SessionId,
        browser: Option<BrowserId>,
        source: Source,
    ) -> bool {
        let is_wanted = || {
            let known = self.sessions.get(&session);
            source != Source::Generated || known.is_some_and(|known| known.config.generated_tools)
        };
        source == Source::Library
            || is_wanted() && browser.is_some_and(|browser| self.is_connected(session, browser))
    }

    /// The focused tab of a progressive session, if it has the tool and the session may see the page.
    pub(super) fn focused_tab_with(&self, session: SessionId, name: ToolName) -> Option<TabId> {
        let State::Focused(id) = self.state(session)? else {
            return None;
        };
        let (tab, ..) = self.offer_in(session, id, name)?;
        self.hidden(session, tab).is_none().then_some(id)
    }

    /// Whether the session sees the tab and the tab has the tool from one of these sources.
    fn has_offer(
        &self,
        session: SessionId,
        id: TabId,
        name: ToolName,
        sources: SourceFilter,
    ) -> bool {
        self.tabs.get(&id).is_some_and(|tab| {
            let offer = tab.offers.get(name, |source| {
                sources.contains(source) && self.can_use(session, tab.browser(), source)
            });
            offer.is_some() && self.is_shown(session, tab) && self.hidden(session, tab).is_none()
        })
    }
}

/// A page tool in a session's list.
struct ListEntry {
    place: Option<TabLocation>,
    key: ToolKey,
    schema: SchemaId,
}

/// Which sources of tools to look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SourceFilter {
    /// Only the page library.
    Library,
    /// Tools that pages registered, through the library or WebMCP.
    Registered,
    /// Generated tools.
    Generated,
}

impl SourceFilter {
    fn contains(self, source: Source) -> bool {
        match self {
            Self::Library => source == Source::Library,
            Self::Registered => source.is_registered(),
            Self::Generated => !source.is_registered(),
        }
    }
}
