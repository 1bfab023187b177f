//! Calls of page tools, and of the tools that list them.

use super::Core;
use super::page_routing::SourceFilter;
use super::plan::Plan;
use crate::call::Task;
use crate::list::State;
use crate::offer::Source;
use crate::refusal::MOST_TABS_NAMED;
use crate::route::{NoRoute, Route};
use crate::tab::Tab;
use crate::{
    Access, CallId, CallKind, Mode, Output, Reason, Refusal, Reply, RequestedTab, SessionId, TabId,
    TabName, TabRef, ToolName, ToolRow,
};
use std::collections::BTreeSet;

impl Core {
    /// Plans calls of page tools and of the tools that list them. They take no `browserIndex` and never open a
    /// tab.
    pub(super) fn plan_page_tools(
        &mut self,
        session: SessionId,
        mode: Mode,
        kind: &CallKind,
    ) -> Result<Plan, Refusal> {
        let tool = kind.tool();
        match kind {
            CallKind::ListBrowserTabs => Ok(Plan::Answer(self.browser_tabs(session))),
            CallKind::ListPageTools { tab } => {
                let reply = self.page_tools_of(session, tab.as_ref(), mode)?;
                Ok(Plan::Answer(reply))
            }
            CallKind::PageTool { name, tab: None } if self.is_gone(session, *name) => {
                Err(Refusal::ToolGone { tool: *name })
            }
            CallKind::PageTool { name, tab } if mode == Mode::Progressive => {
                let route = self.progressive_route(session, *name, tab.as_ref())?;
                self.plan_page_tool(session, tool, *name, route)
            }
            CallKind::PageTool { name, tab } | CallKind::CallPageTool { name, tab } => {
                let route = self.needed_route(session, *name, tab.as_ref(), mode)?;
                self.plan_page_tool(session, tool, *name, route)
            }
            _ => Err(Refusal::NotOffered { tool }),
        }
    }

    /// The page tool that a call would run now.
    pub fn tool_of_call(&self, session: SessionId, kind: &CallKind) -> Option<ToolRow> {
        let mode = self.mode(session)?;
        let (name, tab) = match kind {
            CallKind::PageTool { name, tab } | CallKind::CallPageTool { name, tab } => (*name, tab),
            _ => return None,
        };
        let focused = mode == Mode::Progressive && matches!(kind, CallKind::PageTool { .. });
        let route = match focused {
            true => self.progressive_route(session, name, tab.as_ref()),
            false => self.needed_route(session, name, tab.as_ref(), mode),
        };
        let id = route.ok()?.tab;
        let is_hidden = self.hidden(session, self.tabs.get(&id)?).is_some();
        self.tool_row(session, id, name).filter(|_| !is_hidden)
    }

    pub(super) fn plan_page_tool(
        &self,
        session: SessionId,
        called: ToolName,
        name: ToolName,
        route: Route,
    ) -> Result<Plan, Refusal> {
        let Route { tab: id, reason } = route;
        let found = self.offer_in(session, id, name);
        let (tab, source, offer) = found.ok_or(Refusal::UnknownTool { tool: name })?;
        if let Some(hidden) = self.hidden(session, tab) {
            return Err(Refusal::Hidden { why: hidden.why });
        }
        let reads_only = self.sessions.get(&session);
        let reads_only = reads_only.is_some_and(|known| known.config.reading.is_some());
        if reads_only && !offer.read_only {
            return Err(Refusal::OnlyReads { tool: name });
        }
        let access = match offer.read_only {
            true => Access::Read,
            false => Access::Act,
        };
        self.check_tab(id, called, access)?;
        let browser = match source {
            Source::Library => None,
            Source::WebMcp | Source::Generated => tab.browser(),
        };
        let task = Task::PageTool {
            tab: id,
            name,
            source,
            key: offer.key,
            document: offer.document,
            access,
            reason,
        };
        Ok(Plan::Work(browser, task))
    }

    /// To which tab a call goes, or why to none.
    fn needed_route(
        &self,
        session: SessionId,
        name: ToolName,
        given: Option<&TabRef>,
        mode: Mode,
    ) -> Result<Route, Refusal> {
        let named = given.and_then(|given| self.tab_by_ref(session, given));
        if let Some(given) = given
            && named.is_none_or(|tab| self.offer_in(session, tab, name).is_none())
        {
            return Err(self.not_there(session, name, RequestedTab::Given(given.bare())));
        }
        if let Some(id) = named
            && let Some(tab) = self.tabs.get(&id)
        {
            self.check_exclusive(session, id, tab, mode)?;
        }
        self.route_of(session, name, named)
            .map_err(|why| match why {
                NoRoute::Nowhere => Refusal::UnknownTool { tool: name },
                NoRoute::Lacking(id) => self.lacking(session, name, id),
            })
    }

