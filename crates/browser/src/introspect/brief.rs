//! How generated tools are listed: short, because every agent reads the whole list. `list_page_tools` shows them in full.

use super::propose::GeneratedTool;
use serde_json::{Map, Value, json};

/// The short form of a tool, for lists.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Brief {
    pub(crate) description: String,
    pub(crate) schema: Value,
}

/// Shortens the largest tools until all together cost no more than [`AVERAGE`] bytes each, as far as possible.
pub(crate) fn fit(tools: &mut [GeneratedTool]) {
    let budget = (tools.len() * AVERAGE).max(LONE);
    let mut candidates: Vec<_> = tools.iter().map(|tool| Candidate::new(tool, 0)).collect();
    let mut sum: usize = candidates.iter().map(|candidate| candidate.bytes).sum();
    while sum > budget {
        let can_shrink = candidates.iter_mut().zip(&*tools);
        let can_shrink = can_shrink.filter(|(candidate, _)| candidate.level < MAX_LEVEL);
        let Some((largest, tool)) = can_shrink.max_by_key(|(candidate, _)| candidate.bytes) else {
            break;
        };
        sum -= largest.bytes;
        *largest = Candidate::new(tool, largest.level + 1);
        sum += largest.bytes;
    }
    let briefs: Vec<_> = candidates.into_iter().map(|one| one.brief).collect();
    for (tool, brief) in tools.iter_mut().zip(briefs) {
        let is_shorter = brief.schema != tool.schema || brief.description != tool.description;
        tool.brief = is_shorter.then_some(brief);
    }
}

/// A short form of a tool, with what it costs.
struct Candidate {
    level: u8,
    brief: Brief,
    bytes: usize,
}

impl Candidate {
    fn new(tool: &GeneratedTool, level: u8) -> Self {
        let brief = at_level(tool, level);
        let bytes = brief.bytes(tool);
        Self {
            level,
            brief,
            bytes,
        }
    }
}

impl Brief {
    /// What the tool costs in a list.
    fn bytes(&self, tool: &GeneratedTool) -> usize {
        let whole = json!({
            "name": tool.name,
            "description": self.description,
            "inputSchema": self.schema,
        });
        whole.to_string().len() + SOURCE
    }
}

/// Each level leaves out more.
fn at_level(tool: &GeneratedTool, level: u8) -> Brief {
    let mut schema = tool.schema.clone();
    let kept = match level {
        0..=2 => usize::MAX,
        3 => 6,
        _ => 3,
    };
    let left_out = keep_arguments(&mut schema, kept);
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for (name, property) in properties.into_iter().flatten() {
        if let Value::Object(property) = property {
            shorten(name, property, level);
        }
    }
    let mut description = match level {
        0 => tool.description.clone(),
        _ => first_sentence(&tool.description),
    };
    if left_out > 0 {
        description.push_str(&format!(" {left_out} more arguments: list_page_tools."));
    }
    Brief {
        description,
        schema,
    }
}

/// Keeps the required arguments and the first others, up to a number. Returns how many are left out.
fn keep_arguments(schema: &mut Value, most: usize) -> usize {
    let required = schema.get("required").cloned().unwrap_or_default();
    let is_required = |name: &str| {
        let mut required = required.as_array().into_iter().flatten();
        required.any(|one| one.as_str() == Some(name))
    };
    let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else {
        return 0;
    };
    let before = properties.len();
    let mut room = most;
    let mut kept: Vec<_> = properties
        .keys()
        .filter(|name| is_required(name))
        .cloned()
        .collect();
    room = room.saturating_sub(kept.len());
    let others = properties.keys().filter(|name| !is_required(name));
    kept.extend(others.take(room).cloned());
    properties.retain(|name, _| kept.contains(name));
    before - properties.len()
}

fn shorten(name: &str, property: &mut Map<String, Value>, level: u8) {
    let says_its_name = |about: &str| {
        let letters = |text: &str| {
            text.to_lowercase()
                .replace(|c: char| !c.is_alphanumeric(), "")
        };
        letters(about) == letters(name)
    };
    let about = property.get("description").and_then(Value::as_str);
    if about.is_some_and(says_its_name) || level >= 2 {
        property.remove("description");
    }
    if level >= 1 {
        cut_choices(property, if level == 1 { 160 } else { 60 });
    }
    if level >= 2 {
        for key in [
            "default",
            "pattern",
            "minimum",
            "maximum",
            "minLength",
            "maxLength",
            "uniqueItems",
            "multipleOf",
        ] {
            property.remove(key);
        }
    }
}

