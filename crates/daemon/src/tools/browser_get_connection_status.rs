//! `browser_get_connection_status`: tells how a session is connected.

use super::format::structured;
use super::{ListedIn, SessionTool};
use crate::convert::{Parsed, Rejected};
use crate::options::SessionOptions;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::borrow::Cow;
use tabmux_core::{BrowserRow, CallKind};
use tabmux_protocol::CallReply;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BrowserGetConnectionStatus {}

impl SessionTool for BrowserGetConnectionStatus {
    const NAME: &'static str = "browser_get_connection_status";
    const LISTED_IN: ListedIn = ListedIn::Fixed;
    const READS: bool = true;
    const TAKES_INDEX: bool = false;

    fn description() -> Cow<'static, str> {
        "Tell whether a browser is connected.".into()
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
            },
            "required": ["index", "name", "state"],
        });
        Some(json!({
            "type": "object",
            "properties": {
                "connected": {"type": "boolean"},
                "mode": {"enum": ["daemon", "direct"]},
                "sessionId": {"type": "string"},
                "extensionConnected": {"type": "boolean"},
                "activeSessions": {"type": "integer"},
                "browsers": {"type": "array", "items": browser},
            },
            "required": ["connected", "mode", "sessionId", "extensionConnected", "activeSessions", "browsers"],
        }))
    }

    fn parse(self, _: &SessionOptions) -> Result<Parsed, Rejected> {
        Ok(CallKind::ConnectionStatus.into())
    }
}

/// The same for every session.
pub(crate) fn reply(
    connected: bool,
    session: &str,
    shared: bool,
    extension_connected: bool,
    active_sessions: usize,
    browsers: &[BrowserRow],
) -> CallReply {
    let browsers = browsers.iter().map(|browser| Browser {
        index: browser.index,
        name: browser.name.as_deref().unwrap_or(&browser.label),
        state: browser.state.as_str(),
    });
    structured(&Status {
        connected,
        mode: if shared { "daemon" } else { "direct" },
        session_id: session,
        extension_connected,
        active_sessions,
        browsers: browsers.collect(),
    })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Status<'a> {
    connected: bool,
    mode: &'static str,
    session_id: &'a str,
    extension_connected: bool,
    active_sessions: usize,
    browsers: Vec<Browser<'a>>,
}

#[derive(Serialize)]
struct Browser<'a> {
    index: usize,
    name: &'a str,
    state: &'a str,
}
