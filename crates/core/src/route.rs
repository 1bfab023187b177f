//! Where a call of a page tool goes: seed 000's smart order, or seed 001's hybrid one.
//!
//! The rules by example are in `tests/routing.txt`.

use crate::TabId;

/// How calls of page tools that name no tab find theirs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Routing {
    /// To a tab that has the tool, the one in front if it is among them.
    #[default]
    Smart,
    /// To the tab in front, whether it has the tool or not.
    Hybrid,
}

/// Why a call goes to the tab that it goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The agent named the tab.
    Named,
    /// The session is bound to the tab.
    Bound,
    /// No other tab has the tool.
    Only,
    /// The user has the tab in front.
    Active,
    /// The tab in front does not have the tool, and this is the first that registered it.
    ActiveLacks,
    /// No tab is in front, and this is the first that registered the tool. Worth a warning in the log.
    NoneActive,
}

/// What is known about a call before its way is chosen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RoutingRequest {
    pub(crate) routing: Routing,
    pub(crate) named: Option<TabId>,
    /// The tab with the tool that the session is bound to.
    pub(crate) bound: Option<TabId>,
    pub(crate) active: Option<TabId>,
}

/// The way of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Route {
    pub(crate) tab: TabId,
    pub(crate) reason: Reason,
}

/// Why there is no way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoRoute {
    /// This tab is meant, and does not have the tool.
    Lacking(TabId),
    /// No tab has it.
    Nowhere,
}

/// Chooses the tab. `available` are those with the tool, in order of registration.
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
