//! What is kept of requests that are not complete yet.

use crate::client::Request;
use crate::server::{Server, read};
use serde_json::json;
use tokio::task::JoinSet;

#[tokio::test]
async fn what_a_token_sends_at_once_has_a_bound_and_others_are_unharmed() {
    let server = Server::start().await;
    let (greedy, modest) = (server.token("greedy"), server.token("modest"));
    let large = 4 << 20;
    let head = Request::post(&greedy, "").head(server.port, large);
    let begun = head + &"x".repeat(large - 1);
    // Five are more than 16 MiB together, so one of them is refused, whichever is read last.
    let mut all = JoinSet::new();
    for _ in 0..5 {
        all.spawn(read(server.begin_with(&begun).await));
    }
    let refused = all.join_next().await.unwrap().unwrap();
    assert_eq!(refused.status, 429, "{}", refused.body);
    assert!(refused.header("retry-after").is_some(), "{refused:?}");
    let call = |token: &str| Request::call_alone(token, "repeat", json!({"text": "hi"}));
    let served = server.send(&call(&modest)).await;
    assert_eq!(served.status, 200, "{}", served.body);
    // What is no longer sent is no longer counted.
    all.shutdown().await;
    let again = tabmux_testkit::patiently(
        async {
            loop {
                let answer = server.send(&call(&greedy)).await;
                if answer.status == 200 {
                    return answer;
                }
            }
        },
        || "the bound to be free again".to_owned(),
    );
    assert!(again.await.body.contains("hi"));
}
