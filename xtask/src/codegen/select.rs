//! Selects the chosen domains of the protocol, with every type that they use.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail};

use super::{
    model::{Field, Item, ItemKind, Model, Role, Struct, Ty, TypeRef},
    names::type_case,
    schema::{Method, Property, Protocol, Shape, TypeDef},
};

/// The model of `domains`.
pub(crate) fn select(protocol: &Protocol, domains: &[&str]) -> Result<Model> {
    let mut builder = Builder {
        protocol,
        items: BTreeMap::new(),
        wanted: BTreeSet::new(),
    };
    for name in domains {
        builder.add_domain(name)?;
    }
    builder.add_wanted_types()?;
    Ok(Model::new(builder.items))
}

/// The name for an inline enumeration.
#[derive(Clone)]
struct Inline {
    name: String,
    origin: String,
}

struct Builder<'a> {
    protocol: &'a Protocol,
    items: BTreeMap<String, Vec<Item>>,
    /// Named types that something refers to: domain and name in the protocol.
    wanted: BTreeSet<(String, String)>,
}

impl<'a> Builder<'a> {
    fn add_domain(&mut self, name: &str) -> Result<()> {
        let protocol = self.protocol;
        let domain = protocol
            .domains
            .iter()
            .find(|domain| domain.name == name)
            .with_context(|| format!("the protocol has no domain {name}"))?;
        for command in domain.commands.iter().filter(|command| is_current(command)) {
            let name = type_case(&command.name);
            let response = (!command.returns.is_empty()).then(|| format!("{name}Response"));
            let origin = format!("{}.{}", domain.name, command.name);
            let fields = self.fields(&domain.name, &name, &origin, &command.parameters)?;
            let role = Role::Command(response.clone());
            self.add_struct(&domain.name, name, &origin, fields, role)?;
            if let Some(response) = response {
                let fields = self.fields(&domain.name, &response, &origin, &command.returns)?;
                self.add_struct(&domain.name, response, &origin, fields, Role::Response)?;
            }
        }
        for event in domain.events.iter().filter(|event| is_current(event)) {
            let name = type_case(&event.name);
            let origin = format!("{}.{}", domain.name, event.name);
            let fields = self.fields(&domain.name, &name, &origin, &event.parameters)?;
            self.add_struct(&domain.name, name, &origin, fields, Role::Event)?;
        }
        Ok(())
    }

    fn add_wanted_types(&mut self) -> Result<()> {
        let mut done = BTreeSet::new();
        while let Some((domain, id)) = self.wanted.difference(&done).next().cloned() {
            let definition = self.definition(&domain, &id)?;
            let name = type_case(&id);
            let origin = format!("{domain}.{id}");
            match definition.shape.kind.as_deref() {
                Some("object") => {
                    let fields =
                        self.fields(&domain, &name, &origin, &definition.shape.properties)?;
                    self.add_struct(&domain, name, &origin, fields, Role::Type)?;
                }
                Some("string") if definition.shape.values.is_empty() => {
                    self.add(&domain, name, origin, ItemKind::TextId)?;
                }
                Some("string") => {
                    let values = definition.shape.values.clone();
                    self.add(&domain, name, origin, ItemKind::OpenEnum { values })?;
                }
                Some("integer") => self.add(&domain, name, origin, ItemKind::IntegerId)?,
                Some("number") => self.add(&domain, name, origin, ItemKind::Number)?,
                other => bail!("{origin} has the unknown type {other:?}"),
            }
            done.insert((domain, id));
        }
        Ok(())
    }

    fn fields(
        &mut self,
        domain: &str,
        owner: &str,
        origin: &str,
        properties: &[Property],
    ) -> Result<Vec<Field>> {
        properties
            .iter()
            .map(|property| {
                let inline = Inline {
                    name: format!("{owner}{}", type_case(&property.name)),
                    origin: format!("{origin}.{}", property.name),
                };
                let ty = self.resolve(domain, &inline, &property.shape)?;
                Ok(Field {
                    wire: property.name.clone(),
                    ty,
                    optional: property.optional,
                })
            })
            .collect()
    }

    /// The type of a value; `inline` is the name for an enumeration without one.
    fn resolve(&mut self, domain: &str, inline: &Inline, shape: &Shape) -> Result<Ty> {
        if let Some(reference) = &shape.reference {
            let (domain, id) = reference.split_once('.').unwrap_or((domain, reference));
            return self.resolve_reference(domain, id);
        }
        Ok(match shape.kind.as_deref() {
            Some("boolean") => Ty::Bool,
            Some("integer") => Ty::Integer,
            Some("number") => Ty::Number,
            Some("string") if shape.values.is_empty() => Ty::Text,
            Some("string") => {
                let values = shape.values.clone();
                let Inline { name, origin } = inline.clone();
                self.add(domain, name.clone(), origin, ItemKind::OpenEnum { values })?;
                Ty::Named(TypeRef {
                    domain: domain.to_owned(),
                    name,
                })
            }
            Some("array") => {
                let items = shape.items.as_deref().context("an array without items")?;
                Ty::List(Box::new(self.resolve(domain, inline, items)?))
            }
            Some("any") => Ty::Json,
            Some("object") if shape.properties.is_empty() => Ty::Json,
            other => bail!("{} has the unknown type {other:?}", inline.origin),
        })
    }

    fn resolve_reference(&mut self, domain: &str, id: &str) -> Result<Ty> {
        let definition = self.definition(domain, id)?;
        let shape = &definition.shape;
        match shape.kind.as_deref() {
            // Aliases are resolved: they only add a name.
            Some("array" | "any" | "boolean") => {
                {
                    let inline = Inline {
                        name: type_case(id),
                        origin: format!("{domain}.{id}"),
                    };
                    return self.resolve(domain, &inline, shape);
                };
            }
            Some("object") if shape.properties.is_empty() => return Ok(Ty::Json),
            _ => {}
        }
        self.wanted.insert((domain.to_owned(), id.to_owned()));
        Ok(Ty::Named(TypeRef {
            domain: domain.to_owned(),
            name: type_case(id),
        }))
    }

    fn definition(&self, domain: &str, id: &str) -> Result<&'a TypeDef> {
        self.protocol
            .domains
            .iter()
            .filter(|candidate| candidate.name == domain)
            .flat_map(|candidate| &candidate.types)
            .find(|candidate| candidate.id == id)
            .with_context(|| format!("the protocol has no type {domain}.{id}"))
    }

    fn add_struct(
        &mut self,
        domain: &str,
        name: String,
        origin: &str,
        fields: Vec<Field>,
        role: Role,
    ) -> Result<()> {
        let read = matches!(role, Role::Response | Role::Event);
        let written = matches!(role, Role::Command(_));
        let kind = ItemKind::Struct(Struct {
            fields,
            role,
            read,
            written,
        });
        self.add(domain, name, origin.to_owned(), kind)
    }

    fn add(&mut self, domain: &str, name: String, origin: String, kind: ItemKind) -> Result<()> {
        let items = self.items.entry(domain.to_owned()).or_default();
        if let Some(twin) = items.iter().find(|item| item.name == name) {
            bail!("{} and {origin} both want the name {name}", twin.origin);
        }
        items.push(Item { name, origin, kind });
        Ok(())
    }
}

/// Deprecated methods have a successor in every browser that we support; redirected ones live in another domain.
fn is_current(method: &Method) -> bool {
    !method.deprecated && method.redirect.is_none()
}
