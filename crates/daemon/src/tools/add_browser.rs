//! `add_browser`: adds a running browser to a session.

use super::format::one_browser;
use super::{ListedIn, Part, SessionTool, check_mode};
use crate::convert::{Parsed, Rejected};
use crate::options::SessionOptions;
use serde::Deserialize;
use serde_json::{Value, json};
use std::borrow::Cow;
use tabmux_core::{CallKind, Reply};
use tabmux_protocol::CallReply;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AddBrowser {
    url: String,
    name: Option<String>,
}

impl SessionTool for AddBrowser {
    const NAME: &'static str = "add_browser";
    const LISTED_IN: ListedIn = ListedIn::Fixed;
    const TAKES_INDEX: bool = false;

    fn description() -> Cow<'static, str> {
        "Attach to one more browser.".into()
    }

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "url": {"type": "string", "description": "Such as http://127.0.0.1:9222"},
                "name": {"type": "string"}
            },
            "required": ["url"]
        })
    }

    fn check_session(session: &SessionOptions) -> Result<(), Rejected> {
        check_mode(Self::NAME, session)
    }

    fn parse(self, session: &SessionOptions) -> Result<Parsed, Rejected> {
        let plan = session.addition(&self.url, self.name);
        let plan = plan.map_err(Rejected::Arguments)?;
        let wanted = plan.meant();
        Ok(Parsed {
            plan: Some(plan),
            ..Parsed::from(CallKind::AddBrowser { wanted })
        })
    }

    fn reply(reply: Reply, _: Part) -> Option<CallReply> {
        one_browser(reply)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Spec: multi-browser 100.
    #[test]
    fn a_browser_that_is_added_has_an_address_and_is_not_launched() {
        assert!(serde_json::from_str::<AddBrowser>(r#"{"name": "work"}"#).is_err());
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
}