    /// Refuses a call whose tab does not have the tool.
    fn lacking(&self, session: SessionId, name: ToolName, id: TabId) -> Refusal {
        let known = self.tabs.get(&id);
        let tab = known.map_or_else(|| id.into(), |tab| tab.name(id));
        self.not_there(session, name, RequestedTab::Named(tab))
    }

    /// In progressive mode a session has only the tools of its focused tab and those of the page library.
    fn progressive_route(
        &self,
        session: SessionId,
        name: ToolName,
        given: Option<&TabRef>,
    ) -> Result<Route, Refusal> {
        let reason = Reason::Bound;
        if given.is_none() {
            if let Some(tab) = self.focused_tab_with(session, name) {
                return Ok(Route { tab, reason });
            }
            match self.library_route(session, name) {
                Ok(route) => return Ok(route),
                Err(NoRoute::Lacking(tab)) => return Err(self.lacking(session, name, tab)),
                Err(NoRoute::Nowhere) => {}
            }
        }
        let route = match self.needed_route(session, name, given, Mode::Progressive) {
            // The active tab does not have the tool, but another tab does.
            Err(Refusal::NoSuchToolThere { .. }) if given.is_none() => {
                let mut tabs = self.available(session, name, SourceFilter::Registered);
                let tab = tabs.next().ok_or(Refusal::UnknownTool { tool: name })?;
                Route { tab, reason }
            }
            route => route?,
        };
        let tab = route.tab;
        let offer = self.offer_in(session, tab, name);
        match self.state(session) {
            _ if offer.is_some_and(|(_, source, _)| source == Source::Library) => Ok(route),
            Some(State::Focused(focused)) if focused == tab => Ok(Route { tab, reason }),
            Some(State::Focused(_)) => Err(Refusal::NotFocused { tool: name, tab }),
            _ => Err(self.refusal(session, name)),
        }
    }

    /// Refuses a call whose tab does not have the tool, and names the tabs that do. If there are none, the tool
    /// is unknown.
    fn not_there(&self, session: SessionId, name: ToolName, tab: RequestedTab) -> Refusal {
        let (available, more) = self.available_names(session, name, MOST_TABS_NAMED);
        match available.is_empty() {
            true => Refusal::UnknownTool { tool: name },
            false => Refusal::NoSuchToolThere {
                tool: name,
                tab,
                available,
                more,
                begun: false,
            },
        }
    }

    pub(super) fn is_page_tool(&self, id: CallId) -> bool {
        self.calls
            .get(&id)
            .is_some_and(|call| matches!(call.task(), Task::PageTool { .. }))
    }

    /// Passes a call to the page that has its tool.
    pub(super) fn run_page_tool(&mut self, id: CallId) {
        let Some(call) = self.calls.get_mut(id) else {
            return;
        };
        let Task::PageTool {
            tab,
            name,
            source,
            key,
            reason,
            ..
        } = *call.task()
        else {
            return;
        };
        let tab = self.tabs.get_mut(&tab);
        if let Some(tab) = tab
            && let Some((_, offer)) = tab.offers.get(name, |whose| whose == source)
            && let Some(place) = tab.place(source)
        {
            let name = offer.given.clone();
            call.at_work = true;
            tab.last_seen = self.now;
            self.emit(Output::RunTool {
                call: id,
                place,
                tool: key,
                name,
                reason,
            });
        }
    }

    /// The page ran its tool.
    pub(super) fn ran(&mut self, session: SessionId, id: TabId, reason: Reason) -> Reply {
        if let Some(tab) = self.tabs.get_mut(&id) {
            tab.last_seen = self.now;
        }
        Reply::Done {
            tab: id,
            shared: reason == Reason::Named && self.is_shared(session, id),
        }
    }

