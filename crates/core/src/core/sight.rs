//! Which tools of which pages a session can have, and which tab a call of one goes to.

use super::Core;
use super::common::PageList;
use crate::list::State;
use crate::offer::{Offer, Source};
use crate::route::{NoRoute, Route, Wish, route};
use crate::session::Seat;
use crate::tab::Tab;
use crate::{
    BrowserId, Mode, Place, SchemaId, SessionId, TabId, TabName, ToolKey, ToolName, ToolRow,
};

impl Core {
    /// The tool that a session's call of this name would run, if it names no tab: what is published under
    /// this name is that tool's.
    pub fn page_tool(&self, session: SessionId, name: ToolName) -> Option<ToolRow> {
        if self.only_tools(session).is_some() {
            return None;
        }
        let focused = self.focused_tab_with(session, name);
        let tab = focused.or_else(|| self.describing_tab(session, name))?;
        self.tool_row(session, tab, name)
    }

    /// A session's list as [`tools`](Self::tools) has it, and where each page's tool in it is: what is published
    /// under its name is that tool's. One look at each name, because there may be very many.
    pub fn tools_with_places(
        &self,
        session: SessionId,
    ) -> Vec<(ToolName, Option<(Place, ToolKey)>)> {
        let own = |name: &ToolName| (*name, None);
        let (before, after) = self.own_tools(session);
        let mut list: Vec<_> = before.map(own).collect();
        if self.only_tools(session).is_some() {
            return list;
        }
        if self.mode(session) == Some(Mode::Static) {
            let names = self.registry.names();
            list.extend(names.filter_map(|name| {
                let (tab, source, offer) = self.published(session, name)?;
                Some((name, Some((tab.place(source)?, offer.key))))
            }));
        } else {
            let names = self.listed_page_tools(session).into_iter();
            list.extend(names.filter_map(|(name, _)| {
                let row = self.page_tool(session, name)?;
                Some((name, Some((row.place, row.key))))
            }));
        }
        list.extend(after.map(own));
        list
    }

    /// What a static session's list has under a name: there is such a tool in a tab that it is shown.
    fn published(&self, session: SessionId, name: ToolName) -> Option<(&Tab, Source, &Offer)> {
        self.available(session, name, true).next()?;
        let tab = self.describing_tab(session, name)?;
        self.offer_in(session, tab, name)
    }

    /// The tab whose tool is published under this name: the one that a call would go to. In hybrid order
    /// the tab in front may lack it; then the first that has it describes it.
    fn describing_tab(&self, session: SessionId, name: ToolName) -> Option<TabId> {
        let route = self.route_of(session, name, None).ok();
        let tab = route.map(|route| route.tab);
        tab.or_else(|| self.available(session, name, true).next())
    }

    /// A tool of a tab, as a session has it.
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

    /// The page tools in a session's list, by name, and what is published of them. In progressive mode
    /// those of the focused tab, in static mode those that any page registered by itself.
    pub(super) fn listed_page_tools(&self, session: SessionId) -> PageList {
        match self.state(session) {
            Some(State::Focused(tab)) => self.tabs.get(&tab).map_or(Vec::new(), |tab| {
                if self.hidden(session, tab).is_some() {
                    return Vec::new();
                }
                let tools = tab.offers.best(|_| true);
                tools.map(|(name, _, offer)| (name, offer.schema)).collect()
            }),
            Some(_) => Vec::new(),
            None if self.only_tools(session).is_some() => Vec::new(),
            None if self.sessions.contains_key(&session) => self.union(session),
            None => Vec::new(),
        }
    }

    /// A tool is there while at least one tab that the session is shown has registered it.
    pub(super) fn union(&self, session: SessionId) -> PageList {
        let names = self.registry.names();
        names
            .filter_map(|name| self.listing(session, name))
            .collect()
    }

    /// A tool in the list of a static session, and what is published of it.
    pub(super) fn listing(
        &self,
        session: SessionId,
        name: ToolName,
    ) -> Option<(ToolName, SchemaId)> {
        let (_, _, offer) = self.published(session, name)?;
        Some((name, offer.schema))
    }

    /// Where a session's call goes. `named` is the tab that its agent named, if that can be reached.
    pub(super) fn route_of(
        &self,
        session: SessionId,
        name: ToolName,
        named: Option<TabId>,
    ) -> Result<Route, NoRoute> {
        let known = self.sessions.get(&session).ok_or(NoRoute::Nowhere)?;
        let has = |tab: TabId| self.offer_in(session, tab, name).is_some();
        let mut bound = known.seats.iter().filter_map(Seat::focused_tab);
        let is_shown = |tab: &TabId| {
            let tab = self.tabs.get(tab);
            tab.is_some_and(|tab| self.is_shown(session, tab))
        };
        let wish = Wish {
            routing: known.config.routing,
            named,
            bound: bound.find(|tab| has(*tab)),
            active: self.active.filter(is_shown),
        };
        // What pages registered goes before what was generated, in whichever tab.
        let mut registered = self.available(session, name, true).peekable();
        let is_registered = registered.peek().is_some();
        let has_this_kind = |tab: TabId| match wish.named {
            Some(_) => has(tab),
            None => self.has_offer(session, tab, name, is_registered),
        };
        match is_registered {
            true => route(&wish, has_this_kind, registered),
            false => route(&wish, has_this_kind, self.available(session, name, false)),
        }
    }

    /// The tabs with a tool that a session is shown, in order of registration.
    pub(super) fn available(
        &self,
        session: SessionId,
        name: ToolName,
        registered: bool,
    ) -> impl Iterator<Item = TabId> {
        self.registry
            .tabs(name, registered)
            .filter(move |tab| self.has_offer(session, *tab, name, registered))
    }

    /// What the tabs with a tool are called, and how many more there are than are named.
    pub(super) fn available_names(
        &self,
        session: SessionId,
        name: ToolName,
        most: usize,
    ) -> (Vec<TabName>, usize) {
        let registered = self.available(session, name, true).next().is_some();
        let mut tabs = self.available(session, name, registered);
        let named = tabs.by_ref().take(most);
        let named = named.filter_map(|id| Some(self.tabs.get(&id)?.name(id)));
        let named = named.collect();
        (named, tabs.count())
    }

    /// The tool of that name in a tab that the session can reach, shown or not.
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

    /// Tools of the library work without a browser; for others the session needs the tab's.
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

    /// The tab that a session is bound to, if it has the tool.
    pub(super) fn focused_tab_with(&self, session: SessionId, name: ToolName) -> Option<TabId> {
        match self.state(session)? {
            State::Focused(tab) => self.offer_in(session, tab, name).map(|_| tab),
            _ => None,
        }
    }

    /// Whether a tab that the session is shown has the tool, from a source of this kind.
    fn has_offer(&self, session: SessionId, id: TabId, name: ToolName, registered: bool) -> bool {
        self.tabs.get(&id).is_some_and(|tab| {
            let offer = tab.offers.get(name, |source| {
                source.is_registered() == registered && self.can_use(session, tab.browser(), source)
            });
            offer.is_some() && self.is_shown(session, tab) && self.hidden(session, tab).is_none()
        })
    }
}
