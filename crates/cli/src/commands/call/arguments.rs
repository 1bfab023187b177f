//! Converts flags to the JSON arguments of a tool, by its schema.

use crate::commands::schema_text::{self, Argument, choices, types};
use serde_json::{Map, Value};

/// One flag for the tool, as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Given {
    /// Without the hyphens in front.
    pub(super) name: String,
    pub(super) value: Option<String>,
}

/// The arguments that a tool takes.
#[derive(Debug)]
pub(super) struct Takes<'a> {
    tool: &'a str,
    arguments: Vec<Argument<'a>>,
}

/// The kind of a flag for a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flag {
    /// Without a value it means true.
    Switch,
    /// It needs a value.
    Valued,
}

impl<'a> Takes<'a> {
    pub(super) fn new(tool: &'a str, schema: &'a Map<String, Value>) -> Self {
        let arguments = schema_text::arguments(schema);
        Self { tool, arguments }
    }

    /// The kind of the flag of that name, if the tool has such an argument.
    pub(super) fn flag(&self, written: &str) -> Option<Flag> {
        let (argument, negated) = self.find(written)?;
        Some(match negated || is_switch(argument) {
            true => Flag::Switch,
            false => Flag::Valued,
        })
    }

    /// The arguments that the flags mean. The error is a sentence.
    pub(super) fn read(&self, given: &[Given]) -> Result<Map<String, Value>, String> {
        let mut read = Map::new();
        for flag in given {
            let written = &flag.name;
            let (argument, negated) = self.find(written).ok_or_else(|| self.unknown(written))?;
            let value = match (&flag.value, is_switch(argument)) {
                (None, true) => Value::Bool(!negated),
                (Some(_), _) if negated => return Err(format!("--{written} takes no value")),
                (None, false) => {
                    let meaning = schema_text::meaning(&argument.schema, "");
                    return Err(format!("--{written} needs a value. {meaning}")
                        .trim_end()
                        .to_owned());
                }
                (Some(text), _) => read_value(&argument.schema, text)
                    .map_err(|why| format!("--{written} {why}"))?,
            };
            put(&mut read, argument, value)?;
        }
        Ok(read)
    }

    /// Fails with a sentence if a required argument is missing.
    pub(super) fn check(&self, read: &Map<String, Value>) -> Result<(), String> {
        let missing =
            |argument: &&Argument<'_>| argument.is_required && !read.contains_key(argument.name);
        let missing: Vec<_> = self.arguments.iter().filter(missing).collect();
        let names: Vec<_> = missing
            .iter()
            .map(|argument| format!("--{}", argument.name))
            .collect();
        match missing.as_slice() {
            [] if self.lacks_target(read) => {
                let tool = self.tool;
                Err(format!("{tool} needs --uid, or --role, --name and --near."))
            }
            [] => Ok(()),
            [one] => {
                let meaning = schema_text::meaning(&one.schema, "");
                let tool = self.tool;
                Err(format!("{tool} needs --{}. {meaning}", one.name)
                    .trim_end()
                    .to_owned())
            }
            _ => Err(format!("{} needs {}.", self.tool, and(&names, "and"))),
        }
    }

    /// Whether nothing says which element is meant, though it can be named in two ways.
    fn lacks_target(&self, read: &Map<String, Value>) -> bool {
        let takes = |name: &str| self.arguments.iter().any(|argument| argument.name == name);
        let ways = ["uid", "role", "name"];
        ways.into_iter().all(takes) && !ways.iter().any(|name| read.contains_key(*name))
    }

    fn unknown(&self, written: &str) -> String {
        let names: Vec<_> = self
            .arguments
            .iter()
            .map(|argument| format!("--{}", argument.name))
            .collect();
        let takes = match names.as_slice() {
            [] => "It takes no arguments.".to_owned(),
            names => format!("It takes {}.", names.join(", ")),
        };
        format!("{} has no argument --{written}. {takes}", self.tool)
    }

