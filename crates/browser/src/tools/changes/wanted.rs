//! The argument `changes: false`, which every action takes and no schema lists: with it, the answer does not tell what
//! changed on the page.

use super::super::{BadArguments, Tool, parse};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

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
            Some(_) => Err(bad("`changes` must be true or false")),
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
