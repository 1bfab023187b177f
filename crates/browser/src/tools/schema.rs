//! Turns an argument struct into the published schema: small, without noise.

use super::targets::takes_uid;
use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Map, Value};

/// The schema of a tool's arguments, as it is listed.
pub(super) fn of<T: JsonSchema>() -> Map<String, Value> {
    let mut schema = with_unlisted::<T>();
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.retain(|_, argument| argument.get(UNLISTED).is_none());
    }
    schema
}

/// The arguments that are accepted and documented, but not listed: the list has no bytes left for them. They are marked
/// with `#[schemars(extend("unlisted" = true))]`.
pub(super) fn unlisted<T: JsonSchema>() -> Map<String, Value> {
    let mut schema = with_unlisted::<T>();
    let Some(Value::Object(mut properties)) = schema.remove("properties") else {
        return Map::new();
    };
    properties.retain(|_, argument| {
        let argument = argument.as_object_mut();
        argument.is_some_and(|argument| argument.remove(UNLISTED).is_some())
    });
    properties
}

fn with_unlisted<T: JsonSchema>() -> Map<String, Value> {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value();
    tidy(&mut schema);
    let Value::Object(mut schema) = schema else {
        return Map::new();
    };
    // The tool has its own description, and rejects unknown arguments with a sentence.
    schema.remove("description");
    schema.remove("additionalProperties");
    drop_required_uids(&mut schema);
    schema
        .entry("properties")
        .or_insert_with(|| Value::Object(Map::new()));
    schema
}

/// Uids may be replaced by a role, a name and a text near.
fn drop_required_uids(schema: &mut Map<String, Value>) {
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.retain(|name| !name.as_str().is_some_and(takes_uid));
        if required.is_empty() {
            schema.remove("required");
        }
    }
    let elements = schema
        .get_mut("properties")
        .and_then(|all| all.get_mut("elements"));
    let field = elements.and_then(|elements| elements.get_mut("items"));
    if let Some(Value::Object(field)) = field {
        drop_required_uids(field);
    }
}

/// Drops Rust details: titles, integer widths, `null` for optional arguments.
fn tidy(schema: &mut Value) {
    match schema {
        Value::Array(list) => list.iter_mut().for_each(tidy),
        Value::Object(map) => {
            map.remove("title");
            if map
                .get("format")
                .and_then(Value::as_str)
                .is_some_and(is_rust_format)
            {
                map.remove("format");
            }
            if map.get("minimum").is_some_and(|least| least == 0) {
                map.remove("minimum");
            }
            if map.get("default").is_some_and(Value::is_null) {
                map.remove("default");
            }
            drop_null(map);
            let properties = map.get_mut("properties").and_then(Value::as_object_mut);
            // Keys of `properties` are argument names, not keywords.
            for schema in properties.into_iter().flatten().map(|(_, schema)| schema) {
                tidy(schema);
            }
            for (key, value) in map.iter_mut().filter(|(key, _)| *key != "properties") {
                if !matches!(key.as_str(), "enum" | "default" | "const" | "required") {
                    tidy(value);
                }
            }
        }
        _ => {}
    }
}

fn drop_null(map: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = map.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            map.insert("type".into(), only);
        }
    }
    if let Some(Value::Array(values)) = map.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    if let Some(Value::Array(choices)) = map.get_mut("anyOf") {
        choices.retain(|choice| choice["type"] != "null");
        if let [Value::Object(only)] = choices.as_mut_slice() {
            let only = std::mem::take(only);
            map.remove("anyOf");
            for (key, value) in only {
                map.entry(key).or_insert(value);
            }
        }
    }
}

const UNLISTED: &str = "unlisted";

fn is_rust_format(format: &str) -> bool {
    matches!(
        format,
        "uint8" | "uint16" | "uint32" | "uint64" | "uint" | "int32" | "int64" | "double" | "float"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A kind.
    #[derive(JsonSchema)]
    #[schemars(rename_all = "lowercase")]
    #[expect(dead_code, reason = "only its schema is looked at")]
    enum Kind {
        Png,
        Jpeg,
    }

    /// Not published.
    #[derive(JsonSchema)]
    #[schemars(rename_all = "camelCase", deny_unknown_fields)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Arguments {
        /// What to press.
        key: String,
        /// How long to wait, in milliseconds.
        #[schemars(default)]
        timeout: Option<u32>,
        kind: Option<Kind>,
        title: Option<Vec<String>>,
        /// How often.
        #[schemars(extend("unlisted" = true))]
        times: Option<u8>,
        #[schemars(extend("unlisted" = true))]
        other: Option<Kind>,
    }

    #[test]
    fn a_published_schema_carries_no_noise() {
        assert_eq!(
            Value::Object(of::<Arguments>()),
            json!({
                "type": "object",
                "properties": {
                    "key": {"type": "string", "description": "What to press."},
                    "timeout": {"type": "integer", "description": "How long to wait, in milliseconds."},
                    "kind": {"type": "string", "enum": ["png", "jpeg"], "description": "A kind."},
                    "title": {"type": "array", "items": {"type": "string"}}
                },
                "required": ["key"]
            })
        );
    }

    #[test]
    fn unlisted_arguments_are_documented_only() {
        assert_eq!(
            Value::Object(unlisted::<Arguments>()),
            json!({
                "times": {"type": "integer", "description": "How often.", "maximum": 255},
                "other": {"type": "string", "enum": ["png", "jpeg"], "description": "A kind."}
            })
        );
    }
}
