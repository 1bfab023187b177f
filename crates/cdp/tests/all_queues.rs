//! All event queues together are limited. In its own test program, because the sum is per process.

#![expect(clippy::unwrap_used, reason = "a helper of tests may fail the test")]

#[expect(dead_code, reason = "others use the rest")]
#[path = "it/fake_browser.rs"]
mod fake_browser;

use fake_browser::{connect, next_child};
use serde_json::json;

#[tokio::test]
async fn all_queues_share_a_limit_and_a_quiet_session_loses_nothing() {
    let text = "x".repeat(4_000_000);
    let mut held = Vec::new();
    let mut count = 0;
    // The first browser's 40 MB leave space for one more.
    let mut is_full = false;
    for _ in 0..4 {
        let (session, mut events, mut browser) = connect();
        for name in ["a", "b", "c", "d", "e"] {
            browser.attach(None, name).await;
            held.push(next_child(&mut events).await);
            for _ in 0..3 {
                let args = json!({"args": [{"value": text}]});
                browser
                    .event(Some(name), "Runtime.consoleAPICalled", args)
                    .await;
            }
        }
        browser.attach(None, "quiet").await;
        let (quiet, mut quiet_events) = next_child(&mut events).await;
        for _ in 0..10 {
            browser
                .event(Some("quiet"), "Runtime.consoleAPICalled", json!({}))
                .await;
        }
        browser.settle(&session).await;
        for _ in 0..10 {
            quiet_events.next().await.unwrap();
        }
        // An event that must not be lost is delivered without its contents, if they are large and the others hold too
        // much.
        let params = json!({"name": "binding", "payload": text});
        browser
            .event(Some("quiet"), "Runtime.bindingCalled", params)
            .await;
        let event = quiet_events.next().await.unwrap();
        assert_eq!(event.method(), "Runtime.bindingCalled");
        assert_eq!(event.too_large().is_some(), is_full);
        is_full = true;
        assert_eq!(quiet_events.dropped(), 0);
        held.push((quiet, quiet_events));
        held.push((session, events));
    }
    for (_, events) in &held {
        count += events.dropped();
    }
    // 12 of these texts are 48 MB.
    assert_eq!(count, 48);
}
