//! What `/metrics` says of calls.

use crate::client::Request;
use crate::server::{Server, read};
use serde_json::json;

#[tokio::test]
async fn calls_that_no_session_gets_make_no_label_of_their_tool() {
    let server = Server::start().await;
    let token = server.token("ci");
    for (number, session) in ["not/a/name", "no name"].into_iter().enumerate() {
        let call = Request::call_alone(
            &token,
            &format!("made-up-{number}"),
            json!({"session": session}),
        );
        let call = call.header("Mcp-Param-Session", session);
        let answer = server.send(&call).await;
        assert!(answer.body.contains("isError"), "{}", answer.body);
    }
    let port = server.port;
    let ask = format!(
        "GET /metrics HTTP/1.1\r\nHost: localhost:{port}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
    );
    let metrics = read(server.begin_with(&ask).await).await.body;
    assert!(!metrics.contains("made-up"), "{metrics}");
    let other = r#"tabmux_http_calls_total{tool="other",outcome="refused"} 2"#;
    assert!(metrics.contains(other), "{metrics}");
}
