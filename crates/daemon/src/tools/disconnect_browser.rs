//! `disconnect_browser`: disconnects a browser from a session.

use super::{ListedIn, Part, SessionTool};
use crate::convert::{Parsed, Rejected};
use crate::options::SessionOptions;
use serde::Deserialize;
use serde_json::{Value, json};
use std::borrow::Cow;
use tabmux_core::{CallKind, Reply};
use tabmux_protocol::CallReply;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DisconnectBrowser {}

impl SessionTool for DisconnectBrowser {
    const NAME: &'static str = "disconnect_browser";
    const LISTED_IN: ListedIn = ListedIn::Fixed;

    fn description() -> Cow<'static, str> {
        "Disconnect a browser. An attached one keeps running.".into()
    }

    fn schema() -> Value {
        json!({"type": "object", "properties": {}})
    }

    fn parse(self, _: &SessionOptions) -> Result<Parsed, Rejected> {
        Ok(CallKind::DisconnectBrowser.into())
    }

    fn reply(reply: Reply, _: Part) -> Option<CallReply> {
        let Reply::Disconnected { number } = reply else {
            return None;
        };
        Some(CallReply::text(format!(
            "Disconnected browser {number}. It keeps running, unless tabmux launched it."
        )))
    }
}
