//! `list_browsers`: lists the browsers of a session.

use super::format::{browser_line, with_data};
use super::{ListedIn, Part, SessionTool};
use crate::convert::{Parsed, Rejected};
use crate::options::SessionOptions;
use serde::Deserialize;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::fmt::Write;
use tabmux_core::{BrowserRow, CallKind, Reply};
use tabmux_protocol::CallReply;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ListBrowsers {}

impl SessionTool for ListBrowsers {
    const NAME: &'static str = "list_browsers";
    const LISTED_IN: ListedIn = ListedIn::Fixed;
    const READS: bool = true;
    const TAKES_INDEX: bool = false;

    fn description() -> Cow<'static, str> {
        "List all browsers with their index and status.".into()
    }

    fn schema() -> Value {
        json!({"type": "object", "properties": {}})
    }

    fn output_schema() -> Option<Value> {
        let browser = json!({
            "type": "object",
            "properties": {
                "index": {"type": "integer"},
                "name": {"type": "string"},
                "state": {"type": "string"},
                "error": {"type": "string"},
                "isDefault": {"type": "boolean"},
            },
            "required": ["index", "name", "state", "isDefault"],
        });
        Some(json!({
            "type": "object",
            "properties": {"browsers": {"type": "array", "items": browser}},
            "required": ["browsers"],
        }))
    }

    fn parse(self, _: &SessionOptions) -> Result<Parsed, Rejected> {
        Ok(CallKind::ListBrowsers.into())
    }

    fn reply(reply: Reply, _: Part) -> Option<CallReply> {
        match reply {
            Reply::Browsers { browsers } => Some(with_data(list(&browsers), &data(&browsers))),
            _ => None,
        }
    }
}

fn data(browsers: &[BrowserRow]) -> Value {
    let row = |browser: &BrowserRow| {
        let mut row = json!({
            "index": browser.index,
            "name": &*browser.label,
            "state": browser.state.as_str(),
            "isDefault": browser.is_default,
        });
        if let Some(error) = &browser.error {
            row["error"] = (**error).into();
        }
        row
    };
    let rows: Vec<_> = browsers.iter().map(row).collect();
    json!({ "browsers": rows })
}

/// Worded as the specification fixes it.
fn list(browsers: &[BrowserRow]) -> String {
    let mut text = format!("Total browsers: {}\n\n", browsers.len());
    for browser in browsers {
        let _ = writeln!(text, "{}", browser_line(browser));
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

#[cfg(test)]
mod tests {
    use super::*;
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
            browser_line(&lost),
            "[2] http://127.0.0.1:9223 - disconnected (connection refused) (default)"
        );
    }
}
