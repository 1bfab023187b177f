//! What clients and watchers are told while something behind the server does not work.

use crate::client::Request;
use crate::server::{Server, read};
use serde_json::json;

#[tokio::test]
async fn without_a_token_nobody_learns_why_the_server_is_not_ready() {
    let server = Server::start_at(Err("/run/user/7/tabmux/daemon.sock is gone".into())).await;
    let port = server.port;
    let ask =
        format!("GET /readyz HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: close\r\n\r\n");
    let answer = read(server.begin_with(&ask).await).await;
    assert_eq!(answer.status, 503, "{}", answer.body);
    assert!(answer.body.contains("The log of"), "{}", answer.body);
    assert!(!answer.body.contains("/run"), "{}", answer.body);
}

#[tokio::test]
async fn tokens_that_cannot_be_read_now_are_not_said_to_be_wrong() {
    let server = Server::start().await;
    let token = server.token("ci");
    let call = Request::call_alone(&token, "repeat", json!({}));
    assert_eq!(server.send(&call).await.status, 200);
    // Another change of the file, so that it is read again.
    server.token("other");
    server.spoil_tokens();
    let answer = server.send(&call).await;
    assert_eq!(answer.status, 503, "{}", answer.body);
    assert_eq!(answer.header("retry-after"), Some("1"));
}
