//! `connect_browser`: connects a progressive session to a browser.

use super::format::structured;
use super::{ListedIn, Part, SessionTool};
use crate::convert::{Parsed, Rejected};
use crate::options::SessionOptions;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::borrow::Cow;
use tabmux_core::{CallKind, ConnectFailure, Reply};
use tabmux_protocol::CallReply;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ConnectBrowser {
    launch: Option<bool>,
}

impl SessionTool for ConnectBrowser {
    const NAME: &'static str = "connect_browser";
    const LISTED_IN: ListedIn = ListedIn::Progressive;

    fn description() -> Cow<'static, str> {
        "Establish connection to browser (attach to existing or launch new)".into()
    }

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "launch": {
                    "type": "boolean",
                    "description": "Launch new browser instance if none found",
                    "default": false
                }
            }
        })
    }

    fn parse(self, _: &SessionOptions) -> Result<Parsed, Rejected> {
        let launch = self.launch.unwrap_or(false);
        Ok(CallKind::ConnectBrowser { launch }.into())
    }

    fn reply(reply: Reply, _: Part) -> Option<CallReply> {
        match reply {
            Reply::Connected {
                name,
                version,
                tab_count,
            } => Some(structured(&Connected {
                connected: true,
                browser: About {
                    name: &name,
                    version: &version,
                },
                tab_count,
            })),
            Reply::NotConnected(failure) => Some(not_connected(&failure)),
            _ => None,
        }
    }
}

fn not_connected(failure: &ConnectFailure) -> CallReply {
    let reply = structured(&NotConnected {
        connected: false,
        error: failure.error(),
        instructions: failure.instructions(),
    });
    CallReply {
        is_error: true,
        ..reply
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Connected<'a> {
    connected: bool,
    browser: About<'a>,
    tab_count: usize,
}

#[derive(Serialize)]
struct About<'a> {
    name: &'a str,
    version: &'a str,
}

#[derive(Serialize)]
struct NotConnected<'a> {
    connected: bool,
    error: &'a str,
    instructions: &'a str,
}
