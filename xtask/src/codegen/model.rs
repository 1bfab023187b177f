//! What to generate, and in which direction each type is sent.

use std::collections::{BTreeMap, BTreeSet};

/// The items to generate, by domain, in the order of the protocol.
#[derive(Debug)]
pub(crate) struct Model {
    items: BTreeMap<String, Vec<Item>>,
}

/// One item to generate.
#[derive(Debug)]
pub(crate) struct Item {
    /// Its name in Rust.
    pub(crate) name: String,
    /// Its name in the protocol, such as `Page.navigate`.
    pub(crate) origin: String,
    pub(crate) kind: ItemKind,
}

#[derive(Debug)]
pub(crate) enum ItemKind {
    TextId,
    IntegerId,
    Number,
    OpenEnum { values: Vec<String> },
    Struct(Struct),
}

#[derive(Debug)]
pub(crate) struct Struct {
    pub(crate) fields: Vec<Field>,
    pub(crate) role: Role,
    /// Whether it arrives from the browser.
    pub(crate) read: bool,
    /// Whether it is sent to the browser.
    pub(crate) written: bool,
}

#[derive(Debug)]
pub(crate) enum Role {
    Type,
    /// With the name of its response type, if it has a response.
    Command(Option<String>),
    Response,
    Event,
}

#[derive(Debug)]
pub(crate) struct Field {
    /// The protocol's name.
    pub(crate) wire: String,
    pub(crate) ty: Ty,
    pub(crate) optional: bool,
}

/// The type of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ty {
    Bool,
    Integer,
    Number,
    Text,
    Json,
    List(Box<Self>),
    Named(TypeRef),
    /// A struct that contains its owner.
    Boxed(TypeRef),
}

/// A type of a domain, by its name in Rust.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TypeRef {
    pub(crate) domain: String,
    pub(crate) name: String,
}

impl Model {
    /// Completes a model from all its items.
    pub(super) fn new(items: BTreeMap<String, Vec<Item>>) -> Self {
        let mut model = Self { items };
        model.mark_directions();
        model.box_recursion();
        model
    }

    /// The domains that have items.
    pub(crate) fn domains(&self) -> impl Iterator<Item = &str> {
        self.items.keys().map(String::as_str)
    }

    /// The items of a domain.
    pub(crate) fn items(&self, domain: &str) -> &[Item] {
        self.items.get(domain).map_or(&[], Vec::as_slice)
    }

    /// Spreads `read` and `written` from commands, responses and events to the types they contain.
    fn mark_directions(&mut self) {
        for written in [false, true] {
            let mut queue: Vec<TypeRef> = self
                .structs()
                .filter(|(_, item)| if written { item.written } else { item.read })
                .flat_map(|(_, item)| item.contents())
                .collect();
            while let Some(next) = queue.pop() {
                let Some(item) = self.struct_mut(&next) else {
                    continue;
                };
                let mark = if written {
                    &mut item.written
                } else {
                    &mut item.read
                };
                if !*mark {
                    *mark = true;
                    queue.extend(item.contents());
                }
            }
        }
    }

    /// Boxes every field that would make a struct contain itself.
    fn box_recursion(&mut self) {
        let direct: BTreeMap<TypeRef, BTreeSet<TypeRef>> = self
            .structs()
            .map(|(name, item)| (name, item.direct_contents()))
            .collect();
        for (owner, contents) in &direct {
            for content in contents
                .iter()
                .filter(|content| reaches(&direct, content, owner))
            {
                let Some(item) = self.struct_mut(owner) else {
                    continue;
                };
                for field in &mut item.fields {
                    if field.ty == Ty::Named(content.clone()) {
                        field.ty = Ty::Boxed(content.clone());
                    }
                }
            }
        }
    }

    fn structs(&self) -> impl Iterator<Item = (TypeRef, &Struct)> {
        self.items.iter().flat_map(|(domain, items)| {
            items.iter().filter_map(|item| match &item.kind {
                ItemKind::Struct(inner) => Some((
                    TypeRef {
                        domain: domain.clone(),
                        name: item.name.clone(),
                    },
                    inner,
                )),
                _ => None,
            })
        })
    }

    fn struct_mut(&mut self, wanted: &TypeRef) -> Option<&mut Struct> {
        let items = self.items.get_mut(&wanted.domain)?;
        items
            .iter_mut()
            .filter(|item| item.name == wanted.name)
            .find_map(|item| match &mut item.kind {
                ItemKind::Struct(inner) => Some(inner),
                _ => None,
            })
    }
}

impl Struct {
    fn contents(&self) -> Vec<TypeRef> {
        self.fields
            .iter()
            .filter_map(|field| field.ty.leaf().cloned())
            .collect()
    }

    fn direct_contents(&self) -> BTreeSet<TypeRef> {
        self.fields
            .iter()
            .filter_map(|field| match &field.ty {
                Ty::Named(name) => Some(name.clone()),
                _ => None,
            })
            .collect()
    }
}

impl Ty {
    /// The named type inside, under any lists.
    pub(crate) fn leaf(&self) -> Option<&TypeRef> {
        match self {
            Self::List(item) => item.leaf(),
            Self::Named(name) | Self::Boxed(name) => Some(name),
            _ => None,
        }
    }
}

fn reaches(graph: &BTreeMap<TypeRef, BTreeSet<TypeRef>>, from: &TypeRef, goal: &TypeRef) -> bool {
    let mut seen = BTreeSet::new();
    let mut queue = vec![from];
    while let Some(next) = queue.pop() {
        if next == goal {
            return true;
        }
        if seen.insert(next) {
            queue.extend(graph.get(next).into_iter().flatten());
        }
    }
    false
}
