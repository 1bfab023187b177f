//! The tool list of a client that does not choose one.

use tabmux_protocol::ClientFacts;
use tabmux_protocol::session::{BrowserChoice, SessionOptions, ToolMode};

/// The mode of a session. `client` is from the handshake; a client without a handshake speaks
/// MCP 2026-07-28, where a call must not change the list.
pub fn choose(options: &SessionOptions, client: Option<&ClientFacts>) -> ToolMode {
    match options.tools {
        ToolMode::Auto => {}
        wanted => return wanted,
    }
    // Flags that name a browser come from a configuration for a server with a fixed list.
    let names_browser = matches!(
        options.browser.choice,
        BrowserChoice::Running | BrowserChoice::Endpoints { .. }
    );
    match client {
        Some(client) if !names_browser && follows_changes(&client.name) => ToolMode::Progressive,
        _ => ToolMode::Static,
    }
}

/// Whether a client is known to offer a changed tool list to its model by the next turn. Many
/// frameworks read the list only once, so an unknown client gets the fixed list.
fn follows_changes(name: &str) -> bool {
    let name = name.to_lowercase();
    FOLLOWERS.iter().any(|follower| name.starts_with(follower))
}

/// `docs/clients.md` has the evidence for each client.
const FOLLOWERS: &[&str] = &["claude-code"];

#[cfg(test)]
mod tests {
    use super::*;
    use tabmux_protocol::session::BrowserOptions;

    fn client(name: &str) -> ClientFacts {
        ClientFacts { name: name.into() }
    }

    /// Spec: decisions 16.
    #[test]
    fn only_a_client_known_to_follow_changes_gets_a_list_that_changes() {
        let options = SessionOptions::default();
        let follower = Some(client("claude-code"));
        assert_eq!(choose(&options, follower.as_ref()), ToolMode::Progressive);
        for name in [
            "gemini-cli-mcp-client",
            "opencode",
            "codex-mcp-client",
            "claude-ai",
            "Visual Studio Code",
            "cursor-vscode",
            "mcp", // the Python SDK, and so LangChain, fastmcp, pydantic-ai and openai-agents
            "langchain",
            "mine",
            "not-claude-code",
            "",
        ] {
            let mode = choose(&options, Some(&client(name)));
            assert_eq!(mode, ToolMode::Static, "{name}");
        }
    }

    /// Spec: decisions 16.
    #[test]
    fn without_a_handshake_or_with_a_named_browser_the_list_is_fixed() {
        let options = SessionOptions::default();
        assert_eq!(choose(&options, None), ToolMode::Static);
        let endpoints = Vec::new();
        for choice in [
            BrowserChoice::Endpoints { endpoints },
            BrowserChoice::Running,
        ] {
            let named = SessionOptions {
                browser: BrowserOptions {
                    choice,
                    ..BrowserOptions::default()
                },
                ..options.clone()
            };
            let mode = choose(&named, Some(&client("claude-code")));
            assert_eq!(mode, ToolMode::Static);
        }
    }

    #[test]
    fn a_client_that_says_which_list_it_wants_gets_that() {
        let tools = ToolMode::Progressive;
        let options = SessionOptions {
            tools,
            ..SessionOptions::default()
        };
        assert_eq!(choose(&options, None), tools);
    }
}
