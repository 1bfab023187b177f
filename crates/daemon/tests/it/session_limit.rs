//! More sessions than the limit.

use crate::page_harness::{Daemon, request, text};
use serde_json::json;
use tabmux_protocol::Backend;
use tabmux_protocol::session::ToolMode;

#[tokio::test]
async fn a_session_too_many_has_a_list_and_every_call_says_why_it_is_refused() {
    let daemon = Daemon::start().await;
    let mut sessions = Vec::new();
    for _ in 0..MOST_SESSIONS {
        sessions.push(daemon.session(ToolMode::Progressive).await);
    }
    for (mode, tool) in [
        (ToolMode::Progressive, "connect_browser"),
        (ToolMode::Static, "list_pages"),
    ] {
        let refused = daemon.session(mode).await;
        let tools = refused.tools().await.unwrap();
        assert!(tools.iter().any(|info| info.name == tool), "{mode:?}");
        for tool in [tool, "browser_get_connection_status"] {
            let reply = refused.call(request(tool, &json!({}))).await.unwrap();
            assert!(reply.is_error);
            assert_eq!(
                text(&reply),
                "There are already 100 sessions. End one of them, then start this one again."
            );
        }
    }
    // Other sessions are not affected.
    let status = request("browser_get_connection_status", &json!({}));
    assert!(!sessions[0].call(status).await.unwrap().is_error);
    // After one ends, a new one is accepted.
    sessions.pop();
    let next = daemon.session(ToolMode::Progressive).await;
    let status = request("browser_get_connection_status", &json!({}));
    assert!(!next.call(status).await.unwrap().is_error);
}

const MOST_SESSIONS: usize = 100;
