//! `select_default_browser`: chooses the browser that calls without `browserIndex` go to.

use super::format::one_browser;
use super::{ListedIn, Part, SessionTool, check_mode};
use crate::convert::{Parsed, Rejected};
use crate::options::SessionOptions;
use serde::Deserialize;
use serde_json::{Value, json};
use std::borrow::Cow;
use tabmux_core::{CallKind, Reply};
use tabmux_protocol::CallReply;

/// Its `browserIndex` is taken out of the arguments, as in every call.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SelectDefaultBrowser {}

impl SessionTool for SelectDefaultBrowser {
    const NAME: &'static str = "select_default_browser";
    const LISTED_IN: ListedIn = ListedIn::Fixed;

    fn description() -> Cow<'static, str> {
        "Choose the browser that tools without browserIndex use.".into()
    }

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {"browserIndex": {"type": "integer", "exclusiveMinimum": 0}},
            "required": ["browserIndex"]
        })
    }

    fn check_session(session: &SessionOptions) -> Result<(), Rejected> {
        check_mode(Self::NAME, session)?;
        match session.given.browser.allow_default {
            true => Ok(()),
            false => Err(Rejected::UnknownTool),
        }
    }

    fn parse(self, _: &SessionOptions) -> Result<Parsed, Rejected> {
        Ok(CallKind::SelectDefaultBrowser.into())
    }

    fn reply(reply: Reply, _: Part) -> Option<CallReply> {
        one_browser(reply)
    }
}