/// Replaces a long list of choices by the first ones, in words: others can be given, too.
fn cut_choices(property: &mut Map<String, Value>, most: usize) {
    let in_items = property.get("items").and_then(|items| items.get("enum"));
    let choices = property.get("enum").or(in_items).and_then(Value::as_array);
    let Some(choices) = choices.filter(|choices| json!(choices).to_string().len() > most) else {
        return;
    };
    let mut words = String::new();
    let mut told = 0;
    for choice in choices.iter().filter_map(Value::as_str) {
        if words.len() + choice.len() > most / 2 {
            break;
        }
        words.push_str(choice);
        words.push_str(", ");
        told += 1;
    }
    let words = format!("{words}{} more: list_page_tools", choices.len() - told);
    property.remove("enum");
    property.remove("default");
    if let Some(Value::Object(items)) = property.get_mut("items") {
        items.remove("enum");
    }
    property.insert("description".into(), json!(words));
}

fn first_sentence(text: &str) -> String {
    let end = text.find(". ").map_or(text.len(), |end| end + 1);
    text.get(..end).unwrap_or(text).to_owned()
}

/// What a generated tool may cost in a list on average, in bytes.
pub(crate) const AVERAGE: usize = 250;
/// A page with one or two tools may use this much in all.
const LONE: usize = 500;
/// The note about its source, which is added to its description.
const SOURCE: usize = 54;
const MAX_LEVEL: u8 = 4;

#[cfg(test)]
mod tests {
    use super::super::draft::{Draft, ToolAction};
    use super::*;
    use crate::tab::DocumentId;

    fn tool(name: &str, description: &str, schema: Value) -> GeneratedTool {
        let action = ToolAction::List { items: Vec::new() };
        let (name, description) = (name.to_owned(), description.to_owned());
        let draft = Draft {
            key: (1, "form"),
            name,
            description,
            schema,
            action,
            rank: 1,
        };
        GeneratedTool::new((DocumentId(1), draft))
    }

    fn sizes(tools: &[GeneratedTool]) -> Vec<usize> {
        let size = |tool: &GeneratedTool| {
            let brief = tool.brief.clone().unwrap_or_else(|| at_level(tool, 0));
            brief.bytes(tool)
        };
        tools.iter().map(size).collect()
    }

    #[test]
    fn a_large_form_costs_little_in_a_list() {
        let choices: Vec<_> = (0..60).map(|n| format!("Country {n}")).collect();
        let mut properties =
            json!({"country": {"type": "string", "enum": choices, "description": "Country"}});
        for n in 0..31 {
            properties[format!("field{n}")] = json!({"type": "string", "description": "A field with a long description.", "default": "x"});
        }
        let schema = json!({"type": "object", "properties": properties, "required": ["field7"]});
        let form = tool(
            "save_record",
            "Fill the form \"Record\". Omitted fields stay unchanged.",
            schema,
        );
        let small = || tool("sort", "Sort.", json!({"type": "object", "properties": {}}));
        let mut tools = vec![form, small(), small(), small()];
        fit(&mut tools);
        let sum: usize = sizes(&tools).iter().sum();
        assert!(sum <= AVERAGE * tools.len(), "{:?}", sizes(&tools));
        let brief = tools[0].brief.as_ref().unwrap();
        assert!(
            brief.schema["properties"]["field7"].is_object(),
            "{brief:?}"
        );
        assert!(
            brief
                .description
                .ends_with("more arguments: list_page_tools."),
            "{brief:?}"
        );
        assert_eq!(
            tools[0].schema["properties"].as_object().unwrap().len(),
            32,
            "in full"
        );
    }

    #[test]
    fn choices_are_cut_only_if_there_is_no_room() {
        let few = json!({"type": "object", "properties": {"item": {"type": "string", "enum": ["Newest", "Oldest"]}}});
        let mut tools = vec![tool("sort", "Sort.", few.clone())];
        fit(&mut tools);
        assert_eq!(tools[0].brief, None);
        let many: Vec<_> = (0..60).map(|n| format!("Choice {n}")).collect();
        let many =
            json!({"type": "object", "properties": {"item": {"type": "string", "enum": many}}});
        let mut tools = vec![tool("sort", "Sort.", many)];
        fit(&mut tools);
        let brief = tools[0].brief.as_ref().unwrap();
        assert_eq!(
            brief.schema["properties"]["item"]["description"],
            "Choice 0, Choice 1, Choice 2, Choice 3, Choice 4, Choice 5, Choice 6, Choice 7, 52 more: list_page_tools"
        );
    }
}
