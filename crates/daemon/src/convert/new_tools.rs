//! The note in an answer that names generated tools which appeared since the list last changed.

use crate::record::Record;
use serde_json::{Map, Value};
use std::sync::Arc;
use tabmux_core::ToolName;
use tabmux_text::one_line;

/// One line for each tool, with its arguments. None if there are no tools. `in_steps`: they can also be steps of
/// `run_steps`, which helps clients that call only what is listed.
pub(crate) fn new_tools(tools: &[(ToolName, Arc<Record>)], in_steps: bool) -> Option<String> {
    let mut text = format!("{HEADING}{}:", if in_steps { IN_STEPS } else { "" });
    for (name, record) in tools {
        let arguments = arguments(&record.shared.text.read_schema());
        text.push_str(&format!(
            "\n{name}({})",
            one_line(&arguments, MOST_ARGUMENTS)
        ));
    }
    (!tools.is_empty()).then_some(text)
}

/// Whether a part of an answer is such a note.
pub(crate) fn names_new_tools(text: &str) -> bool {
    text.starts_with(HEADING)
}

/// `from, to, date: date, adults?: number`: the names, then the types of what is not text; `?` marks the optional ones.
fn arguments(schema: &Map<String, Value>) -> String {
    let properties = schema.get("properties").and_then(Value::as_object);
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| {
        required.is_some_and(|required| required.iter().any(|one| one.as_str() == Some(name)))
    };
    let arguments = properties.into_iter().flatten().map(|(name, about)| {
        let optional = if is_required(name) { "" } else { "?" };
        let kind = about.get("format").or_else(|| about.get("type"));
        match kind.and_then(Value::as_str).unwrap_or("string") {
            "string" => format!("{name}{optional}"),
            kind => format!("{name}{optional}: {kind}"),
        }
    });
    arguments.collect::<Vec<_>>().join(", ")
}

const HEADING: &str = "New page tools, which can be called by name";
const IN_STEPS: &str = " or in run_steps";
const MOST_ARGUMENTS: usize = 160;

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn arguments_are_names_and_unusual_types() {
        let schema = json!({
            "type": "object",
            "properties": {
                "from": {"type": "string"},
                "date": {"type": "string", "format": "date"},
                "adults": {"type": "number"},
            },
            "required": ["from", "date"],
        });
        let Value::Object(schema) = schema else {
            unreachable!()
        };
        assert_eq!(arguments(&schema), "from, date: date, adults?: number");
        assert_eq!(arguments(&Map::new()), "");
    }
}
