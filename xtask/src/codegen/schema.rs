//! The protocol's own description, as the npm package `devtools-protocol` has it.

use serde::Deserialize;

/// All domains.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Protocol {
    pub(crate) domains: Vec<Domain>,
}

/// A domain, such as `Page`.
#[derive(Debug, Deserialize)]
pub(crate) struct Domain {
    #[serde(rename = "domain")]
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) types: Vec<TypeDef>,
    #[serde(default)]
    pub(crate) commands: Vec<Method>,
    #[serde(default)]
    pub(crate) events: Vec<Method>,
}

/// A named type.
#[derive(Debug, Deserialize)]
pub(crate) struct TypeDef {
    pub(crate) id: String,
    #[serde(flatten)]
    pub(crate) shape: Shape,
}

/// A command or an event.
#[derive(Debug, Deserialize)]
pub(crate) struct Method {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) parameters: Vec<Property>,
    #[serde(default)]
    pub(crate) returns: Vec<Property>,
    #[serde(default)]
    pub(crate) deprecated: bool,
    /// Set when another domain took the command over.
    pub(crate) redirect: Option<String>,
}

/// A field.
#[derive(Debug, Deserialize)]
pub(crate) struct Property {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) optional: bool,
    #[serde(flatten)]
    pub(crate) shape: Shape,
}

/// What a value looks like: a reference, or a kind with its details.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Shape {
    #[serde(rename = "$ref")]
    pub(crate) reference: Option<String>,
    #[serde(rename = "type")]
    pub(crate) kind: Option<String>,
    #[serde(rename = "enum", default)]
    pub(crate) values: Vec<String>,
    pub(crate) items: Option<Box<Self>>,
    #[serde(default)]
    pub(crate) properties: Vec<Property>,
}
