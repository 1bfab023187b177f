//! Which tabs offer which tool, in the order in which they registered it.

use crate::offer::Source;
use crate::{TabId, ToolName};
use std::collections::BTreeMap;

/// All page tools, by name.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    names: BTreeMap<ToolName, Providers>,
    /// How many offers there are.
    offers: usize,
    places_counted: u64,
}

/// The tabs that offer a tool, in order of registration.
#[derive(Debug, Default)]
pub(crate) struct Providers {
    registered: BTreeMap<u64, TabId>,
    generated: BTreeMap<u64, TabId>,
}

impl Registry {
    pub(crate) fn offers(&self) -> usize {
        self.offers
    }

    pub(crate) fn contains(&self, name: ToolName) -> bool {
        self.names.contains_key(&name)
    }

    /// How many different names there are.
    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = ToolName> {
        self.names.keys().copied()
    }

    /// The tabs where pages registered a tool, or those where it was generated, in order of registration.
    pub(crate) fn tabs(&self, name: ToolName, registered: bool) -> impl Iterator<Item = TabId> {
        let providers = self.names.get(&name);
        let tabs = providers.map(|providers| providers.of(registered).values().copied());
        tabs.into_iter().flatten()
    }

    pub(crate) fn next_place(&mut self) -> u64 {
        self.places_counted += 1;
        self.places_counted
    }

    pub(crate) fn add(&mut self, name: ToolName, source: Source, place: u64, tab: TabId) {
        self.offers += 1;
        let providers = self.names.entry(name).or_default();
        providers.of_mut(source.is_registered()).insert(place, tab);
    }

    /// Removes one offer; `stays` says whether the tab still has the tool from another source of the same kind.
    pub(crate) fn remove(&mut self, name: ToolName, source: Source, place: u64, stays: bool) {
        self.offers = self.offers.saturating_sub(1);
        let Some(providers) = self.names.get_mut(&name) else {
            return;
        };
        if !stays {
            providers.of_mut(source.is_registered()).remove(&place);
        }
        if providers.registered.is_empty() && providers.generated.is_empty() {
            self.names.remove(&name);
        }
    }
}

impl Providers {
    fn of(&self, registered: bool) -> &BTreeMap<u64, TabId> {
        match registered {
            true => &self.registered,
            false => &self.generated,
        }
    }

    fn of_mut(&mut self, registered: bool) -> &mut BTreeMap<u64, TabId> {
        match registered {
            true => &mut self.registered,
            false => &mut self.generated,
        }
    }
}
