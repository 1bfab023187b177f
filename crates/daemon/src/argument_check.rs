//! Checks the arguments of a page tool against the page's own schema, unless that would take too long.

use serde_json::{Map, Value};
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tabmux_browser::page_tools::ToolText;
use tabmux_text::one_line;

/// The check for one schema. It is compiled on first use and cached for a while.
#[derive(Debug)]
pub(crate) struct ArgumentCheck {
    /// The cache key.
    number: u64,
}

/// The cache of compiled checks, limited in bytes: a page chooses the patterns in its schemas, and each one is
/// compiled to a program.
#[derive(Debug)]
struct Kept(VecDeque<(u64, Arc<Made>)>);

/// A compiled check; `None` if the schema forbids nothing.
#[derive(Debug)]
struct Made {
    validator: Option<jsonschema::Validator>,
    /// An upper bound of its memory use.
    bytes: usize,
}

impl Default for ArgumentCheck {
    fn default() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        Self {
            number: COUNT.fetch_add(1, Ordering::Relaxed),
        }
    }
}

impl Kept {
    fn get(&mut self, number: u64) -> Option<Arc<Made>> {
        let place = self.0.iter().position(|(known, _)| *known == number)?;
        let found = self.0.remove(place)?;
        let made = Arc::clone(&found.1);
        self.0.push_back(found);
        Some(made)
    }

    /// Adds a check, and evicts the least recently used ones.
    fn put(&mut self, number: u64, made: Arc<Made>) {
        self.0.retain(|(known, _)| *known != number);
        self.0.push_back((number, made));
        while self.bytes() > MOST_KEPT {
            self.0.pop_front();
        }
    }

    fn bytes(&self) -> usize {
        self.0.iter().map(|(_, made)| made.bytes).sum()
    }
}

impl ArgumentCheck {
    /// Returns a sentence that says what is wrong. A schema that is invalid or too expensive is not checked: the page
    /// checks the arguments itself.
    pub(crate) fn check(&self, text: &ToolText, arguments: &Value) -> Result<(), String> {
        let made = self.made(text);
        let Some(validator) = &made.validator else {
            return Ok(());
        };
        match validator.validate(arguments) {
            Ok(()) => Ok(()),
            Err(error) => Err(format!(
                "{} (at `{}`)",
                one_line(&error.to_string(), 300),
                one_line(&error.instance_path().to_string(), 100),
            )),
        }
    }
}

impl ArgumentCheck {
    fn made(&self, text: &ToolText) -> Arc<Made> {
        let kept = || KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = kept().get(self.number) {
            return made;
        }
        let made = Arc::new(make(text.read_schema()));
        kept().put(self.number, Arc::clone(&made));
        made
    }
}

fn make(schema: Map<String, Value>) -> Made {
    let schema = Value::Object(schema);
    let (work, patterns) = work_of(&schema);
    let bytes = CHECK_BYTES + 2 * MOST_PATTERN * patterns;
    if work.is_none_or(|work| work > MOST_WORK) || bytes > MOST_KEPT {
        return Made {
            validator: None,
            bytes: NO_CHECK_BYTES,
        };
    }
    // The page chooses the patterns, so matching must take linear time.
    let patterns = jsonschema::PatternOptions::regex()
        .size_limit(MOST_PATTERN)
        .dfa_size_limit(MOST_PATTERN);
    let options = jsonschema::options().with_pattern_options(patterns);
    Made {
        validator: options.build(&schema).ok(),
        bytes,
    }
}

/// Counts the parts of a schema that one value may have to be checked against. A part counts each time it is
/// referenced, because a few definitions that reference each other twice cost exponential time. `None` if there is no
/// limit. Also counts the patterns.
fn work_of(schema: &Value) -> (Option<usize>, usize) {
    let mut survey = Survey {
        root: schema,
        targets: HashMap::new(),
        patterns: 0,
    };
    let work = survey.part(schema, 0);
    (work, survey.patterns)
}

struct Survey<'a> {
    root: &'a Value,
    /// The cost of each referenced part; `None` while it is being computed (a cycle).
    targets: HashMap<&'a str, Option<usize>>,
    patterns: usize,
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
                        // These may refer to parts that cannot be determined from here.
                        ("$dynamicRef" | "$recursiveRef" | "$anchor" | "$dynamicAnchor", _) => {
                            return None;
                        }
                        ("$id" | "id", Value::String(_)) if depth > 0 => return None,
                        ("pattern", Value::String(_)) => {
                            self.patterns += 1;
                            PATTERN
                        }
                        ("patternProperties", Value::Object(patterns)) => {
                            self.patterns += patterns.len();
                            let patterns = patterns.len().saturating_mul(PATTERN);
                            patterns.saturating_add(self.part(value, depth + 1)?)
                        }
                        _ => self.part(value, depth + 1)?,
                    };
                    work = work.saturating_add(more);
                }
                // These keywords check the sibling keywords a second time.
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

/// This much work takes less than a millisecond.
const MOST_WORK: usize = 20_000;
/// A deeper schema could overflow the stack.
const MOST_DEPTH: usize = 100;
/// A pattern costs time as soon as it is compiled.
const PATTERN: usize = 1_000;
/// Limits both the compiled size of a pattern and the memory used while matching.
const MOST_PATTERN: usize = 256 * 1_024;
/// The memory of a check without its patterns: a schema has at most 64 kB.
const CHECK_BYTES: usize = 256 * 1_024;
const NO_CHECK_BYTES: usize = 1_024;
/// The memory limit of the cache.
const MOST_KEPT: usize = 16 * 1_024 * 1_024;

static KEPT: Mutex<Kept> = Mutex::new(Kept(VecDeque::new()));

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::sync::mpsc;
    use std::time::Duration;
    use tabmux_browser::page_tools::SaidBy;

    /// Checks in a separate thread, so that a failing test does not hang.
    #[track_caller]
    fn check(schema: Value, arguments: Value) -> Result<(), String> {
        let (done, result) = mpsc::channel();
        std::thread::spawn(move || {
            let text = ToolText::prepare("", &schema.to_string(), SaidBy::Page, "http://a.test");
            let _ = done.send(ArgumentCheck::default().check(&text, &arguments));
        });
        let result = result.recv_timeout(Duration::from_secs(20));
        result.expect("an end of the check")
    }

    /// Forty definitions, each of which references the next one twice.
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
    fn expensive_schemas_are_not_checked() {
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
    fn endless_schemas_are_not_checked() {
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

    #[test]
    fn checks_that_are_kept_have_a_bound_in_all() {
        let patterns = |count: usize| {
            let pattern = |number| (format!("p{number}"), json!({"pattern": "^[a-z]+$"}));
            let properties = (0..count).map(pattern);
            json!({"type": "object", "properties": Map::from_iter(properties)})
        };
        let made = |schema: &Value| {
            let text = ToolText::prepare("", &schema.to_string(), SaidBy::Page, "http://a.test");
            Arc::new(make(text.read_schema()))
        };
        let mut kept = Kept(VecDeque::new());
        let large = made(&patterns(15));
        assert!(large.validator.is_some());
        for number in 0..10 {
            kept.put(number, Arc::clone(&large));
            assert!(kept.bytes() <= MOST_KEPT);
        }
        assert_eq!(kept.0.len(), MOST_KEPT / large.bytes);
        // The most recently used one is kept, even if it was added first.
        kept.0.clear();
        let small = made(&patterns(0));
        for number in 0..100 {
            kept.put(number, Arc::clone(&small));
            assert!(kept.get(0).is_some());
        }
        assert!(kept.get(1).is_none() && kept.get(99).is_some());
    }
}
