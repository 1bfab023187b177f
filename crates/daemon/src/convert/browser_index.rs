//! The `browserIndex` of calls.

use super::Rejected;
use crate::catalogue;
use indexmap::IndexMap;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use std::borrow::Cow;
use tabmux_browser::tools;

/// Removes `browserIndex` from a call's arguments; the tools themselves have no such argument.
pub(super) fn without_index<'a>(
    tool: &str,
    arguments: &'a RawValue,
) -> Result<(Option<i64>, Cow<'a, RawValue>), Rejected> {
    if !catalogue::takes_index(tool) || !arguments.get().contains(INDEX) {
        return Ok((None, Cow::Borrowed(arguments)));
    }
    let Ok(mut map) = serde_json::from_str::<IndexMap<String, Box<RawValue>>>(arguments.get())
    else {
        return Ok((None, Cow::Borrowed(arguments))); // The tool's own parser reports the error.
    };
    let Some(given) = map.shift_remove(INDEX) else {
        return Ok((None, Cow::Borrowed(arguments)));
    };
    let given: Value = tools::parse("browserIndex", &given)?;
    let Some(number) = whole(&given) else {
        return Err(Rejected::Arguments(
            "browserIndex must be a whole number, from 1. Use list_browsers to see available browser \
             indices."
                .to_owned(),
        ));
    };
    let rest = to_raw_value(&map).map_err(|error| Rejected::Arguments(error.to_string()))?;
    Ok((Some(number), Cow::Owned(rest)))
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "only whole numbers are taken"
)]
fn whole(given: &Value) -> Option<i64> {
    let float = given.as_f64().filter(|number| number.fract() == 0.0);
    given.as_i64().or_else(|| float.map(|number| number as i64))
}

const INDEX: &str = "browserIndex";

#[cfg(test)]
mod tests {
    use super::*;

    /// Spec: multi-browser 38, 79, 101.
    #[test]
    fn the_number_is_taken_out_of_the_arguments_and_must_be_whole() {
        let read = |text: &str| {
            let raw = RawValue::from_string(text.to_owned()).unwrap();
            without_index("click", &raw).map(|(index, rest)| (index, rest.get().to_owned()))
        };
        let fine = |text: &str| read(text).ok().unwrap();
        assert_eq!(
            fine(r#"{"browserIndex": 2, "uid": "1_2"}"#),
            (Some(2), r#"{"uid":"1_2"}"#.into())
        );
        assert_eq!(fine(r#"{"browserIndex": 2.0}"#).0, Some(2));
        assert_eq!(fine(r#"{"text": "browserIndex"}"#).0, None);
        for wrong in [
            r#"{"browserIndex": 1.5}"#,
            r#"{"browserIndex": "1"}"#,
            r#"{"browserIndex": "work"}"#,
            r#"{"browserIndex": null}"#,
        ] {
            assert!(
                matches!(read(wrong), Err(Rejected::Arguments(_))),
                "{wrong}"
            );
        }
    }
}
