//! Turns an argument struct into the published schema: small, without noise.

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Map, Value};

/// The schema of a tool's arguments.
pub(super) fn of<T: JsonSchema>() -> Map<String, Value> {
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
    schema
        .entry("properties")
        .or_insert_with(|| Value::Object(Map::new()));
    schema
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
}