    /// The argument of that flag, and whether the flag negates it.
    fn find(&self, written: &str) -> Option<(&Argument<'a>, bool)> {
        let plain = plain(written);
        let by_name = |name: &str| {
            self.arguments
                .iter()
                .find(|argument| self::plain(argument.name) == name)
        };
        if let Some(argument) = by_name(&plain) {
            return Some((argument, false));
        }
        // Other servers use the name `pageId`, so every tool here accepts it.
        if plain == "pageid" {
            return by_name("tabid").map(|argument| (argument, false));
        }
        let negated = plain.strip_prefix("no").and_then(by_name)?;
        is_switch(negated).then_some((negated, true))
    }
}

/// `--dblClick`, `--dbl-click` and `--dblclick` are the same.
fn plain(name: &str) -> String {
    let letters = name.chars().filter(|letter| !matches!(letter, '-' | '_'));
    letters.flat_map(char::to_lowercase).collect()
}

fn is_switch(argument: &Argument<'_>) -> bool {
    types(&argument.schema) == ["boolean"]
}

/// Adds a value. A repeated flag extends a list; other arguments take one value.
fn put(read: &mut Map<String, Value>, argument: &Argument<'_>, value: Value) -> Result<(), String> {
    match (read.get_mut(argument.name), value) {
        (None, value) => drop(read.insert(argument.name.to_owned(), value)),
        (Some(Value::Array(list)), Value::Array(more)) => list.extend(more),
        (Some(_), _) => {
            return Err(format!(
                "--{} is given twice, but takes one value",
                argument.name
            ));
        }
    }
    Ok(())
}

fn read_value(schema: &Map<String, Value>, text: &str) -> Result<Value, String> {
    if let Some(choices) = choices(schema) {
        return match choices.contains(&text) {
            true => Ok(text.into()),
            false => Err(format!("takes {}, not `{text}`", and(&choices, "or"))),
        };
    }
    let json = || serde_json::from_str::<Value>(text).ok();
    let fits = |value: &Value, kind: &str| match kind {
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        _ => false,
    };
    match types(schema).as_slice() {
        ["string"] => Ok(text.into()),
        ["array"] => list(schema, text),
        [kind] => json().filter(|value| fits(value, kind)).ok_or_else(|| {
            let what = match *kind {
                "boolean" => "true or false",
                "integer" => "a whole number",
                "number" => "a number",
                _ => "a JSON object, such as '{\"name\": \"value\"}'",
            };
            format!("takes {what}, not `{text}`")
        }),
        [] => Ok(json().unwrap_or_else(|| text.into())),
        several => {
            let value = json().filter(|value| several.iter().any(|kind| fits(value, kind)));
            match (value, several.contains(&"string")) {
                (Some(value), _) => Ok(value),
                (None, true) => Ok(text.into()),
                (None, false) => Err(format!(
                    "takes JSON of type {}, not `{text}`",
                    and(several, "or")
                )),
            }
        }
    }
}

/// A list, written as JSON or as one of its items.
fn list(schema: &Map<String, Value>, text: &str) -> Result<Value, String> {
    if text.trim_start().starts_with('[')
        && let Ok(Value::Array(items)) = serde_json::from_str(text)
    {
        return Ok(Value::Array(items));
    }
    let empty = Map::new();
    let items = schema
        .get("items")
        .and_then(Value::as_object)
        .unwrap_or(&empty);
    read_value(items, text).map(|item| Value::Array(vec![item]))
}

