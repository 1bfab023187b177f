//! To which tab a call of a page tool goes: the smart order of `docs/specification/multi-tab.md`, or the hybrid
//! one of `docs/specification/page-proxy.md`.
//!
//! `tests/routing.txt` shows the rules by example.

use crate::TabId;

/// How the core chooses the tab for calls of page tools that name none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Routing {
    /// A tab that has the tool, preferably the active one.
    #[default]
    Smart,
    /// The active tab, whether it has the tool or not.
    Hybrid,
}

/// Why a tab was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The agent named the tab.
    Named,
    /// The session is bound to the tab.
    Bound,
    /// No other tab has the tool.
    Only,
    /// The tab is the user's active tab.
    Active,
    /// The active tab does not have the tool, and this is the first tab that registered it.
    ActiveLacks,
    /// No tab is active, and this is the first tab that registered the tool. The driver logs a warning.
    NoneActive,
}

/// What is known about a call before its tab is chosen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RoutingRequest {
    pub(crate) routing: Routing,
    pub(crate) named: Option<TabId>,
    /// The tab that the session is bound to, if it has the tool.
    pub(crate) bound: Option<TabId>,
    pub(crate) active: Option<TabId>,
}

/// The chosen tab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Route {
    pub(crate) tab: TabId,
    pub(crate) reason: Reason,
}

/// Why no tab was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoRoute {
    /// The call is for this tab, which does not have the tool.
    Lacking(TabId),
    /// No tab has it.
    Nowhere,
}

/// Chooses the tab. `available` are the tabs with the tool, in order of registration.
pub(crate) fn route(
    wanted: &RoutingRequest,
    has: impl Fn(TabId) -> bool,
    mut available: impl Iterator<Item = TabId>,
) -> Result<Route, NoRoute> {
    if let Some(tab) = wanted.named {
        return match has(tab) {
            true => Ok(Reason::Named.to(tab)),
            false => Err(NoRoute::Lacking(tab)),
        };
    }
    if let Some(tab) = wanted.bound {
        return Ok(Reason::Bound.to(tab));
    }
    let first = available.next().ok_or(NoRoute::Nowhere)?;
    let is_only = wanted.routing == Routing::Smart && available.next().is_none();
    match (wanted.active, wanted.routing) {
        _ if is_only => Ok(Reason::Only.to(first)),
        (Some(active), _) if has(active) => Ok(Reason::Active.to(active)),
        (Some(_), Routing::Smart) => Ok(Reason::ActiveLacks.to(first)),
        (Some(active), Routing::Hybrid) => Err(NoRoute::Lacking(active)),
        (None, _) => Ok(Reason::NoneActive.to(first)),
    }
}

impl Reason {
    const fn to(self, tab: TabId) -> Route {
        Route { tab, reason: self }
    }
}
