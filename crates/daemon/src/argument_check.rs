//! Checks arguments of a page's tool against the page's own schema, as far as that is little work.

use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::OnceLock;
use tabmux_browser::page_tools::ToolText;
use tabmux_browser::text::one_line;

/// The check that a schema asks for, made when it is first needed.
#[derive(Debug, Default)]
pub(crate) struct ArgumentCheck(OnceLock<Option<jsonschema::Validator>>);

impl ArgumentCheck {
    /// Says, in a sentence, what is wrong. A schema that makes no sense, or too much work, forbids nothing: the
    /// page has the last word.
    pub(crate) fn check(
        &self,
        text: &ToolText,
        arguments: &Map<String, Value>,
    ) -> Result<(), String> {
        let validator = self.0.get_or_init(|| validator(text.read_schema()));
        let Some(validator) = validator else {
            return Ok(());
        };
        match validator.validate(&Value::Object(arguments.clone())) {
            Ok(()) => Ok(()),
            Err(error) => Err(format!(
                "{} (at `{}`)",
                one_line(&error.to_string(), 300),
                one_line(&error.instance_path().to_string(), 100),
            )),
        }
    }
}

fn validator(schema: Map<String, Value>) -> Option<jsonschema::Validator> {
    let schema = Value::Object(schema);
    if work_of(&schema).is_none_or(|work| work > MOST_WORK) {
        return None;
    }
    // A page chooses the patterns, so they must not be able to take for ever.
    let options = jsonschema::options()
        .with_pattern_options(jsonschema::PatternOptions::regex().size_limit(MOST_PATTERN));
    options.build(&schema).ok()
}

/// How many parts of a schema may have to be looked at for one value, each as often as it is referred to: a
/// few lines that refer to each other twice are a life's work. `None` if there is no end to it.
fn work_of(schema: &Value) -> Option<usize> {
    let mut survey = Survey {
        root: schema,
        targets: HashMap::new(),
    };
    survey.part(schema, 0)
}

struct Survey<'a> {
    root: &'a Value,
    /// The work behind what is referred to; none while it is being found out.
    targets: HashMap<&'a str, Option<usize>>,
}

impl<'a> Survey<'a> {
    fn part(&mut self, part: &'a Value, depth: usize) -> Option<usize> {
        if depth > MOST_DEPTH {
            return None;
        }
        match part {
            Value::Object(keywords) => {
                let mut work = 1_usize;
                for (keyword, value) in keywords {
                    let more = match (keyword.as_str(), value) {
                        ("$ref", Value::String(target)) => self.target(target, depth)?,
                        // They mean other parts than a reader of this one can tell.
                        ("$dynamicRef" | "$recursiveRef" | "$anchor" | "$dynamicAnchor", _) => {
                            return None;
                        }
                        ("$id" | "id", Value::String(_)) if depth > 0 => return None,
                        ("pattern", Value::String(_)) => PATTERN,
                        ("patternProperties", Value::Object(patterns)) => {
                            let patterns = patterns.len().saturating_mul(PATTERN);
                            patterns.saturating_add(self.part(value, depth + 1)?)
                        }
                        _ => self.part(value, depth + 1)?,
                    };
                    work = work.saturating_add(more);
                }
                // Everything beside it is looked at once more.
                let twice = ["unevaluatedProperties", "unevaluatedItems"];
                let times = twice.iter().filter(|key| keywords.contains_key(**key));
                Some(times.fold(work, |work, _| work.saturating_mul(2)))
            }
            Value::Array(parts) => {
                let mut work = parts.len();
                for part in parts {
                    work = work.saturating_add(self.part(part, depth + 1)?);
                }
                Some(work)
            }
            _ => Some(0),
        }
    }

    fn target(&mut self, target: &'a str, depth: usize) -> Option<usize> {
        if let Some(known) = self.targets.get(target) {
            return *known;
        }
        self.targets.insert(target, None);
        let pointer = target.strip_prefix('#')?;
        let part = self.root.pointer(pointer)?;
        let work = self.part(part, depth + 1)?;
        self.targets.insert(target, Some(work));
        Some(work)
    }
}

