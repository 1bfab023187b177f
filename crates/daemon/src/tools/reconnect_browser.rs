//! `reconnect_browser`: connects a lost browser again.

use super::format::one_browser;
use super::{ListedIn, Part, SessionTool};
use crate::convert::{Parsed, Rejected};
use crate::options::SessionOptions;
use serde::Deserialize;
use serde_json::{Value, json};
use std::borrow::Cow;
use tabmux_core::{CallKind, Reply};
use tabmux_protocol::CallReply;

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ReconnectBrowser {
    force: bool,
}

impl SessionTool for ReconnectBrowser {
    const NAME: &'static str = "reconnect_browser";
    const LISTED_IN: ListedIn = ListedIn::Fixed;

    fn description() -> Cow<'static, str> {
        "Connect a lost browser again.".into()
    }

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "force": {"type": "boolean", "description": "Retry now, ignoring the cooldown"}
            }
        })
    }

    fn parse(self, _: &SessionOptions) -> Result<Parsed, Rejected> {
        let force = self.force;
        Ok(CallKind::ReconnectBrowser { force }.into())
    }

    fn reply(reply: Reply, _: Part) -> Option<CallReply> {
        one_browser(reply)
    }
}
