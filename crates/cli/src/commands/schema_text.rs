//! Describes a tool's schema for people: for `tabmux call TOOL --help` and `docs/tools.md`.

use serde_json::{Map, Value};

/// The meaning of an argument: the description in its schema, else `known`.
pub(crate) fn meaning(schema: &Map<String, Value>, known: &str) -> String {
    let said = schema.get("description").and_then(Value::as_str);
    let text = said.unwrap_or(known).replace('\n', " ");
    let full_stop = match text.is_empty() || text.ends_with(['.', '…']) {
        true => "",
        false => ".",
    };
    match schema.get("default") {
        Some(default) => format!("{text}{full_stop} Default: `{default}`.")
            .trim()
            .to_owned(),
        None => text + full_stop,
    }
}

/// The types that a value may have; empty if the schema does not say.
pub(crate) fn types(schema: &Map<String, Value>) -> Vec<&str> {
    let mut types: Vec<&str> = match schema.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => ["anyOf", "oneOf"]
            .iter()
            .filter_map(|key| schema.get(*key)?.as_array())
            .flatten()
            .filter_map(Value::as_object)
            .flat_map(types)
            .collect(),
    };
    types.retain(|kind| *kind != "null");
    types.dedup();
    types
}

/// The allowed texts, if the schema lists them.
pub(crate) fn choices(schema: &Map<String, Value>) -> Option<Vec<&str>> {
    let values = schema.get("enum")?.as_array()?;
    let texts: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
    (!texts.is_empty()).then_some(texts)
}

/// The arguments of a tool in the order of its schema, required ones first.
pub(crate) fn arguments(schema: &Map<String, Value>) -> Vec<Argument<'_>> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let required = schema.get("required").and_then(Value::as_array);
    let is_required =
        |name: &str| required.is_some_and(|list| list.iter().any(|item| item == name));
    let properties = properties.into_iter().flatten();
    let mut all: Vec<_> = properties
        .map(|(name, schema)| Argument {
            name,
            is_required: is_required(name),
            schema: schema.as_object().cloned().unwrap_or_default(),
        })
        .collect();
    all.sort_by_key(|argument| !argument.is_required);
    all
}

/// One argument of a tool.
#[derive(Clone, Debug)]
pub(crate) struct Argument<'a> {
    pub(crate) name: &'a str,
    pub(crate) schema: Map<String, Value>,
    pub(crate) is_required: bool,
}

/// The meaning of arguments whose schemas have no description, because an agent does not need one. The help for
/// people has it.
pub(crate) fn known(name: &str) -> &'static str {
    match name {
        "action" => "What to do with it",
        "arguments" => "The tool's arguments",
        "background" => "Keep the current page selected",
        "browserIndex" => "The number of the browser, from list_browsers",
        "dblClick" => "Click twice",
        "depth" => "Maximum depth",
        "domain" => "The cookie's domain",
        "elements" => "The fields, in order",
        "filePath" => "The file",
        "filePaths" => "Several files",
        "height" | "width" => "In CSS pixels",
        "httpOnly" => "Scripts of pages cannot read the cookie",
        "includeSnapshot" => "Whether to answer with a snapshot as well",
        "key" => "The entry's name",
        "landscape" => "Landscape orientation",
        "name" => "Its name",
        "near" => "A text in the same row, item or section",
        "overwrite" => "Replace an existing file",
        "pageIdx" => "Which part of a long list, from 0",
        "pageSize" => "How many rows at once",
        "path" => "The cookie's path",
        "role" => "Its role, as snapshots print it",
        "secure" => "Only over HTTPS",
        "tabId" => "The number of the page",
        "text" => "What to type",
        "uid" => "The element, from take_snapshot or find",
        "url" => "Where to go",
        "userAgent" => "What the browser calls itself",
        "x" => "CSS pixels from the left of the viewport",
        "y" => "CSS pixels from the top of the viewport",
        _ => "",
    }
}
