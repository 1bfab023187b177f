//! Which tool list a client gets that does not say which it wants.

use tabmux_protocol::ClientFacts;
use tabmux_protocol::session::{SessionOptions, ToolMode};

/// The mode of a session. `client` is what it said in its handshake; one without a handshake speaks
/// MCP 2026-07-28, where a list must not change because of a call.
pub fn choose(options: &SessionOptions, client: Option<&ClientFacts>) -> ToolMode {
    match options.tools {
        ToolMode::Auto => {}
        wanted => return wanted,
    }
    let stays = match client {
        None => true,
        // Whoever names a browser comes from a server whose list stands.
        Some(_) if options.browser.attaches_only || !options.browser.endpoints.is_empty() => true,
        Some(client) => keeps_its_list(&client.name),
    };
    match stays {
        true => ToolMode::Static,
        false => ToolMode::Progressive,
    }
}

/// Whether a client is known to work on with the list that it fetched first, or to use a new one
/// only when its user speaks again.
fn keeps_its_list(name: &str) -> bool {
    let name = name.to_lowercase();
    KEEPERS.iter().any(|keeper| name.contains(keeper))
}

/// `docs/clients.md` says what was seen of each.
const KEEPERS: &[&str] = &[
    "claude-ai", // Claude Desktop and the web
    "codex",
    "copilot",
    "cursor",
    "openai",
    "visual studio code",
];

#[cfg(test)]
mod tests {
    use super::*;
    use tabmux_protocol::session::{BrowserOptions, Endpoint};

    fn client(name: &str) -> ClientFacts {
        ClientFacts { name: name.into() }
    }

    #[test]
    fn c_16_a_client_that_fetches_its_list_again_gets_one_that_follows_the_state() {
        let options = SessionOptions::default();
        for name in ["claude-code", "gemini-cli-mcp-client", "opencode", "mine"] {
            assert_eq!(choose(&options, Some(&client(name))), ToolMode::Progressive);
        }
        for name in [
            "codex-mcp-client",
            "claude-ai",
            "Visual Studio Code",
            "cursor-vscode",
        ] {
            assert_eq!(
                choose(&options, Some(&client(name))),
                ToolMode::Static,
                "{name}"
            );
        }
    }

    #[test]
    fn c_16_without_a_handshake_or_with_a_named_browser_the_list_stands() {
        let options = SessionOptions::default();
        assert_eq!(choose(&options, None), ToolMode::Static);
        let named = SessionOptions {
            browser: BrowserOptions {
                endpoints: vec![Endpoint::default()],
                ..BrowserOptions::default()
            },
            ..options
        };
        assert_eq!(
            choose(&named, Some(&client("claude-code"))),
            ToolMode::Static
        );
    }

    #[test]
    fn whoever_says_which_list_it_wants_gets_that() {
        let tools = ToolMode::Progressive;
        let options = SessionOptions {
            tools,
            ..SessionOptions::default()
        };
        assert_eq!(choose(&options, None), tools);
    }
}