/// As much work is done in less than a millisecond.
const MOST_WORK: usize = 20_000;
/// Deeper ones could use up the stack.
const MOST_DEPTH: usize = 100;
/// A pattern is work already when it is first read.
const PATTERN: usize = 1_000;
/// The longest that a pattern may become.
const MOST_PATTERN: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::sync::mpsc;
    use std::time::Duration;
    use tabmux_browser::page_tools::SaidBy;

    /// Checks in a thread of its own, so that a test which fails does not hang.
    #[track_caller]
    fn check(schema: Value, arguments: Value) -> Result<(), String> {
        let (done, result) = mpsc::channel();
        std::thread::spawn(move || {
            let Value::Object(arguments) = arguments else {
                panic!("they are an object");
            };
            let text = ToolText::prepare("", &schema.to_string(), SaidBy::Page, "http://a.test");
            let _ = done.send(ArgumentCheck::default().check(&text, &arguments));
        });
        let result = result.recv_timeout(Duration::from_secs(20));
        result.expect("an end of the check")
    }

    /// Forty definitions, each of which refers to the next one twice.
    fn bomb(refer: fn(&str) -> Value) -> Value {
        let mut definitions = Map::new();
        for number in 0..40 {
            let next = format!("#/$defs/a{}", number + 1);
            definitions.insert(format!("a{number}"), refer(&next));
        }
        definitions.insert("a40".to_owned(), json!({"type": "object"}));
        json!({"type": "object", "$defs": definitions, "$ref": "#/$defs/a0"})
    }

    #[test]
    fn ordinary_schemas_are_checked() {
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "https://app.example/order",
            "type": "object",
            "properties": {
                "to": {"$ref": "#/$defs/address"}, "from": {"$ref": "#/$defs/address"},
                "code": {"type": "string", "pattern": "^[a-z]+$"}
            },
            "required": ["to"], "unevaluatedProperties": false,
            "$defs": {"address": {"type": "object", "properties": {"town": {"type": "string"}}}}
        });
        let good = json!({"to": {"town": "Ulm"}, "code": "x"});
        assert_eq!(check(schema.clone(), good), Ok(()));
        for bad in [
            json!({}),
            json!({"to": {"town": 7}}),
            json!({"to": {}, "code": "X"}),
            json!({"to": {}, "more": 1}),
        ] {
            assert!(check(schema.clone(), bad.clone()).is_err(), "{bad}");
        }
    }

    #[test]
    fn schemas_that_are_a_lifes_work_are_left_to_the_page() {
        let bombs = [
            bomb(|next| json!({"allOf": [{"$ref": next}, {"$ref": next}]})),
            bomb(|next| json!({"anyOf": [{"$ref": next}, {"not": {"$ref": next}}]})),
            bomb(
                |next| json!({"properties": {"a": {"$ref": next}}, "additionalProperties": {"$ref": next}, "allOf": [{"$ref": next}]}),
            ),
            bomb(|next| json!({"allOf": [{"$ref": next}], "unevaluatedProperties": false})),
        ];
        for schema in bombs {
            assert_eq!(check(schema, json!({"a": {"a": {}}})), Ok(()));
        }
    }

    #[test]
    fn schemas_without_an_end_are_left_to_the_page() {
        let mut long = Map::new();
        for number in 0..2_000 {
            let next = format!("#/$defs/a{}", number + 1);
            long.insert(format!("a{number}"), json!({"$ref": next}));
        }
        long.insert("a2000".to_owned(), json!({}));
        for schema in [
            json!({"$ref": "#"}),
            json!({"allOf": [{"$ref": "#/allOf/0"}]}),
            json!({"properties": {"a": {"$ref": "#"}, "b": {"$ref": "#"}}}),
            json!({"$anchor": "x", "$ref": "#x"}),
            json!({"$ref": "https://elsewhere.example/schema"}),
            json!({"$ref": "#/nowhere"}),
            json!({"$defs": long, "$ref": "#/$defs/a0"}),
        ] {
            assert_eq!(check(schema, json!({"a": {"a": {}}})), Ok(()));
        }
    }

    #[test]
    fn patterns_are_few_and_small() {
        let many = |number: u32| format!("^(\\w{{30}}){number}$");
        let patterns = (0..500).map(|number| (many(number), json!({})));
        let schema = json!({"patternProperties": Map::from_iter(patterns)});
        assert_eq!(check(schema, json!({"a": 1})), Ok(()));
        let large = json!({"properties": {"a": {"pattern": "(\\w{1000}){1000}"}}});
        assert_eq!(check(large, json!({"a": "x"})), Ok(()));
    }
}
