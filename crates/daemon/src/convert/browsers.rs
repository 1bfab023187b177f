//! Calls about browsers, and the `browserIndex` of other calls.

use super::Rejected;
use crate::catalogue;
use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use std::borrow::Cow;
use std::fmt::Write;
use tabmux_browser::tools;
use tabmux_core::{BrowserRow, Mode, Renewed};

#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
#[derive(Default)]
pub(super) struct Reconnect {
    pub(super) force: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Add {
    pub(super) url: String,
    pub(super) name: Option<String>,
}

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

/// `list_browsers`, worded as the specification fixes it.
pub(super) fn list(browsers: &[BrowserRow]) -> String {
    let mut text = format!("Total browsers: {}\n\n", browsers.len());
    for browser in browsers {
        let _ = writeln!(text, "{}", line(browser));
    }
    text.push('\n');
    text.push_str(match browsers {
        [] => "There is no browser. Call add_browser to attach to one.",
        [_] => "Single browser mode: browserIndex parameter must NOT be specified.",
        _ if browsers.iter().any(|browser| browser.is_default) => {
            "Multiple browsers detected. Calls without browserIndex go to the default one."
        }
        _ => {
            "Multiple browsers detected. You MUST specify browserIndex parameter in all tool calls to \
             target a specific browser."
        }
    });
    text
}

/// One browser as one line.
pub(super) fn line(browser: &BrowserRow) -> String {
    let BrowserRow {
        index,
        label,
        state,
        error,
        is_default,
        ..
    } = browser;
    let why = error.as_ref().map(|error| format!(" ({error})"));
    let default = if *is_default { " (default)" } else { "" };
    format!(
        "[{index}] {label} - {state}{}{default}",
        why.unwrap_or_default()
    )
}

/// A note, given once, that a lost browser is connected again.
pub(crate) fn renewal(renewed: Option<Renewed>, mode: Mode) -> Option<String> {
    let (Some(Renewed { number, attached }), Mode::Static) = (renewed, mode) else {
        return None;
    };
    Some(match attached {
        true => format!(
            "Browser {number} was lost and is connected again. Its pages may have new numbers \
             now; list_pages shows them."
        ),
        false => "The browser had ended and was started again. The pages that it had are gone; \
                  open them again with new_page."
            .into(),
    })
}

const INDEX: &str = "browserIndex";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::SessionOptions;
    use tabmux_core::BrowserState;

    fn row(index: usize, state: BrowserState) -> BrowserRow {
        BrowserRow {
            index,
            label: format!("http://127.0.0.1:922{}", index + 1).into(),
            name: None,
            state,
            error: None,
            is_default: false,
        }
    }

    /// Spec: multi-browser 100.
    #[test]
    fn a_browser_that_is_added_has_an_address_and_is_not_launched() {
        let nameless = RawValue::from_string(r#"{"name": "work"}"#.into()).unwrap();
        assert!(tools::parse::<Add>("add_browser", &nameless).is_err());
        let options = SessionOptions::from_wire(Default::default()).unwrap();
        for address in [
            "",
            "chromium",
            "/usr/bin/chromium",
            "file:///usr/bin/chromium",
        ] {
            let error = options.addition(address, None).err().unwrap();
            assert!(error.contains("is not a browser address"), "{error}");
        }
    }

    /// Spec: multi-browser 46.
    #[test]
    fn one_browser_is_worded_as_specified() {
        assert_eq!(
            list(&[row(1, BrowserState::Connected)]),
            "Total browsers: 1\n\n[1] http://127.0.0.1:9222 - connected\n\nSingle browser mode: \
             browserIndex parameter must NOT be specified."
        );
    }

    /// Spec: multi-browser 47, 93.
    #[test]
    fn several_browsers_are_worded_as_specified() {
        assert_eq!(
            list(&[
                row(1, BrowserState::Connected),
                row(2, BrowserState::Pending)
            ]),
            "Total browsers: 2\n\n[1] http://127.0.0.1:9222 - connected\n[2] http://127.0.0.1:9223 - \
             pending\n\nMultiple browsers detected. You MUST specify browserIndex parameter in all tool \
             calls to target a specific browser."
        );
    }

    /// Spec: multi-browser 72, 104.
    #[test]
    fn a_default_is_marked_and_a_loss_is_explained() {
        let lost = BrowserRow {
            error: Some("connection refused".into()),
            is_default: true,
            ..row(2, BrowserState::Disconnected)
        };
        assert_eq!(
            line(&lost),
            "[2] http://127.0.0.1:9223 - disconnected (connection refused) (default)"
        );
    }

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
