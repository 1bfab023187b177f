//! What the token of a client over HTTP allows it. The flags of its server hold as well.

use super::{BrowserPlan, patterns};
use crate::catalogue;
use tabmux_browser::{OriginRules, RuledBy};
use tabmux_core::SessionConfig;
use tabmux_protocol::session::TokenLimits;

/// The browsers that the token allows, by their names. Returns a sentence if there is none.
pub(super) fn allowed(
    plans: Vec<BrowserPlan>,
    limits: &TokenLimits,
) -> Result<Vec<BrowserPlan>, String> {
    if limits.browsers.is_empty() {
        return Ok(plans);
    }
    let is_allowed = |plan: &BrowserPlan| {
        plan.name
            .as_ref()
            .is_some_and(|name| limits.browsers.contains(name))
    };
    let allowed: Vec<_> = plans.into_iter().filter(is_allowed).collect();
    match allowed.is_empty() {
        false => Ok(allowed),
        true => Err(format!(
            "The token of this client allows only {}, and this server has no browser of that name. The person who \
             runs it can name one with --browserUrl NAME=ADDRESS",
            names(limits)
        )),
    }
}

/// Refuses browsers that the agent adds: their names are its own choice.
pub(super) fn check_addition(limits: &TokenLimits) -> Result<(), String> {
    match limits.browsers.is_empty() {
        true => Ok(()),
        false => Err(format!(
            "The token of this client allows only {}, so no other browser can be added.",
            names(limits)
        )),
    }
}

/// The origins that the token allows.
pub(super) fn origins(limits: &TokenLimits) -> Result<OriginRules, String> {
    let allowed = patterns("The origins of the token", &limits.origins)?;
    if allowed.is_empty() && !limits.origins.is_empty() {
        return Err("The token of this client names no origin that it allows".to_owned());
    }
    Ok(OriginRules {
        by: RuledBy::Token,
        allowed,
        blocked: Vec::new(),
    })
}

/// Leaves only the tools that the token allows.
pub(super) fn apply(mut config: SessionConfig, limits: &TokenLimits) -> SessionConfig {
    if limits.read_only {
        config.withheld.extend(catalogue::acting());
        config.reading = Some(catalogue::reading());
    }
    // Pages with the page library offer their tools from any browser.
    config.only_own_browsers = !limits.browsers.is_empty();
    config
}

fn names(limits: &TokenLimits) -> String {
    match &limits.browsers[..] {
        [one] => format!("the browser {one}"),
        several => format!("the browsers {}", several.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::SessionOptions;
    use super::*;
    use tabmux_core::ToolName;
    use tabmux_protocol::session::{
        self as wire, BrowserChoice, BrowserOptions, Endpoint, EndpointAddress,
    };

    fn opened(limits: TokenLimits) -> Result<SessionOptions, String> {
        let endpoint = |name: &str| Endpoint {
            name: Some(name.to_owned()),
            address: EndpointAddress::DevTools {
                url: format!("http://127.0.0.1:1/{name}"),
            },
            start_command: None,
            insecure: false,
        };
        SessionOptions::from_wire(wire::SessionOptions {
            browser: BrowserOptions {
                choice: BrowserChoice::Endpoints {
                    endpoints: ["work", "play"].map(endpoint).to_vec(),
                },
                ..BrowserOptions::default()
            },
            allowed_origins: vec!["https://*.example.com".into()],
            tools: wire::ToolMode::Static,
            limits,
            ..wire::SessionOptions::default()
        })
    }

    #[test]
    fn a_token_for_some_browsers_has_those_and_can_add_no_other() {
        let all = opened(TokenLimits::default()).unwrap();
        assert_eq!(all.browsers.len(), 2);
        let of = |name: &str| TokenLimits {
            browsers: vec![name.to_owned()],
            ..TokenLimits::default()
        };
        let some = opened(of("play")).unwrap();
        let names: Vec<_> = some
            .browsers
            .iter()
            .map(|plan| plan.name.as_deref())
            .collect();
        assert_eq!(names, [Some("play")]);
        assert!(some.config().only_own_browsers && !all.config().only_own_browsers);
        for name in [None, Some("play".to_owned())] {
            let added = some.addition("http://127.0.0.1:9222", name);
            let why = added.unwrap_err();
            assert!(why.contains("only the browser play"), "{why}");
        }
        let why = opened(of("other")).unwrap_err();
        assert!(why.contains("no browser of that name"), "{why}");
    }

    #[test]
    fn a_token_for_some_origins_allows_those_that_the_flags_allow_too() {
        let some = opened(TokenLimits {
            origins: vec!["https://a.example.com".into(), "https://other.com".into()],
            ..TokenLimits::default()
        });
        let origins = some.unwrap().origins;
        let is_allowed = |url: &str| origins.check(url).is_ok();
        assert!(is_allowed("https://a.example.com/x"));
        assert!(!is_allowed("https://b.example.com/"), "not the token's");
        assert!(!is_allowed("https://other.com/"), "not the flags'");
        let why = origins
            .check("https://b.example.com/")
            .unwrap_err()
            .to_string();
        assert!(why.contains("the token of this client allows"), "{why}");
    }

    #[test]
    fn a_token_that_only_reads_has_no_tool_that_acts() {
        let config = |read_only| {
            let limits = TokenLimits {
                read_only,
                ..TokenLimits::default()
            };
            opened(limits).unwrap().config()
        };
        assert_eq!(config(false).reading, None);
        let config = config(true);
        let reading = config.reading.unwrap();
        for (tool, reads) in [
            ("take_snapshot", true),
            ("list_pages", true),
            ("click", false),
        ] {
            let tool = ToolName::new(tool);
            assert_eq!(reading.contains(&tool), reads, "{tool}");
            assert_eq!(config.withheld.contains(&tool), !reads, "{tool}");
        }
    }
}