/// "a, b and c".
fn and(words: &[impl AsRef<str>], last: &str) -> String {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    match words.as_slice() {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [rest @ .., end] => format!("{} {last} {end}", rest.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schema() -> Map<String, Value> {
        let schema = json!({"type": "object", "required": ["uid"], "properties": {
            "uid": {"type": "string", "description": "The element."},
            "dblClick": {"type": "boolean"},
            "depth": {"type": "integer"},
            "rate": {"type": "number"},
            "format": {"type": "string", "enum": ["png", "jpeg", "webp"]},
            "filePaths": {"type": "array", "items": {"type": "string"}},
            "elements": {"type": "array", "items": {"type": "object"}},
            "arguments": {"type": "object"},
            "either": {"type": ["string", "number"]},
            "any": {},
            "tabId": {"type": "number"},
        }});
        schema.as_object().unwrap().clone()
    }

    fn read(flags: &[(&str, Option<&str>)]) -> Result<Value, String> {
        let given: Vec<_> = flags
            .iter()
            .map(|(name, value)| Given {
                name: (*name).to_owned(),
                value: value.map(str::to_owned),
            })
            .collect();
        let schema = schema();
        Takes::new("click", &schema).read(&given).map(Value::Object)
    }

    #[test]
    fn values_have_the_types_of_the_schema() {
        for (name, text, value) in [
            ("uid", "2_3", json!({"uid": "2_3"})),
            ("uid", "7", json!({"uid": "7"})),
            ("depth", "3", json!({"depth": 3})),
            ("rate", "-1.5", json!({"rate": -1.5})),
            ("dblClick", "false", json!({"dblClick": false})),
            ("format", "webp", json!({"format": "webp"})),
            ("filePaths", "a.txt", json!({"filePaths": ["a.txt"]})),
            (
                "filePaths",
                r#"["a", "b"]"#,
                json!({"filePaths": ["a", "b"]}),
            ),
            (
                "filePaths",
                "[draft].txt",
                json!({"filePaths": ["[draft].txt"]}),
            ),
            (
                "elements",
                r#"{"uid": "1"}"#,
                json!({"elements": [{"uid": "1"}]}),
            ),
            ("arguments", r#"{"a": 1}"#, json!({"arguments": {"a": 1}})),
            ("either", "4", json!({"either": 4})),
            ("either", "four", json!({"either": "four"})),
            ("any", "[1]", json!({"any": [1]})),
            ("any", "one", json!({"any": "one"})),
        ] {
            assert_eq!(read(&[(name, Some(text))]), Ok(value), "--{name} {text}");
        }
    }

    #[test]
    fn flags_are_understood_in_every_spelling() {
        for name in ["dblClick", "dbl-click", "dblclick"] {
            assert_eq!(
                read(&[(name, None)]),
                Ok(json!({"dblClick": true})),
                "{name}"
            );
        }
        for name in ["no-dblClick", "noDblClick"] {
            assert_eq!(
                read(&[(name, None)]),
                Ok(json!({"dblClick": false})),
                "{name}"
            );
        }
        assert_eq!(read(&[("pageId", Some("2"))]), Ok(json!({"tabId": 2})));
    }

    #[test]
    fn a_list_is_written_by_repeating_its_flag() {
        let twice = read(&[("filePaths", Some("a")), ("file-paths", Some("b"))]);
        assert_eq!(twice, Ok(json!({"filePaths": ["a", "b"]})));
    }

    #[test]
    fn invalid_values_are_explained_in_a_sentence() {
        for (flag, why) in [
            (
                ("depth", Some("x")),
                "--depth takes a whole number, not `x`",
            ),
            (
                ("depth", Some("1.5")),
                "--depth takes a whole number, not `1.5`",
            ),
            (("rate", Some("fast")), "--rate takes a number, not `fast`"),
            (
                ("dblClick", Some("yes")),
                "--dblClick takes true or false, not `yes`",
            ),
            (
                ("no-dblClick", Some("true")),
                "--no-dblClick takes no value",
            ),
            (
                ("format", Some("gif")),
                "--format takes png, jpeg or webp, not `gif`",
            ),
            (("uid", None), "--uid needs a value. The element."),
            (
                ("arguments", Some("a=1")),
                "--arguments takes a JSON object, such as '{\"name\": \"value\"}', not `a=1`",
            ),
        ] {
            assert_eq!(read(&[flag]), Err(why.to_owned()));
        }
        let twice = read(&[("uid", Some("1")), ("uid", Some("2"))]);
        assert_eq!(
            twice,
            Err("--uid is given twice, but takes one value".to_owned())
        );
    }

    #[test]
    fn an_unknown_flag_lists_the_known_ones() {
        let why = read(&[("uuid", Some("1"))]).unwrap_err();
        assert!(
            why.starts_with("click has no argument --uuid. It takes --uid, --dblClick, "),
            "{why}"
        );
    }

    #[test]
    fn a_missing_argument_is_named() {
        let schema = schema();
        let takes = Takes::new("click", &schema);
        let why = takes.check(&Map::new()).unwrap_err();
        assert_eq!(why, "click needs --uid. The element.");
    }
}
