//! The tools that one tab offers, by their published names.

use crate::{DocumentId, SchemaId, ToolFacts, ToolKey, ToolName};
use std::sync::Arc;

/// Where a page tool came from. Earlier sources take precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Source {
    /// The page registered it through our library.
    Library,
    /// The page registered it through WebMCP.
    WebMcp,
    /// tabmux generated it from what the page shows.
    Generated,
}

/// The tools of one tab, sorted. A tool that several sources report is one tool, with one name.
///
/// A vector, because most tabs have few tools, there may be many tabs, and it needs the least memory.
#[derive(Debug, Default)]
pub(crate) struct Offers(Vec<((ToolName, Source), Offer)>);

/// A tool that a tab offers.
#[derive(Clone, Debug)]
pub(crate) struct Offer {
    /// The name that the page gave it.
    pub(crate) given: Arc<str>,
    pub(crate) key: ToolKey,
    pub(crate) schema: SchemaId,
    pub(crate) read_only: bool,
    /// The document that it came from.
    pub(crate) document: DocumentId,
    /// Its position in the order of registration.
    pub(crate) place: u64,
}

impl Source {
    /// Whether the page itself registered it.
    pub(crate) fn is_registered(self) -> bool {
        self != Self::Generated
    }
}

impl Offer {
    pub(crate) fn new(tool: ToolFacts, document: DocumentId, place: u64) -> Self {
        Self {
            given: tool.name,
            key: tool.key,
            schema: tool.schema,
            read_only: tool.read_only,
            document,
            place,
        }
    }
}

impl Offers {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (ToolName, Source, &Offer)> {
        self.0
            .iter()
            .map(|((name, source), offer)| (*name, *source, offer))
    }

    /// Every tool once, by name, from its best source. Sources that are not `trusted` are skipped.
    pub(crate) fn best(
        &self,
        trusted: impl Fn(Source) -> bool,
    ) -> impl Iterator<Item = (ToolName, Source, &Offer)> {
        let mut last = None;
        self.iter()
            .filter(move |(_, source, _)| trusted(*source))
            .filter(move |(name, ..)| last.replace(*name) != Some(*name))
    }

    /// A tool from its best source.
    pub(crate) fn get(
        &self,
        name: ToolName,
        trusted: impl Fn(Source) -> bool,
    ) -> Option<(Source, &Offer)> {
        let first = self.0.partition_point(|((before, _), _)| *before < name);
        let offers = self.0.get(first..)?.iter();
        let mut offers = offers.take_while(|((whose, _), _)| *whose == name);
        let ((_, source), offer) = offers.find(|((_, source), _)| trusted(*source))?;
        Some((*source, offer))
    }

    /// The name under which a source's tool is published.
    pub(crate) fn name_of(&self, source: Source, key: ToolKey) -> Option<ToolName> {
        let mut offers = self.iter();
        let (name, ..) = offers.find(|(_, whose, offer)| *whose == source && offer.key == key)?;
        Some(name)
    }

    pub(crate) fn get_mut(&mut self, name: ToolName, source: Source) -> Option<&mut Offer> {
        let place = self.place(name, source).ok()?;
        self.0.get_mut(place).map(|(_, offer)| offer)
    }

    pub(crate) fn insert(&mut self, name: ToolName, source: Source, offer: Offer) {
        let offer = ((name, source), offer);
        match self.place(name, source) {
            Ok(place) => {
                if let Some(known) = self.0.get_mut(place) {
                    *known = offer;
                }
            }
            Err(place) => {
                self.0.reserve_exact(usize::from(self.0.len() < FEW));
                self.0.insert(place, offer);
            }
        }
    }

    pub(crate) fn remove(&mut self, name: ToolName, source: Source) -> Option<Offer> {
        let place = self.place(name, source).ok()?;
        Some(self.0.remove(place).1)
    }

    /// A published name for a tool that this source calls `given`: the one that the tool has from other
    /// sources, or else one that is free in this tab and not among `ours`.
    pub(crate) fn free_name(&self, source: Source, given: &str, ours: &[ToolName]) -> ToolName {
        let said_by_others = self.iter().find(|(name, whose, offer)| {
            *whose != source && *offer.given == *given && !self.has(*name, source)
        });
        if let Some((name, ..)) = said_by_others {
            return name;
        }
        let wanted = ToolName::published(given);
        let wanted = match ours.binary_search(&wanted) {
            Ok(_) => wanted.beginning_with("page_"),
            Err(_) => wanted,
        };
        let is_taken = |name: ToolName| {
            self.get(name, |_| true).is_some() || ours.binary_search(&name).is_ok()
        };
        let numbered = (2_u32..).map(|n| wanted.ending_in(&format!("_{n}")));
        let mut names = std::iter::once(wanted).chain(numbered);
        names.find(|name| !is_taken(*name)).unwrap_or(wanted)
    }

    fn has(&self, name: ToolName, source: Source) -> bool {
        self.place(name, source).is_ok()
    }

    fn place(&self, name: ToolName, source: Source) -> Result<usize, usize> {
        self.0
            .binary_search_by_key(&(name, source), |(key, _)| *key)
    }
}

/// Up to this many tools, no spare capacity is allocated.
const FEW: usize = 4;
