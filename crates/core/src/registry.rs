//! Which tabs offer which tool, in the order in which they registered it.

use crate::offer::Source;
use crate::{BrowserId, TabId, ToolName};
use std::collections::{BTreeMap, BTreeSet, btree_map};
use std::iter::Peekable;

/// All page tools, by name.
///
/// Tools of the page library are tools of every session, others only of sessions in the browser of their tab. They are
/// kept apart, so that a session's call looks only at tools that it can have.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    library: Names,
    browsers: BTreeMap<BrowserId, Names>,
    /// How often each name is offered.
    names: BTreeMap<ToolName, usize>,
    /// How many offers there are.
    offers: usize,
    places_counted: u64,
}

type Names = BTreeMap<ToolName, Providers>;

/// The tabs that offer a tool, in order of registration.
#[derive(Debug, Default)]
struct Providers {
    registered: Tabs,
    generated: Tabs,
}

type Tabs = BTreeMap<u64, TabId>;

/// Whose tools: those of the page library, or those of a browser's tabs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    Library,
    Browser(BrowserId),
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

    /// The names of the page library's tools.
    pub(crate) fn library_names(&self) -> impl Iterator<Item = ToolName> {
        self.library.keys().copied()
    }

    /// The names of the page library's tools and of those in these browsers.
    pub(crate) fn names(
        &self,
        browsers: impl IntoIterator<Item = BrowserId>,
    ) -> BTreeSet<ToolName> {
        let browsers = browsers.into_iter();
        let names = browsers.filter_map(|browser| self.browsers.get(&browser));
        let names = names.flat_map(Names::keys).chain(self.library.keys());
        names.copied().collect()
    }

    /// The tabs where pages registered a tool, through the library or in these browsers, in order of registration.
    pub(crate) fn registered(
        &self,
        name: ToolName,
        browsers: impl IntoIterator<Item = BrowserId>,
    ) -> impl Iterator<Item = TabId> {
        let providers = self.of_browsers(name, browsers);
        let providers = providers.chain(self.library.get(&name));
        InOrder::of(providers.map(|providers| &providers.registered))
    }

    /// The tabs where a tool was generated, in order of registration.
    pub(crate) fn generated(
        &self,
        name: ToolName,
        browsers: impl IntoIterator<Item = BrowserId>,
    ) -> impl Iterator<Item = TabId> {
        let providers = self.of_browsers(name, browsers);
        InOrder::of(providers.map(|providers| &providers.generated))
    }

    fn of_browsers(
        &self,
        name: ToolName,
        browsers: impl IntoIterator<Item = BrowserId>,
    ) -> impl Iterator<Item = &Providers> {
        let browsers = browsers.into_iter();
        browsers.filter_map(move |browser| self.browsers.get(&browser)?.get(&name))
    }

    pub(crate) fn next_place(&mut self) -> u64 {
        self.places_counted += 1;
        self.places_counted
    }

    pub(crate) fn add(
        &mut self,
        name: ToolName,
        owner: Owner,
        source: Source,
        place: u64,
        tab: TabId,
    ) {
        self.offers += 1;
        *self.names.entry(name).or_default() += 1;
        let names = match owner {
            Owner::Library => &mut self.library,
            Owner::Browser(browser) => self.browsers.entry(browser).or_default(),
        };
        let providers = names.entry(name).or_default();
        providers.of_mut(source).insert(place, tab);
    }

    /// Removes one offer.
    pub(crate) fn remove(&mut self, name: ToolName, owner: Owner, source: Source, place: u64) {
        self.offers = self.offers.saturating_sub(1);
        if let btree_map::Entry::Occupied(mut count) = self.names.entry(name) {
            *count.get_mut() -= 1;
            if *count.get() == 0 {
                count.remove();
            }
        }
        match owner {
            Owner::Library => forget(&mut self.library, name, source, place),
            Owner::Browser(browser) => {
                if let Some(names) = self.browsers.get_mut(&browser) {
                    forget(names, name, source, place);
                    if names.is_empty() {
                        self.browsers.remove(&browser);
                    }
                }
            }
        }
    }
}

fn forget(names: &mut Names, name: ToolName, source: Source, place: u64) {
    if let Some(providers) = names.get_mut(&name) {
        providers.of_mut(source).remove(&place);
        if providers.registered.is_empty() && providers.generated.is_empty() {
            names.remove(&name);
        }
    }
}

impl Providers {
    fn of_mut(&mut self, source: Source) -> &mut Tabs {
        match source.is_registered() {
            true => &mut self.registered,
            false => &mut self.generated,
        }
    }
}

/// The tabs of several tables in one order. A tab that has a tool twice, from the library and from WebMCP, has one
/// place in that order.
struct InOrder<'a> {
    tables: Vec<Peekable<btree_map::Iter<'a, u64, TabId>>>,
}

impl<'a> InOrder<'a> {
    fn of(tables: impl Iterator<Item = &'a Tabs>) -> Self {
        let tables = tables.map(|tabs| tabs.iter().peekable());
        Self {
            tables: tables.collect(),
        }
    }
}

impl Iterator for InOrder<'_> {
    type Item = TabId;

    fn next(&mut self) -> Option<TabId> {
        let tables = self.tables.iter_mut();
        let (place, tab) = tables.filter_map(|tabs| tabs.peek().copied()).min()?;
        for tabs in &mut self.tables {
            tabs.next_if(|(other, _)| *other == place);
        }
        Some(*tab)
    }
}