    /// Ends a call whose tool is gone from its tab. The call is not rerouted.
    pub(super) fn fail_page_tool(&mut self, id: CallId, tab: &TabName) {
        let Some(call) = self.calls.get(&id) else {
            return;
        };
        let Task::PageTool { name, .. } = *call.task() else {
            return;
        };
        let (available, more) = self.available_names(call.session, name, MOST_TABS_NAMED);
        let refusal = Refusal::NoSuchToolThere {
            tool: name,
            tab: RequestedTab::Named(tab.clone()),
            available,
            more,
            begun: call.at_work,
        };
        self.abort(id, Reply::Refused(refusal));
    }

    /// `list_browser_tabs`: the tabs that have the page library or registered tools.
    fn browser_tabs(&self, session: SessionId) -> Reply {
        let mut rows = self.near_tabs(session).filter_map(|(id, tab)| {
            let registered = |source: Source| {
                source.is_registered() && self.can_use(session, tab.browser(), source)
            };
            let has_tools = || tab.offers.best(registered).next().is_some();
            let belongs = (tab.library.is_some() || has_tools()) && self.is_shown(session, tab);
            belongs.then(|| self.page_row(session, id, tab))
        });
        let tabs = rows.by_ref().take(MOST_ROWS).collect();
        let left_out = rows.count();
        Reply::BrowserTabs { tabs, left_out }
    }

    /// The tabs whose tools a session could have: those of its browsers and those with the page library, oldest
    /// first.
    fn near_tabs(&self, session: SessionId) -> impl Iterator<Item = (TabId, &Tab)> {
        let own = self.browsers_of(session);
        let own = own.flat_map(|browser| self.tabs_of(browser));
        let tabs: BTreeSet<_> = own.chain(self.pages.values().copied()).collect();
        let tabs = tabs.into_iter();
        tabs.filter_map(|id| Some((id, self.tabs.get(&id)?)))
    }

    /// `list_page_tools`: the tools of one tab, or all that the session can call, each in the tab where it would
    /// run.
    fn page_tools_of(
        &self,
        session: SessionId,
        given: Option<&TabRef>,
        mode: Mode,
    ) -> Result<Reply, Refusal> {
        let Some(given) = given else {
            let names = self.registry.names(self.browsers_of(session));
            let mut rows = names.into_iter().filter_map(|name| {
                let id = self.route_of(session, name, None).ok()?.tab;
                let row = self.tool_row(session, id, name)?;
                let is_hidden = self.hidden(session, self.tabs.get(&id)?).is_some();
                (!is_hidden).then_some(row)
            });
            let tools = rows.by_ref().take(MOST_ROWS).collect();
            let left_out = rows.count();
            let shown = self.near_tabs(session).map(|(_, tab)| tab);
            let shown = shown.filter(|tab| self.is_shown(session, tab));
            return Ok(page_tools(tools, left_out, shown));
        };
        let named = self.tab_by_ref(session, given);
        let named = named.and_then(|id| Some((id, self.tabs.get(&id)?)));
        let reached = named.filter(|(_, tab)| {
            let is_near = tab.library.is_some()
                || tab
                    .browser()
                    .is_some_and(|browser| self.is_connected(session, browser));
            tab.is_open() && is_near && self.is_within_reach(session, tab)
        });
        let Some((id, tab)) = reached else {
            let shown = self.near_tabs(session);
            let shown =
                shown.filter(|(_, tab)| !tab.offers.is_empty() && self.is_shown(session, tab));
            return Err(Refusal::UnknownTab {
                given: given.clone(),
                available: shown.map(|(id, tab)| tab.name(id)).collect(),
                mode,
            });
        };
        self.check_exclusive(session, id, tab, mode)?;
        if let Some(hidden) = self.hidden(session, tab) {
            return Err(Refusal::Hidden { why: hidden.why });
        }
        let tools = tab.page_tools();
        let tools = tools.filter_map(|name| self.tool_row(session, id, name));
        Ok(page_tools(tools.collect(), 0, [tab]))
    }
}

fn page_tools<'a>(
    tools: Vec<ToolRow>,
    left_out: usize,
    tabs: impl IntoIterator<Item = &'a Tab>,
) -> Reply {
    let mut sum = (0_usize, 0_usize);
    for tab in tabs {
        let (offered, generated) = tab.left_out;
        let count = |more: u32| usize::try_from(more).unwrap_or(usize::MAX);
        sum.0 = sum.0.saturating_add(count(offered));
        sum.1 = sum.1.saturating_add(count(generated));
    }
    Reply::PageTools {
        tools,
        left_out,
        not_taken: sum.0,
        not_generated: sum.1,
    }
}

const MOST_ROWS: usize = 500;
