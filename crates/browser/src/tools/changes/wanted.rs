//! The argument `changes: false`, which every action takes and no schema lists: with it, the answer does not tell what
//! changed on the page.

use super::super::{BadArguments, Tool, parse};
use crate::error::ToolError;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Whether a call wants to be told, and its other arguments if it says so.
#[derive(Debug, Default)]
pub(in crate::tools) struct Wanted(Option<(bool, Box<RawValue>)>);

impl Wanted {
    pub(in crate::tools) fn read<T: Tool>(arguments: &RawValue) -> Result<Self, BadArguments> {
        if !T::TELLS_CHANGES || !arguments.get().contains("\"changes\"") {
            return Ok(Self::default());
        }
        let mut all: Map<String, Value> = parse(T::NAME, arguments)?;
        let bad = |detail: &str| BadArguments {
            tool: T::NAME,
            detail: detail.to_owned(),
        };
        match all.remove("changes") {
            None => Ok(Self::default()),
            Some(Value::Bool(wanted)) => {
                let rest = to_raw_value(&all).map_err(|error| bad(&error.to_string()))?;
                Ok(Self(Some((wanted, rest))))
            }
            Some(_) => Err(bad(NOT_BOOLEAN)),
        }
    }

    /// The arguments of the tool itself.
    pub(in crate::tools) fn arguments<'a>(&'a self, all: &'a RawValue) -> &'a RawValue {
        self.0.as_ref().map_or(all, |(_, rest)| rest)
    }

    pub(in crate::tools) fn changes(&self) -> bool {
        self.0.as_ref().is_none_or(|(wanted, _)| *wanted)
    }
}

/// The same for a generated tool with this schema, unless it has an argument of that name itself.
pub(crate) fn of_generated<'a>(
    arguments: &'a Map<String, Value>,
    schema: &str,
) -> Result<(bool, Cow<'a, Map<String, Value>>), ToolError> {
    let is_own = || {
        let schema: Value = serde_json::from_str(schema).unwrap_or_default();
        schema.pointer("/properties/changes").is_some()
    };
    let wanted = match arguments.get("changes") {
        Some(given) if !is_own() => given,
        _ => return Ok((true, Cow::Borrowed(arguments))),
    };
    let Some(wanted) = wanted.as_bool() else {
        return Err(ToolError::Arguments(format!("{NOT_BOOLEAN}.")));
    };
    let mut rest = arguments.clone();
    rest.remove("changes");
    Ok((wanted, Cow::Owned(rest)))
}

const NOT_BOOLEAN: &str = "`changes` must be true or false";

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_argument_of_the_tool_itself_is_passed_on() {
        let arguments = json!({"changes": false, "name": "Ada"});
        let arguments = arguments.as_object().unwrap();
        let read = |schema: Value| of_generated(arguments, &schema.to_string()).unwrap();
        let own = read(json!({"properties": {"changes": {"type": "boolean"}}}));
        assert_eq!(own, (true, Cow::Borrowed(arguments)));
        let (wanted, rest) = read(json!({"properties": {"name": {}}}));
        assert!(!wanted);
        assert_eq!(json!(rest), json!({"name": "Ada"}));
        let wrong = json!({"changes": "no"});
        let refused = of_generated(wrong.as_object().unwrap(), "{}").unwrap_err();
        assert_eq!(refused.to_string(), "`changes` must be true or false.");
    }
}
