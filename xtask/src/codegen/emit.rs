//! Prints the model as Rust.

use std::fmt::Write;

use super::{
    model::{Field, Item, ItemKind, Model, Role, Struct, Ty, TypeRef},
    names::{constant_case, escape, serde_camel_case, snake_case},
};

/// The file that declares the domains' modules.
pub(crate) fn index(model: &Model) -> String {
    let mut out = format!("//! The protocol, a module per domain. {NOTICE}\n\n");
    out.push_str(
        "#![expect(missing_docs, reason = \"the protocol's own documentation describes the fields\")]\n\n",
    );
    for domain in model.domains() {
        _ = writeln!(out, "pub mod {};", snake_case(domain));
    }
    out
}

/// The file of one domain.
pub(crate) fn domain(model: &Model, domain: &str) -> String {
    let mut body = String::new();
    for item in model.items(domain) {
        emit_item(&mut body, domain, item);
    }
    let mut out = format!("//! The domain `{domain}`. {NOTICE}\n\n");
    emit_imports(&mut out, &body);
    out.push_str(&body);
    out
}

fn emit_imports(out: &mut String, body: &str) {
    for (prefix, names) in [
        ("serde", [("Serialize", ", Serialize)")].as_slice()),
        (
            "crate",
            [
                ("Command", "impl Command for"),
                ("Empty", "= Empty;"),
                ("Event", "impl Event for"),
                ("Json", "Json"),
            ]
            .as_slice(),
        ),
        (
            "crate::lenient::object",
            [("readable", "readable! {")].as_slice(),
        ),
        (
            "crate::newtypes",
            [
                ("integer_id", "integer_id!"),
                ("number", "number!"),
                ("open_enum", "open_enum!"),
                ("text_id", "text_id!"),
            ]
            .as_slice(),
        ),
    ] {
        let used: Vec<&str> = names
            .iter()
            .filter(|(_, needle)| body.contains(needle))
            .map(|(name, _)| *name)
            .collect();
        match used.as_slice() {
            [] => {}
            [name] => _ = writeln!(out, "use {prefix}::{name};"),
            names => _ = writeln!(out, "use {prefix}::{{{}}};", names.join(", ")),
        }
    }
    out.push('\n');
}

fn emit_item(out: &mut String, domain: &str, item: &Item) {
    let Item { name, origin, kind } = item;
    match kind {
        ItemKind::TextId => _ = writeln!(out, "text_id!(/** `{origin}` */ {name});\n"),
        ItemKind::IntegerId => _ = writeln!(out, "integer_id!(/** `{origin}` */ {name});\n"),
        ItemKind::Number => _ = writeln!(out, "number!(/** `{origin}` */ {name});\n"),
        ItemKind::OpenEnum { values } => {
            _ = writeln!(out, "open_enum! {{\n    /** `{origin}` */ {name} {{");
            for value in values {
                _ = writeln!(out, "        {} = {value:?},", constant_case(value));
            }
            out.push_str("    }\n}\n\n");
        }
        ItemKind::Struct(inner) => emit_struct(out, domain, item, inner),
    }
}

fn emit_struct(out: &mut String, domain: &str, item: &Item, inner: &Struct) {
    let Item { name, origin, .. } = item;
    let noun = match inner.role {
        Role::Type => "The type",
        Role::Command(_) => "The command",
        Role::Response => "The answer to",
        Role::Event => "The event",
    };
    let serialize = if inner.written { ", Serialize" } else { "" };
    _ = writeln!(
        out,
        "/// {noun} `{origin}`.\n#[derive(Debug, Clone, Default{serialize})]"
    );
    if inner.written && !inner.fields.is_empty() {
        out.push_str("#[serde(rename_all = \"camelCase\")]\n");
    }
    _ = writeln!(out, "pub struct {name} {{");
    for field in &inner.fields {
        emit_field(out, domain, name, inner, field);
    }
    out.push_str("}\n\n");
    if inner.read {
        emit_reading(out, name, inner);
    }
    match &inner.role {
        Role::Command(response) => {
            let response = response.as_deref().unwrap_or("Empty");
            _ = writeln!(
                out,
                "impl Command for {name} {{\n    const METHOD: &'static str = {origin:?};\n    type Response = {response};\n}}\n"
            );
        }
        Role::Event => {
            _ = writeln!(
                out,
                "impl Event for {name} {{\n    const METHOD: &'static str = {origin:?};\n}}\n"
            );
        }
        Role::Type | Role::Response => {}
    }
}

fn emit_field(out: &mut String, domain: &str, owner_name: &str, owner: &Struct, field: &Field) {
    let name = snake_case(&field.wire);
    let mut attributes = Vec::new();
    if owner.written && serde_camel_case(&name) != field.wire {
        attributes.push(format!("rename = {:?}", field.wire));
    }
    if owner.written && field.optional {
        attributes.push("skip_serializing_if = \"Option::is_none\"".to_owned());
    }
    if !attributes.is_empty() {
        _ = writeln!(out, "    #[serde({})]", attributes.join(", "));
    }
    let ty = rust_type(&field.ty, domain, owner_name);
    let ty = if field.optional {
        format!("Option<{ty}>")
    } else {
        ty
    };
    _ = writeln!(out, "    pub {}: {ty},", escape(&name));
}

/// The names of the fields on the wire, for reading. In braces, so that rustfmt does not reformat it.
fn emit_reading(out: &mut String, name: &str, inner: &Struct) {
    _ = write!(out, "readable! {{ {name} {{");
    let mut column = WIDTH;
    for field in &inner.fields {
        let entry = format!("{}: {:?},", escape(&snake_case(&field.wire)), field.wire);
        if column + entry.len() >= WIDTH {
            out.push_str("\n   ");
            column = 3;
        }
        column += entry.len() + 1;
        _ = write!(out, " {entry}");
    }
    if !inner.fields.is_empty() {
        out.push('\n');
    }
    out.push_str("} }\n\n");
}

fn rust_type(ty: &Ty, domain: &str, owner: &str) -> String {
    match ty {
        Ty::Bool => "bool".to_owned(),
        Ty::Integer => "i64".to_owned(),
        Ty::Number => "f64".to_owned(),
        Ty::Text => "String".to_owned(),
        Ty::Json => "Json".to_owned(),
        Ty::List(item) => format!("Vec<{}>", rust_type(item, domain, owner)),
        Ty::Named(name) => path(name, domain, owner),
        Ty::Boxed(name) => format!("Box<{}>", path(name, domain, owner)),
    }
}

fn path(name: &TypeRef, domain: &str, owner: &str) -> String {
    if name.domain != domain {
        format!("super::{}::{}", snake_case(&name.domain), name.name)
    } else if name.name == owner {
        "Self".to_owned()
    } else {
        name.name.clone()
    }
}

/// How long a line may be.
const WIDTH: usize = 100;

const NOTICE: &str = "Generated by `cargo xtask codegen`; do not edit.";
